package dashboard

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/approval"
	"agentctl/tui/remote"
	"agentctl/tui/task"
	"agentctl/tui/transcriptview"
	"agentctl/tui/ui"
)

var now = time.Date(2026, 3, 4, 9, 41, 0, 0, time.UTC)

// fakeServer answers commands with reply and records them. It sends no summaries.
type fakeServer struct {
	reply func(session string, verb protocol.Verb, data, result any) error

	mu    sync.Mutex
	calls []call
}

// call is a command that a server received.
type call struct {
	session string
	verb    protocol.Verb
	data    any
}

type fakeSession struct {
	remote.Session
	server *fakeServer
	id     string
}

func (s *fakeServer) Watch(context.Context) iter.Seq2[protocol.Summary, error] { panic("not used") }
func (s *fakeServer) Conns(context.Context) iter.Seq[remote.Conn]              { panic("not used") }
func (s *fakeServer) Agents() []string                                         { return []string{"claude"} }
func (s *fakeServer) Sandbox() *protocol.Sandbox                               { return nil }

func (s *fakeServer) Session(id string) remote.Session { return &fakeSession{server: s, id: id} }

func (s *fakeServer) Search(context.Context, protocol.SearchData) (r protocol.SearchResult, err error) {
	return r, errors.ErrUnsupported
}

func (s *fakeServer) Create(context.Context, protocol.CreateData) (r protocol.CreateResult, err error) {
	return r, errors.ErrUnsupported
}

func (s *fakeSession) Do(_ context.Context, verb protocol.Verb, data, result any) error {
	s.server.mu.Lock()
	s.server.calls = append(s.server.calls, call{s.id, verb, data})
	s.server.mu.Unlock()
	if s.server.reply == nil {
		return nil
	}
	return s.server.reply(s.id, verb, data, result)
}

// Updates yields an empty session that is caught up.
func (s *fakeSession) Updates(context.Context) iter.Seq[remote.Update] {
	return func(yield func(remote.Update) bool) {
		j := tuitest.NewJournal()
		j.UserMessage(tuitest.Ada, "m1", "question for "+s.id)
		j.Text("t", "answer of "+s.id)
		j.CaughtUp()
		for _, u := range j.Take() {
			if !yield(u) {
				return
			}
		}
	}
}

// noSessions has no open session.
type noSessions struct{}

func (noSessions) IsOpen(string) bool                                        { return false }
func (noSessions) Transcript(string) (*transcriptview.View, *protocol.State) { return nil, nil }
func (noSessions) Closing(string) <-chan struct{}                            { return nil }
func (noSessions) KeepText(string, string)                                   {}

// rig is a dashboard whose commands run immediately. The test fires the timers.
type rig struct {
	t       *testing.T
	d       *Dashboard
	server  *fakeServer
	intents []any
	timers  []tea.Msg
}

func newRig(t *testing.T, width, height int, sessions ...protocol.Summary) *rig {
	t.Helper()
	fake := &fakeServer{}
	return newRigOf(t, fake, fake, width, height, sessions...)
}

// newRigOf is newRig with a server that uses the fake one.
func newRigOf(
	t *testing.T, server remote.Server, fake *fakeServer, width, height int, sessions ...protocol.Summary,
) *rig {
	t.Helper()
	r := newRigWith(t, server, func(*Config) {})
	r.server = fake
	r.send(tea.WindowSizeMsg{Width: width, Height: height})
	r.send(ConnMsg{State: remote.Connected})
	r.put(sessions...)
	return r
}

// newRigWith returns a rig with a changed configuration that has received nothing.
func newRigWith(t *testing.T, server remote.Server, change func(*Config)) *rig {
	t.Helper()
	r := &rig{t: t}
	start := now
	t.Cleanup(func() { now = start })
	tasks := task.NewRunner(t.Context())
	t.Cleanup(tasks.Close)
	ids := 0
	styles := ui.NewStyles(time.UTC, "")
	styles.GraphemeWidths = true
	styles.Now = func() time.Time { return now }
	c := Config{
		Server: server, Tasks: tasks, Styles: styles, Now: func() time.Time { return now },
		NewID: func() string { ids++; return fmt.Sprint("id", ids) },
		After: func(_ time.Duration, msg tea.Msg) tea.Cmd { r.timers = append(r.timers, msg); return nil },
		CWD:   "/home/ada", Home: "/home/ada", Open: noSessions{},
	}
	change(&c)
	r.d = New(c)
	return r
}

// put sends summaries.
func (r *rig) put(sessions ...protocol.Summary) {
	msg := make(SummariesMsg, len(sessions))
	for i := range sessions {
		msg[i].Summary = sessions[i]
	}
	r.send(msg)
}

func (r *rig) send(msg tea.Msg) {
	cmd, intent := r.d.Update(msg)
	r.d.View()
	if intent != nil {
		r.intents = append(r.intents, intent)
	}
	r.run(cmd)
}

func (r *rig) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			r.run(c)
		}
	default:
		r.send(msg)
	}
}

// fireTimers ends all pending waits and reports whether there were any.
func (r *rig) fireTimers() (fired bool) {
	timers := r.timers
	r.timers = nil
	for _, msg := range timers {
		r.send(msg)
	}
	return len(timers) > 0
}

func (r *rig) press(keys ...string) {
	for _, key := range keys {
		if r.d.screen.Overlays.Top() != nil {
			now = now.Add(approval.Grace / 4) // slower than typed text
		}
		r.send(tuitest.KeyPress(key))
		r.run(r.endHold())
	}
}

// startKey presses a key, and returns the command that sends its decision.
func (r *rig) startKey(key string) (tea.Cmd, any) {
	cmd, intent := r.d.Update(tuitest.KeyPress(key))
	return tea.Batch(cmd, r.endHold()), intent
}

// endHold advances time to the end of the hold of a decision, if there is one.
func (r *rig) endHold() tea.Cmd {
	a := r.d.approvals.shown
	if !r.d.overlays.Contains(a) {
		return nil
	}
	at := a.Deadline()
	if !at.After(now) || at.Sub(now) >= approval.Grace {
		return nil
	}
	now = at
	cmd, _ := r.d.Update(ui.TimerMsg{At: at})
	r.d.View()
	return cmd
}

func (r *rig) typeText(text string) {
	for _, c := range text {
		r.send(tea.KeyPressMsg{Code: c, Text: string(c)})
	}
}

func (r *rig) screen() string { return tuitest.ScreenText(r.d.View()) }

func (r *rig) want(texts ...string) {
	r.t.Helper()
	for _, text := range texts {
		if !strings.Contains(r.screen(), text) {
			r.t.Fatalf("want %q on the screen, got:\n%s", text, r.screen())
		}
	}
}

func (r *rig) wantNo(text string) {
	r.t.Helper()
	if strings.Contains(r.screen(), text) {
		r.t.Fatalf("got %q on the screen, want it absent:\n%s", text, r.screen())
	}
}

// changes returns the calls other than reads, as SESSION VERB.
func (r *rig) changes() []string {
	r.server.mu.Lock()
	defer r.server.mu.Unlock()
	var out []string
	for _, c := range r.server.calls {
		if protocol.CommandOf(c.verb).Changes {
			out = append(out, c.session+" "+string(c.verb))
		}
	}
	return out
}

// sessions returns n sessions in all states, with everything that a row shows.
func sessions(n int) []protocol.Summary {
	agents := []string{"claude", "codex", "gemini"}
	dirs := []string{"/home/ada/store", "/srv/checkouts/team-infrastructure/services/payments/backend", "/home/ada"}
	var out []protocol.Summary
	for i := range n {
		s := protocol.Summary{
			Session: fmt.Sprintf("s%03d", i), Name: fmt.Sprintf("task-%03d", i), Agent: agents[i%3], CWD: dirs[i%3],
			Updated: now.Add(-time.Duration(i) * time.Minute), Reason: protocol.ReasonCompleted, Status: protocol.Idle,
		}
		s.Created = s.Updated.Add(-time.Hour)
		s.Progress = protocol.Progress{
			Turns: i, Percent: float64(i % 90), Tokens: int64(i) * 2345, Cost: float64(i) * 0.13, Currency: "USD",
			Output: fmt.Sprintf("The tests of **part %d** pass `now`.", i),
		}
		switch i % 6 {
		case 1:
			asked := now.Add(-time.Duration(i) * time.Second)
			s.Status, s.Turn, s.Asked, s.Approvals, s.Doing = protocol.Waiting, "t", &asked, 1, "git push --tags"
		case 2:
			s.Status, s.Turn, s.Doing, s.Queue = protocol.Running, "t", "go test ./...", i%4
		case 3:
			s.Reason = protocol.ReasonError
		case 5:
			s.Status = protocol.Closed
		}
		if i%4 == 0 {
			s.Labels = map[string]string{"team": "infra", "ticket": fmt.Sprint(100 + i)}
		}
		if i == 8 {
			s.Parent = "s002"
		}
		out = append(out, s)
	}
	return out
}

func TestGoldenDashboards(t *testing.T) {
	for _, size := range [][2]int{{60, 24}, {80, 24}, {80, 32}, {120, 40}, {200, 60}} {
		for _, n := range []int{12, 304} {
			t.Run(fmt.Sprintf("%dx%d_%d", size[0], size[1], n), func(t *testing.T) {
				r := newRig(t, size[0], size[1], sessions(n)...)
				done := sessions(n)[2]
				done.Status, done.Turn, done.Doing = protocol.Idle, "", ""
				done.Turns++
				r.put(done)
				tuitest.Golden(t, r.screen())
			})
		}
	}
}
