package sessionview

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/task"
	"agentctl/tui/transcriptview"
)

func TestLongSessionDropsItems(t *testing.T) {
	s := open(t, tuitest.LongSession(transcriptview.ItemsMax), 60, 20)
	s.mustShow(fmt.Sprintf("answer %d", transcriptview.ItemsMax-1))
	if n := s.m.transcript.View.List.Len(); n >= transcriptview.ItemsMax {
		t.Fatalf("got %d items, want fewer than %d", n, transcriptview.ItemsMax)
	}
	var before uint64
	s.session.Reply = func(a tuitest.Command) (any, error) {
		if a.Verb == protocol.DoHistory {
			before = a.Data.(protocol.HistoryData).Before
			return tuitest.HistoryPage(1, 2, false), nil
		}
		return nil, nil
	}
	s.press("ctrl+home")
	first := strings.SplitN(s.text()[strings.Index(s.text(), "question "):], "\n", 2)[0]
	s.press("ctrl+home")
	if before == 0 {
		t.Fatalf("no history requested; the first turn is %q", first)
	}
	var n int
	if _, err := fmt.Sscanf(first, "question %d", &n); err != nil {
		t.Fatal(err)
	}
	if want := uint64(2 + 6*n); before != want { // every turn has six events
		t.Errorf("got history before %d, want before %d, the start of the first turn", before, want)
	}
	s.mustShow("question 1\n")
}

func TestItemsKeptWhileScrolled(t *testing.T) {
	s := open(t, tuitest.LongSession(10), 60, 20)
	s.press("pgup")
	more := tuitest.LongSession(transcriptview.ItemsMax)
	more.Pending = more.Pending[3:]
	for _, u := range more.Pending {
		if e := u.Event; e != nil && e.Durable() {
			e.Seq += s.m.replica.State.Seq - 1
		}
	}
	top := strings.Split(s.text(), "\n")[0]
	s.update(more.Take())
	if got := strings.Split(s.text(), "\n")[0]; got != top {
		t.Errorf("got first line %q, want %q", got, top)
	}
	s.press("ctrl+end")
	s.mustShow(fmt.Sprintf("answer %d", transcriptview.ItemsMax-1))
}

func TestPendingMessageEndsOnReset(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	s.session.Reply = func(tuitest.Command) (any, error) {
		return protocol.SendResult{Status: protocol.SendStarted, MessageID: "m9", Seq: 100}, nil
	}
	s.typeText("hello")
	s.press("enter")
	s.mustShow("sending: hello")
	s.journal.Pending = append(s.journal.Pending, remote.Update{Attached: &protocol.SubscribeResult{
		Mode: protocol.ModeReset, Reason: protocol.ResetPastEnd, After: protocol.Position{Epoch: "zz", Seq: 100},
		Snapshot: &protocol.Snapshot{Epoch: "zz", State: &protocol.State{Seq: 100}},
	}})
	s.journal.CaughtUp()
	s.applyJournal()
	s.mustHide("sending")
}

func TestCopySelectedItem(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	s.press("tab")
	cmd := s.m.Update(tuitest.KeyPress("c"))
	if got := fmt.Sprint(tuitest.Messages(cmd)); !strings.Contains(got, "I look at the imports") {
		t.Errorf("copied %s", got)
	}
	s.mustShow("copied")
}

func TestClickExpands(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 60)
	for y, line := range strings.Split(s.text(), "\n") {
		if strings.Contains(line, "▸ thought") {
			s.update(tea.MouseClickMsg{X: 3, Y: y, Button: tea.MouseLeft})
			break
		}
	}
	s.mustShow("▾ thought", "Likely a race.")
}

// BenchmarkDeltaAndFrame applies one delta and draws, after few and many turns.
func BenchmarkDeltaAndFrame(b *testing.B) {
	for _, turns := range []int{10, 1000} {
		b.Run(fmt.Sprint(turns), func(b *testing.B) {
			j := tuitest.LongSession(turns)
			m := benchmarkView(b)
			m.Update(tea.WindowSizeMsg{Width: 200, Height: 60})
			m.Update(j.Take())
			j.UserMessage(tuitest.Ada, "last", "go")
			j.Text("t3")
			m.Update(j.Take())
			for b.Loop() {
				j.Add(protocol.TextDelta, protocol.PartDeltaData{Part: "t3", Text: " word"})
				m.Update(j.Take())
				m.View()
			}
		})
	}
}

// BenchmarkCatchUp100kEvents applies 100,000 events and draws once a batch.
func BenchmarkCatchUp100kEvents(b *testing.B) {
	j := tuitest.NewJournal()
	for i := range 1000 {
		j.UserMessage(tuitest.Ada, fmt.Sprintf("m%d", i), "go on")
		j.Text("t", strings.Split(strings.Repeat("some words. ", 96), " ")...)
		j.EndTurn(protocol.ReasonCompleted)
		if j.Seq > 100_000 {
			break
		}
	}
	j.CaughtUp()
	all := j.Take()
	for b.Loop() {
		m := benchmarkView(b)
		m.Update(tea.WindowSizeMsg{Width: 120, Height: 36})
		all[1].Attached.Snapshot.State = &protocol.State{}
		for i := 0; i < len(all); i += task.MaxBatch {
			m.Update(all[i:min(i+task.MaxBatch, len(all))])
			m.View()
		}
	}
}
