package tui

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/dashboard"
	"agentctl/tui/sessionlist"
)

// memoryStore is a ReadStore in memory.
type memoryStore struct {
	read  sessionlist.Read
	saves int
	err   error
}

func (s *memoryStore) Load() (sessionlist.Read, error) { return s.read, nil }

func (s *memoryStore) Save(r sessionlist.Read) error {
	s.saves++
	s.read = r
	return s.err
}

// runAll runs a command and what it returns on a program.
func runAll(p *program, cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			runAll(p, c)
		}
	default:
		_, next := p.Update(msg)
		runAll(p, next)
	}
}

func TestOpeningASessionSavesThatItIsRead(t *testing.T) {
	store := &memoryStore{read: sessionlist.Read{Since: tuitest.Start}}
	start := func() *program {
		options := Options{Alerts: Alerts{Read: store}}
		b := testBuilder(t.Context(), options, fixedClock(tuitest.Start), func() string { return "id" })
		p := b.newDashboard(tuitest.NewServer(), "")
		noTimers(p)
		t.Cleanup(func() { b.cancel(); b.tasks.Close(); p.sessions.closeAll() })
		_, cmd := p.Update(dashboard.SummariesMsg{{Summary: protocol.Summary{
			Session: "s1", Status: protocol.Idle, Updated: tuitest.Start.Add(time.Hour),
			Progress:   protocol.Progress{Turns: 4},
			Attributes: protocol.Attributes{Created: tuitest.Start.Add(time.Minute)},
		}}})
		runAll(p, cmd)
		return p
	}
	p := start()
	if g := p.dashboard.List().GroupOf("s1"); g != sessionlist.Unread || store.saves != 0 {
		t.Errorf("before: group %s, %d saves, want unread and none", g, store.saves)
	}
	runAll(p, p.open("s1"))
	err := p.read.saveNow()
	if m := store.read.Sessions["s1"]; err != nil || m.Turns != 4 || store.saves != 1 {
		t.Errorf("opened: %+v after %d saves (%v), want 4 turns and one", store.read, store.saves, err)
	}
	p.dashboard.List().ChooseOrder(sessionlist.ByProject)
	store.err = errors.New("the disk is full")
	for range 2 {
		if err := p.read.saveNow(); !errors.Is(err, store.err) {
			t.Errorf("at the end: %v, want the error of the store", err)
		}
	}
	if g := start().dashboard.List().GroupOf("s1"); g != sessionlist.Idle {
		t.Errorf("on the next screen: group %s, want idle", g)
	}
}

func TestWhatIsReadIsSavedSoonAfterAChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &memoryStore{read: sessionlist.Read{Since: tuitest.Start}}
		p := startDashboardWith(t, Options{Alerts: Alerts{Read: store}}, tuitest.NewServer(), "")
		tuitest.Wait(time.Minute)
		if store.saves != 0 {
			t.Errorf("%d saves without a change", store.saves)
		}
		p.press("O")
		tuitest.Wait(saveDelay)
		if store.saves != 1 || store.read.Order != sessionlist.ByProject {
			t.Errorf("%+v after %d saves", store.read, store.saves)
		}
		p.stop()
		if store.saves != 1 {
			t.Errorf("%d saves at the end of one change", store.saves)
		}
	})
}

func TestTheFirstStartIsRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(memoryStore)
		startDashboardWith(t, Options{Alerts: Alerts{Read: store}}, tuitest.NewServer(), "").stop()
		if store.read.Since.IsZero() {
			t.Error("the time of the first start is not kept")
		}
	})
}
