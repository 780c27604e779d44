package tui

import (
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/dashboard"
	"agentctl/tui/remote"
	"agentctl/tui/task"
)

// testDashboard runs a dashboard without a Bubble Tea program. The test sends messages and moves
// the clock.
type testDashboard struct {
	t      *testing.T
	p      *program
	server *tuitest.Server
	now    time.Time
	timers []tea.Msg // started and not yet fired
}

// newTestDashboard returns a connected dashboard that lists the sessions.
func newTestDashboard(t *testing.T, width, height int, sessions ...protocol.Summary) *testDashboard {
	t.Helper()
	return newTestDashboardWith(t, Options{}, width, height, sessions...)
}

// newTestDashboardWith is like newTestDashboard, with options.
func newTestDashboardWith(
	t *testing.T, o Options, width, height int, sessions ...protocol.Summary,
) *testDashboard {
	t.Helper()
	o.CWD = "/home/ada"
	d := &testDashboard{t: t, server: tuitest.NewServer(), now: tuitest.Start.Add(time.Minute)}
	build := testBuilder(
		t.Context(),
		o,
		func() time.Time { return d.now },
		func() string { return "client-m1" },
	)
	d.p = build.newDashboard(d.server, "")
	d.p.styles.GraphemeWidths = true
	noTimers(d.p)
	d.p.dashboard.After = func(_ time.Duration, msg tea.Msg) tea.Cmd {
		d.timers = append(d.timers, msg)
		return nil
	}
	t.Cleanup(func() {
		build.cancel()
		build.tasks.Close()
		d.p.sessions.closeAll()
	})
	d.send(tea.WindowSizeMsg{Width: width, Height: height})
	if width >= 120 || width >= 80 && height >= 30 {
		d.press("p") // hides the preview until the test shows it
	}
	d.send(dashboard.ConnMsg{State: remote.Connected})
	d.sendSummaries(sessions...)
	return d
}

// send updates the dashboard with a message and runs the returned command.
func (d *testDashboard) send(msg tea.Msg) {
	d.t.Helper()
	_, cmd := d.p.Update(msg)
	d.p.View()
	d.run(cmd)
}

// run executes a command and sends its messages.
func (d *testDashboard) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			d.run(c)
		}
	default:
		d.send(msg)
	}
}

// sendSummaries sends summaries of the server.
func (d *testDashboard) sendSummaries(sessions ...protocol.Summary) {
	changes := make(dashboard.SummariesMsg, len(sessions))
	for i, s := range sessions {
		changes[i].Summary = s
	}
	d.send(changes)
}

// press sends keys by name.
func (d *testDashboard) press(keys ...string) {
	d.t.Helper()
	for _, k := range keys {
		d.send(tuitest.KeyPress(k))
	}
}

// typeText sends one key press for each character.
func (d *testDashboard) typeText(text string) {
	for _, r := range text {
		d.send(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

// screen returns the text on the screen without styles and trailing spaces.
func (d *testDashboard) screen() string {
	return tuitest.ScreenText(d.p.View())
}

// wantText fails the test unless the screen contains all texts.
func (d *testDashboard) wantText(want ...string) {
	d.t.Helper()
	for _, w := range want {
		if !strings.Contains(d.screen(), w) {
			d.t.Fatalf("want %q on the screen, got:\n%s", w, d.screen())
		}
	}
}

// wantNoText fails the test if the screen contains the text.
func (d *testDashboard) wantNoText(text string) {
	d.t.Helper()
	if strings.Contains(d.screen(), text) {
		d.t.Fatalf("got %q on the screen, want it absent:\n%s", text, d.screen())
	}
}

// fireTimers ends all pending waits.
func (d *testDashboard) fireTimers() {
	d.t.Helper()
	timers := d.timers
	d.timers = nil
	for _, msg := range timers {
		d.send(msg)
	}
}

// dashboardProgram is a running Bubble Tea program with a dashboard. It needs a synctest bubble.
type dashboardProgram struct {
	t       *testing.T
	builder *builder
	p       *program
	server  *tuitest.Server
	mu      sync.Mutex
	keys    *io.PipeWriter
	stop    func()
}

// lockedModel guards the model of a dashboardProgram with its mutex, so that the test can read it.
type lockedModel struct{ *dashboardProgram }

func (m lockedModel) Init() tea.Cmd {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.p.Init()
}

func (m lockedModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, cmd := m.p.Update(msg)
	return m, cmd
}

func (m lockedModel) View() tea.View {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.p.View()
}

// startDashboard starts a program on a new server. It shows the initial session, or the dashboard
// if initial is "".
func startDashboard(t *testing.T, initial string) *dashboardProgram {
	t.Helper()
	return startDashboardOn(t, tuitest.NewServer(), initial)
}

// startDashboardOn is like startDashboard, on the given server.
func startDashboardOn(t *testing.T, server *tuitest.Server, initial string) *dashboardProgram {
	t.Helper()
	return startDashboardWith(t, Options{}, server, initial)
}

// startDashboardWith is like startDashboardOn, with the given options.
func startDashboardWith(t *testing.T, o Options, server *tuitest.Server, initial string) *dashboardProgram {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	keys, typing := io.Pipe()
	p := &dashboardProgram{t: t, server: server, keys: typing}
	p.builder = testBuilder(ctx, o, time.Now, func() string { return "new" })
	p.p = p.builder.newDashboard(p.server, initial)
	ended := make(chan error, 1)
	go func() {
		ended <- p.builder.run(p.p, lockedModel{p}, testProgramOptions(keys, io.Discard, 90, 16)...)
	}()
	p.stop = func() {
		cancel()
		_ = typing.Close() // always returns nil
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	for _, s := range tuitest.Summaries() {
		p.server.Updates <- tuitest.SummaryUpdate{Summary: s}
	}
	tuitest.Wait(time.Second)
	return p
}

// press types keys with a pause after each.
func (p *dashboardProgram) press(keys ...string) {
	for _, k := range keys {
		if _, err := io.WriteString(p.keys, k); err != nil {
			p.t.Error(err)
		}
		tuitest.Wait(100 * time.Millisecond)
	}
}

// screen returns the text on the screen without styles.
func (p *dashboardProgram) screen() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return ansi.Strip(p.p.View().Content)
}

// wantText fails the test unless the screen contains all texts.
func (p *dashboardProgram) wantText(want ...string) {
	p.t.Helper()
	for _, w := range want {
		if got := p.screen(); !strings.Contains(got, w) {
			p.t.Fatalf("want %q on the screen, got:\n%s", w, got)
		}
	}
}

// Keys as a terminal sends them.
const (
	keyF2    = "\x1bOQ"
	keyUp    = "\x1b[A"
	keyDown  = "\x1b[B"
	keyEnter = "\r"
)

func TestDraftSurvivesClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := startDashboard(t, "")
		p.press(keyEnter)
		s3 := p.server.Sessions["s3"]
		s3.Mu.Lock()
		s3.Reply = func(tuitest.Command) (any, error) { return nil, tuitest.ErrRefused }
		s3.Mu.Unlock()
		p.press("refused", keyEnter, "my draft")
		for range 3 {
			p.press(keyF2, keyDown, keyEnter)
		}
		if got := p.server.Subscribed(); slices.Contains(got, "s3") {
			t.Fatalf("got subscriptions to %v, want none to s3", got)
		}
		p.press(keyF2, keyUp, keyUp, keyUp, keyEnter)
		p.wantText("answer of s3", "> refused", "my draft")
		p.stop()
	})
}

func TestDashboardKeepsThreeSessionsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := startDashboard(t, "")
		p.wantText("sessions 5", "1 needs you")
		p.press(keyEnter)
		p.wantText("question for s3", "answer of s3", "F2 sessions")
		p.press(keyF2, keyDown, keyEnter)
		p.wantText("answer of s5xyz789", "1 other waiting")
		p.press(keyF2, keyDown, keyEnter)
		if got := p.server.Subscribed(); !slices.Equal(got, []string{"s2", "s3", "s5xyz789"}) {
			t.Errorf("got subscriptions to %v, want s2, s3, s5xyz789", got)
		}
		p.press(keyF2, keyDown, keyEnter)
		p.wantText("answer of s1")
		if got := p.server.Subscribed(); !slices.Equal(got, []string{"s1", "s2", "s5xyz789"}) {
			t.Errorf("got subscriptions to %v, want s1, s2, s5xyz789", got)
		}
		p.stop()
		if got := p.server.Subscribed(); len(got) != 0 {
			t.Errorf("got subscriptions to %v, want none", got)
		}
	})
}

func TestOpenWhilePreviewLoads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := startDashboard(t, "")
		p.server.Mu.Lock()
		p.server.Journal = func(string) *tuitest.Journal { // not caught up
			j := tuitest.NewJournal()
			j.UserMessage(tuitest.Ada, "m1", "question")
			return j
		}
		p.server.Mu.Unlock()
		p.press("p")
		p.wantText("preview · release")
		if got := p.server.Subscribed(); !slices.Equal(got, []string{"s3"}) {
			t.Fatalf("got subscriptions to %v, want s3", got)
		}
		p.press(keyEnter)
		if got := p.server.Subscribed(); !slices.Equal(got, []string{"s3"}) || p.server.PeakSubscribers() != 1 {
			t.Errorf("got subscriptions to %v, at most %d at once, want s3 and 1", got, p.server.PeakSubscribers())
		}
		if got, _ := p.server.Requests(); len(got) != 2 {
			t.Errorf("got subscriptions %v, want 2", got)
		}
		p.stop()
	})
}

func TestReopenNeverSubscribesTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := startDashboard(t, "")
		p.server.CloseDelay = time.Second
		p.mu.Lock()
		p.p.sessions.keep = 1
		p.mu.Unlock()
		p.press(keyEnter, keyF2, keyDown, keyEnter, keyF2, keyUp, keyEnter)
		tuitest.Wait(3 * time.Second)
		p.wantText("question for s3")
		if got := p.server.Subscribed(); !slices.Equal(got, []string{"s3"}) || p.server.PeakSubscribers() != 1 {
			t.Errorf("got subscriptions to %v, at most %d at once, want s3 and 1", got, p.server.PeakSubscribers())
		}
		p.stop()
	})
}

func TestDashboardStartsWithNamedSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := startDashboard(t, "s1")
		p.wantText("answer of s1", "1 other waiting: F8")
		p.press(keyF2)
		p.wantText("sessions 5", "▸· docs")
		p.stop()
	})
}

func TestNamedSessionLoadsBeforeSummaries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := tuitest.NewServer()
		slow.Journal = func(string) *tuitest.Journal { // not caught up
			j := tuitest.NewJournal()
			j.UserMessage(tuitest.Ada, "m1", "question")
			return j
		}
		p := startDashboardOn(t, slow, "s1")
		listed := func() int {
			p.mu.Lock()
			defer p.mu.Unlock()
			return p.p.dashboard.List().Total()
		}
		if n := listed(); n > 0 {
			t.Errorf("got %d listed sessions before the catch-up, want 0", n)
		}
		caughtUp := &protocol.Event{Type: protocol.CaughtUp, Data: []byte("{}")}
		p.server.Sessions["s1"].Feed <- remote.Update{Event: caughtUp}
		tuitest.Wait(time.Second)
		if listed() == 0 {
			t.Error("got no listed sessions after the catch-up")
		}
		p.stop()
	})
}

func TestHiddenSessionIsUpdated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := startDashboard(t, "")
		p.press(keyEnter, "draft", keyF2)
		j := &tuitest.Journal{Seq: 5, At: tuitest.Start, Turn: "turn-m1"}
		j.Add(protocol.TextDelta, protocol.PartDeltaData{Part: "t", Text: " and more"})
		p.server.Sessions["s3"].Feed <- j.Take()[0]
		tuitest.Wait(time.Second)
		p.press(keyEnter)
		p.wantText("answer of s3 and more", "> draft")
		p.press(keyEnter)
		if got := p.server.Sessions["s3"].Commands(); len(got) != 1 || got[0].Verb != protocol.DoSend {
			t.Errorf("got commands %+v, want 1 send", got)
		}
		p.stop()
	})
}

func TestHiddenSessionDetachesAndResumes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := startDashboard(t, "")
		p.press(keyEnter, "draft", keyF2)
		tuitest.Wait(detachAfter - time.Second)
		if got := p.server.Subscribed(); !slices.Equal(got, []string{"s3"}) {
			t.Errorf("subscribed soon after it was hidden: got %v, want s3", got)
		}
		tuitest.Wait(2 * time.Second)
		if got := p.server.Subscribed(); len(got) > 0 {
			t.Errorf("subscribed a while after it was hidden: got %v, want none", got)
		}
		j := &tuitest.Journal{Seq: 5, At: tuitest.Start, Turn: "turn-m1"}
		j.Add(protocol.TextDelta, protocol.PartDeltaData{Part: "t", Text: " and more"})
		j.CaughtUp()
		for _, u := range j.Take() {
			p.server.Sessions["s3"].Feed <- u
		}
		tuitest.Wait(time.Second)
		if n := len(p.server.Sessions["s3"].Feed); n != 2 {
			t.Errorf("updates read of a detached session: got %d, want none", 2-n)
		}
		p.press(keyEnter)
		p.wantText("answer of s3 and more", "> draft")
		want := []protocol.Position{{Epoch: "k3f9ab", Seq: 5}}
		if got := p.server.Resumptions(); !slices.Equal(got, want) {
			t.Errorf("resumed after %v, want %v", got, want)
		}
		tuitest.Wait(2 * detachAfter)
		if got := p.server.Subscribed(); !slices.Equal(got, []string{"s3"}) || p.server.PeakSubscribers() != 1 {
			t.Errorf("shown again: got subscriptions to %v, at most %d at once", got, p.server.PeakSubscribers())
		}
		p.stop()
	})
}

func TestDetachedSessionShowsItsTranscriptWhileItSubscribes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := tuitest.NewServer()
		server.CloseDelay = time.Minute // the next subscription waits for the end of this one
		p := startDashboardOn(t, server, "")
		p.press(keyEnter, keyF2)
		tuitest.Wait(2 * detachAfter)
		p.press(keyEnter)
		p.wantText("answer of s3")
		if got := server.Resumptions(); len(got) > 0 {
			t.Errorf("subscribed twice at once, after %v", got)
		}
		tuitest.Wait(time.Minute)
		if got := server.Resumptions(); len(got) != 1 {
			t.Errorf("resumed after %v, want one position", got)
		}
		p.stop()
	})
}

func TestPreviewedAndEditingSessionsStayAttached(t *testing.T) {
	d := newTestDashboard(t, 90, 16, tuitest.Summaries()...)
	attached := func(id string) bool { return !d.p.sessions.find(id).detached }
	pass := func() {
		d.send(nil)
		d.now = d.now.Add(2 * detachAfter)
		d.send(nil)
	}
	d.press("p") // shows the preview
	d.run(d.p.open("s1"))
	d.press("f2")
	pass()
	if !attached("s1") {
		t.Error("the previewed session was detached")
	}
	d.press("down")
	pass()
	if attached("s1") {
		t.Error("the session stays attached without a preview")
	}
	d.run(d.p.open("s2"))
	j := tuitest.NewJournal()
	j.QueueMessage(tuitest.Ada, "m2", "queued")
	j.CaughtUp()
	d.send(task.Message{To: d.p.sessions.shown, Msg: j.Take()})
	d.press("tab", "e")
	if o := d.p.sessions.shown; o.view.Detachable() {
		t.Fatalf("no message is edited:\n%s", d.screen())
	}
	d.run(d.p.open("s3"))
	pass()
	if !attached("s2") {
		t.Error("a session was detached while its queued message is edited")
	}
}

func TestLaggingSessionDetachesAtOnce(t *testing.T) {
	d := newTestDashboard(t, 90, 16, tuitest.Summaries()...)
	d.run(d.p.open("s1"))
	j := tuitest.NewJournal()
	j.CaughtUp()
	j.Ephemeral(protocol.ClientLag, protocol.Client{Client: "c1", By: tuitest.Ada, Acked: j.Seq, LagEvents: 50})
	o := d.p.sessions.shown
	d.send(task.Message{To: o, Msg: j.Take()})
	if o.detached {
		t.Error("detached while it is shown")
	}
	d.press("f2")
	if !o.detached {
		t.Error("still attached while the link is slow")
	}
}

func TestDashboardQuit(t *testing.T) {
	for _, first := range [][]string{nil, {keyEnter}} {
		synctest.Test(t, func(t *testing.T) {
			p := startDashboard(t, "")
			p.press(first...)
			p.press("\x03")
			p.wantText("ctrl+c again leaves")
			p.press("\x03")
			tuitest.Wait(time.Second)
			if p.builder.ctx.Err() == nil {
				t.Error("the program has not ended")
			}
			p.stop()
		})
	}
}
