package tui

import (
	"context"
	"io"
	"iter"
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
	"agentctl/tui/approval"
	"agentctl/tui/dashboard"
	"agentctl/tui/remote"
	"agentctl/tui/task"
)

// fakeServer is a server of recorded sessions. It counts the subscribers of each session.
type fakeServer struct {
	summaries chan dashboard.SummaryUpdate
	conns     chan remote.Conn

	mu             sync.Mutex
	sessions       map[string]*tuitest.FakeSession
	subscribers    map[string]int // running calls of Updates by session
	reply          func(session string, a tuitest.Command) (any, error)
	commands       []string            // session and verb of each command
	subscriptions  []string            // session of each call of Updates
	resumed        []protocol.Position // of each call of UpdatesSince
	retries        int
	closeDelay     time.Duration // how long Updates continues after its context has ended
	maxSubscribers int           // maximum number of concurrent subscribers of one session
	journal        func(session string) *tuitest.Journal
	search         func(protocol.SearchData) (protocol.SearchResult, error)
	create         func(protocol.CreateData) (protocol.CreateResult, error)
}

// newFakeServer returns a server whose sessions hold one question and its answer.
func newFakeServer() *fakeServer {
	return &fakeServer{
		summaries:   make(chan dashboard.SummaryUpdate, 64),
		conns:       make(chan remote.Conn, 4),
		sessions:    map[string]*tuitest.FakeSession{},
		subscribers: map[string]int{},
	}
}

func (s *fakeServer) Watch(ctx context.Context) iter.Seq2[protocol.Summary, error] {
	return func(yield func(protocol.Summary, error) bool) {
		for {
			select {
			case c := <-s.summaries:
				if !yield(c.Summary, c.Err) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}

func (s *fakeServer) Conns(ctx context.Context) iter.Seq[remote.Conn] {
	return func(yield func(remote.Conn) bool) {
		for {
			select {
			case l := <-s.conns:
				if !yield(l) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}

func (s *fakeServer) Retry() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retries++
}

func (s *fakeServer) Agents() []string { return []string{"claude", "gemini"} }

func (s *fakeServer) Search(_ context.Context, d protocol.SearchData) (protocol.SearchResult, error) {
	if s.search == nil {
		return protocol.SearchResult{}, tuitest.ErrCannotSearch
	}
	return s.search(d)
}

func (s *fakeServer) Create(_ context.Context, d protocol.CreateData) (protocol.CreateResult, error) {
	if s.create == nil {
		return protocol.CreateResult{Session: "new"}, nil
	}
	return s.create(d)
}

// fakeSession is a recorded session that counts its subscribers.
type fakeSession struct {
	*tuitest.FakeSession
	server *fakeServer
	id     string
}

func (s *fakeSession) Updates(ctx context.Context) iter.Seq[remote.Update] {
	return func(yield func(remote.Update) bool) {
		s.server.addSubscribers(s.id, 1)
		defer s.server.addSubscribers(s.id, -1)
		s.FakeSession.Updates(ctx)(yield)
		time.Sleep(s.server.closeDelay) // in virtual time
	}
}

// Resumes implements remote.Resumer.
func (s *fakeSession) Resumes() bool { return true }

// UpdatesSince implements remote.Resumer: the next updates of the feed continue the earlier ones.
func (s *fakeSession) UpdatesSince(ctx context.Context, since protocol.Position) iter.Seq[remote.Update] {
	return func(yield func(remote.Update) bool) {
		s.server.mu.Lock()
		s.server.resumed = append(s.server.resumed, since)
		s.server.mu.Unlock()
		attached := &protocol.SubscribeResult{Session: s.id, Mode: protocol.ModeResume, After: since, Position: since}
		if yield(remote.Update{Attached: attached}) {
			s.Updates(ctx)(yield)
		}
	}
}

// addSubscribers adds n to the number of subscribers of a session.
func (s *fakeServer) addSubscribers(id string, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.subscribers[id] += n
	s.maxSubscribers = max(s.maxSubscribers, s.subscribers[id])
	if n > 0 {
		s.subscriptions = append(s.subscriptions, id)
	}
}

func (s *fakeServer) Session(id string) remote.Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := tuitest.NewFakeSession()
	s.sessions[id] = r
	if s.reply != nil {
		r.Reply = func(a tuitest.Command) (any, error) {
			s.mu.Lock()
			s.commands = append(s.commands, id+" "+string(a.Verb))
			s.mu.Unlock()
			return s.reply(id, a)
		}
	}
	j := tuitest.NewJournal()
	if s.journal != nil {
		j = s.journal(id)
	} else {
		j.UserMessage(tuitest.Ada, "m1", "question for "+id)
		j.Text("t", "answer of "+id)
		j.CaughtUp()
	}
	for _, u := range j.Take() {
		r.Feed <- u
	}
	return &fakeSession{r, s, id}
}

// requests returns the session of each subscription, and the session and verb of each command.
func (s *fakeServer) requests() (subscriptions, commands []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.subscriptions), slices.Clone(s.commands)
}

// resumptions returns the positions after which updates were continued.
func (s *fakeServer) resumptions() []protocol.Position {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.resumed)
}

// peakSubscribers returns the maximum number of concurrent subscribers of one session.
func (s *fakeServer) peakSubscribers() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.maxSubscribers
}

// subscribed returns the sessions that have a subscriber, sorted by ID.
func (s *fakeServer) subscribed() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for id, n := range s.subscribers {
		if n > 0 {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}

// testSummaries returns the summaries of five sessions, one for each state.
func testSummaries() []protocol.Summary {
	asked := tuitest.Start.Add(-3 * time.Minute)
	return []protocol.Summary{
		{
			Session: "s1",
			Name:    "docs",
			Agent:   "claude",
			Status:  protocol.Idle,
			Updated: tuitest.Start,
			Reason:  protocol.ReasonCompleted,
			Title:   "Write the guide",
		},
		{
			Session:  "s2",
			Name:     "fix-tests",
			Agent:    "gemini",
			Status:   protocol.Running,
			Updated:  tuitest.Start.Add(time.Minute),
			Doing:    "go test ./...",
			Queue:    2,
			Progress: protocol.Progress{Percent: 82},
		},
		{
			Session:   "s3",
			Name:      "release",
			Agent:     "codex",
			Status:    protocol.Waiting,
			Updated:   tuitest.Start,
			Asked:     &asked,
			Approvals: 1,
			Doing:     "git push --tags",
			Queue:     1,
			Held:      true,
			Progress:  protocol.Progress{Percent: 38},
			CWD:       "/home/bob/site",
			Title:     "Ship it",
			Clients:   2,
		},
		{
			Session: "s4",
			Name:    "old\x1b[2J",
			Agent:   "x",
			Status:  protocol.Closed,
			Updated: tuitest.Start.Add(-time.Hour),
		},
		{
			Session: "s5xyz789",
			Agent:   "claude",
			Status:  protocol.Idle,
			Updated: tuitest.Start.Add(-time.Minute),
			Reason:  protocol.ReasonError,
		},
	}
}

// testDashboard runs a dashboard without a Bubble Tea program. The test sends messages and moves
// the clock.
type testDashboard struct {
	t      *testing.T
	p      *program
	server *fakeServer
	now    time.Time
	timers []timer // started and not yet fired
}

// timer is a message to send after a duration.
type timer struct {
	after time.Duration
	msg   tea.Msg
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
	d := &testDashboard{t: t, server: newFakeServer(), now: tuitest.Start.Add(time.Minute)}
	build := testBuilder(
		t.Context(),
		o,
		func() time.Time { return d.now },
		func() string { return "client-m1" },
	)
	d.p = build.newDashboard(d.server, "")
	d.p.styles.GraphemeWidths = true
	noTimers(d.p)
	d.p.dashboard.After = func(after time.Duration, msg tea.Msg) tea.Cmd {
		d.timers = append(d.timers, timer{after, msg})
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

// setPending makes sessions answer commands. Their snapshots hold the pending approvals.
func (d *testDashboard) setPending(pending ...protocol.Approval) {
	d.server.reply = func(id string, a tuitest.Command) (any, error) {
		switch a.Verb {
		case protocol.DoSnapshot:
			return protocol.SnapshotResult{
				Snapshot: protocol.Snapshot{Epoch: "e", State: &protocol.State{Session: id, Approvals: pending}},
			}, nil
		case protocol.DoHistory:
			var page protocol.HistoryResult
			for _, u := range tuitest.Conversation().Take() {
				if u.Event != nil && u.Event.Turn == "turn-m1" {
					page.Events = append(page.Events, u.Event.AppendJSON(nil))
				}
			}
			return page, nil
		}
		return nil, nil
	}
	d.server.journal = func(string) *tuitest.Journal {
		j := &tuitest.Journal{Seq: 100, At: tuitest.Start}
		j.Pending = remote.Updates{
			{
				Attached: &protocol.SubscribeResult{
					Mode:  protocol.ModeSnapshot,
					After: protocol.Position{Seq: 100},
					Snapshot: &protocol.Snapshot{
						State: &protocol.State{Seq: 100, Last: &protocol.LastTurn{Turn: "turn-m1"}},
					},
				},
			},
		}
		j.UserMessage(tuitest.Bob, "m9", "Push the tags.")
		j.Text("t", "They are right.")
		j.QueueMessage(tuitest.Ada, "m10", "And then?")
		j.RequestApproval(tuitest.CommandApproval())
		j.CaughtUp()
		return j
	}
}

// fireGuards fires the timers that end the grace period of an approval.
func (d *testDashboard) fireGuards() {
	d.t.Helper()
	d.fireTimers(func(m timer) bool { _, ok := m.msg.(approval.GuardMsg); return ok })
}

// tick fires the clock timers and reports whether there were any.
func (d *testDashboard) tick() bool {
	d.t.Helper()
	return d.fireTimers(func(m timer) bool { return m.after == time.Second })
}

// fireTimers fires the matching timers and reports whether there were any.
func (d *testDashboard) fireTimers(matches func(timer) bool) (fired bool) {
	d.t.Helper()
	timers := d.timers
	d.timers = nil
	for _, m := range timers {
		if matches(m) {
			fired = true
			d.send(m.msg)
		} else {
			d.timers = append(d.timers, m)
		}
	}
	return fired
}

func TestDashboardFitsAllSizes(t *testing.T) {
	d := newTestDashboard(t, 80, 24, testSummaries()...)
	d.setPending(tuitest.CommandApproval())
	keys := []string{
		"", "p", "n", "esc", "/", "esc", "y", "esc", "X", "esc", "R", "esc", "?", "q", "p",
	}
	for width := 1; width < 160; width += 7 {
		for _, height := range []int{1, 2, 3, 5, 9, 20} {
			d.send(tea.WindowSizeMsg{Width: width, Height: height})
			for _, key := range keys {
				if key != "" {
					d.press(key)
				}
				view := d.p.View()
				lines := strings.Split(view.Content, "\n")
				if len(lines) > height {
					t.Fatalf("got %d rows at %dx%d after %q", len(lines), width, height, key)
				}
				for _, line := range lines {
					if ansi.StringWidth(line) > width {
						t.Fatalf("got row %q at %dx%d after %q", line, width, height, key)
					}
				}
				if c := view.Cursor; c != nil && (c.X >= width || c.Y >= height) {
					t.Fatalf("got cursor %d,%d at %dx%d after %q", c.X, c.Y, width, height, key)
				}
			}
		}
	}
}

// dashboardProgram is a running Bubble Tea program with a dashboard. It needs a synctest bubble.
type dashboardProgram struct {
	t       *testing.T
	builder *builder
	p       *program
	server  *fakeServer
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
	return startDashboardOn(t, newFakeServer(), initial)
}

// startDashboardOn is like startDashboard, on the given server.
func startDashboardOn(t *testing.T, server *fakeServer, initial string) *dashboardProgram {
	t.Helper()
	return startDashboardWith(t, Options{}, server, initial)
}

// startDashboardWith is like startDashboardOn, with the given options.
func startDashboardWith(t *testing.T, o Options, server *fakeServer, initial string) *dashboardProgram {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	keys, typing := io.Pipe()
	p := &dashboardProgram{t: t, server: server, keys: typing}
	p.builder = testBuilder(ctx, o, time.Now, func() string { return "new" })
	p.p = p.builder.newDashboard(p.server, initial)
	ended := make(chan error, 1)
	go func() {
		ended <- p.builder.runModel(p.p, lockedModel{p}, testProgramOptions(keys, io.Discard, 90, 16)...)
	}()
	p.stop = func() {
		cancel()
		_ = typing.Close() // always returns nil
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	for _, s := range testSummaries() {
		p.server.summaries <- dashboard.SummaryUpdate{Summary: s}
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
		s3 := p.server.sessions["s3"]
		s3.Mu.Lock()
		s3.Reply = func(tuitest.Command) (any, error) { return nil, tuitest.ErrRefused }
		s3.Mu.Unlock()
		p.press("refused", keyEnter, "my draft")
		for range 3 {
			p.press(keyF2, keyDown, keyEnter)
		}
		if got := p.server.subscribed(); slices.Contains(got, "s3") {
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
		if got := p.server.subscribed(); !slices.Equal(got, []string{"s2", "s3", "s5xyz789"}) {
			t.Errorf("got subscriptions to %v, want s2, s3, s5xyz789", got)
		}
		p.press(keyF2, keyDown, keyEnter)
		p.wantText("answer of s1")
		if got := p.server.subscribed(); !slices.Equal(got, []string{"s1", "s2", "s5xyz789"}) {
			t.Errorf("got subscriptions to %v, want s1, s2, s5xyz789", got)
		}
		p.stop()
		if got := p.server.subscribed(); len(got) != 0 {
			t.Errorf("got subscriptions to %v, want none", got)
		}
	})
}

func TestOpenWhilePreviewLoads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := startDashboard(t, "")
		p.server.mu.Lock()
		p.server.journal = func(string) *tuitest.Journal { // not caught up
			j := tuitest.NewJournal()
			j.UserMessage(tuitest.Ada, "m1", "question")
			return j
		}
		p.server.mu.Unlock()
		p.press("p")
		p.wantText("preview · release")
		if got := p.server.subscribed(); !slices.Equal(got, []string{"s3"}) {
			t.Fatalf("got subscriptions to %v, want s3", got)
		}
		p.press(keyEnter)
		if got := p.server.subscribed(); !slices.Equal(got, []string{"s3"}) || p.server.peakSubscribers() != 1 {
			t.Errorf("got subscriptions to %v, at most %d at once, want s3 and 1", got, p.server.peakSubscribers())
		}
		if got, _ := p.server.requests(); len(got) != 2 {
			t.Errorf("got subscriptions %v, want 2", got)
		}
		p.stop()
	})
}

func TestReopenNeverSubscribesTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := startDashboard(t, "")
		p.server.closeDelay = time.Second
		p.mu.Lock()
		p.p.sessions.keep = 1
		p.mu.Unlock()
		p.press(keyEnter, keyF2, keyDown, keyEnter, keyF2, keyUp, keyEnter)
		tuitest.Wait(3 * time.Second)
		p.wantText("question for s3")
		if got := p.server.subscribed(); !slices.Equal(got, []string{"s3"}) || p.server.peakSubscribers() != 1 {
			t.Errorf("got subscriptions to %v, at most %d at once, want s3 and 1", got, p.server.peakSubscribers())
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
		slow := newFakeServer()
		slow.journal = func(string) *tuitest.Journal { // not caught up
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
		p.server.sessions["s1"].Feed <- remote.Update{Event: caughtUp}
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
		p.server.sessions["s3"].Feed <- j.Take()[0]
		tuitest.Wait(time.Second)
		p.press(keyEnter)
		p.wantText("answer of s3 and more", "> draft")
		p.press(keyEnter)
		if got := p.server.sessions["s3"].Commands(); len(got) != 1 || got[0].Verb != protocol.DoSend {
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
		if got := p.server.subscribed(); !slices.Equal(got, []string{"s3"}) {
			t.Errorf("subscribed soon after it was hidden: got %v, want s3", got)
		}
		tuitest.Wait(2 * time.Second)
		if got := p.server.subscribed(); len(got) > 0 {
			t.Errorf("subscribed a while after it was hidden: got %v, want none", got)
		}
		j := &tuitest.Journal{Seq: 5, At: tuitest.Start, Turn: "turn-m1"}
		j.Add(protocol.TextDelta, protocol.PartDeltaData{Part: "t", Text: " and more"})
		j.CaughtUp()
		for _, u := range j.Take() {
			p.server.sessions["s3"].Feed <- u
		}
		tuitest.Wait(time.Second)
		if n := len(p.server.sessions["s3"].Feed); n != 2 {
			t.Errorf("updates read of a detached session: got %d, want none", 2-n)
		}
		p.press(keyEnter)
		p.wantText("answer of s3 and more", "> draft")
		want := []protocol.Position{{Epoch: "k3f9ab", Seq: 5}}
		if got := p.server.resumptions(); !slices.Equal(got, want) {
			t.Errorf("resumed after %v, want %v", got, want)
		}
		tuitest.Wait(2 * detachAfter)
		if got := p.server.subscribed(); !slices.Equal(got, []string{"s3"}) || p.server.peakSubscribers() != 1 {
			t.Errorf("shown again: got subscriptions to %v, at most %d at once", got, p.server.peakSubscribers())
		}
		p.stop()
	})
}

func TestDetachedSessionShowsItsTranscriptWhileItSubscribes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer()
		server.closeDelay = time.Minute // the next subscription waits for the end of this one
		p := startDashboardOn(t, server, "")
		p.press(keyEnter, keyF2)
		tuitest.Wait(2 * detachAfter)
		p.press(keyEnter)
		p.wantText("answer of s3")
		if got := server.resumptions(); len(got) > 0 {
			t.Errorf("subscribed twice at once, after %v", got)
		}
		tuitest.Wait(time.Minute)
		if got := server.resumptions(); len(got) != 1 {
			t.Errorf("resumed after %v, want one position", got)
		}
		p.stop()
	})
}

func TestPreviewedAndEditingSessionsStayAttached(t *testing.T) {
	d := newTestDashboard(t, 90, 16, testSummaries()...)
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
	d := newTestDashboard(t, 90, 16, testSummaries()...)
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

// A long command of an agent leaves room for the other details.
func TestTheDetailsOfASessionHaveTheNameOfItsAgent(t *testing.T) {
	s := testSummaries()[0]
	s.Agent, s.Clients = "script:/home/ada/a/long/way/to/the/agents/of/the/project/review.script", 2
	d := newTestDashboard(t, 80, 24, s)
	d.wantText("review.script", "2 clients")
	d.wantNoText("a/long/way")
}
