package tui

import (
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/tuitest"
	"agentctl/protocol"
	"agentctl/tui/approval"
	"agentctl/tui/dashboard"
	"agentctl/tui/remote"
)

// port is a fleet of recorded sessions, which counts who is subscribed.
type port struct {
	changes chan dashboard.SummaryUpdate
	links   chan remote.Conn

	mu       sync.Mutex
	sessions map[string]*tuitest.FakeSession
	followed map[string]int // how often Updates was begun, less how often it ended
	reply    func(session string, a tuitest.Command) (any, error)
	asked    []string // session and verb
	looked   []string // Updates begun
	retries  int
	slow     time.Duration // until a session that is left is not followed any more
	most     int           // how often one session was followed at once
	script   func(session string) *tuitest.Journal
	search   func(protocol.SearchData) (protocol.SearchResult, error)
	create   func(protocol.CreateData) (protocol.CreateResult, error)
}

func newPort() *port {
	return &port{
		changes: make(chan dashboard.SummaryUpdate, 64), links: make(chan remote.Conn, 4), sessions: map[string]*tuitest.FakeSession{}, followed: map[string]int{},
	}
}

func (p *port) Watch(ctx context.Context) iter.Seq2[protocol.Summary, error] {
	return func(yield func(protocol.Summary, error) bool) {
		for {
			select {
			case c := <-p.changes:
				if !yield(c.Summary, c.Err) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}

func (p *port) Conns(ctx context.Context) iter.Seq[remote.Conn] {
	return func(yield func(remote.Conn) bool) {
		for {
			select {
			case l := <-p.links:
				if !yield(l) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}

func (p *port) Retry() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.retries++
}

func (p *port) Agents() []string { return []string{"claude", "gemini"} }

func (p *port) Search(_ context.Context, d protocol.SearchData) (protocol.SearchResult, error) {
	if p.search == nil {
		return protocol.SearchResult{}, tuitest.ErrCannotSearch
	}
	return p.search(d)
}

func (p *port) Create(_ context.Context, d protocol.CreateData) (protocol.CreateResult, error) {
	if p.create == nil {
		return protocol.CreateResult{Session: "new"}, nil
	}
	return p.create(d)
}

// berth is a recorded session that tells when it is followed.
type berth struct {
	*tuitest.FakeSession
	port *port
	id   string
}

func (b *berth) Updates(ctx context.Context) iter.Seq[remote.Update] {
	return func(yield func(remote.Update) bool) {
		b.port.count(b.id, 1)
		defer b.port.count(b.id, -1)
		b.FakeSession.Updates(ctx)(yield)
		time.Sleep(b.port.slow) // in virtual time
	}
}

func (p *port) count(id string, by int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.followed[id] += by
	p.most = max(p.most, p.followed[id])
	if by > 0 {
		p.looked = append(p.looked, id)
	}
}

func (p *port) Session(id string) remote.Session {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := tuitest.NewFakeSession()
	p.sessions[id] = r
	if p.reply != nil {
		r.Reply = func(a tuitest.Command) (any, error) {
			p.mu.Lock()
			p.asked = append(p.asked, id+" "+string(a.Verb))
			p.mu.Unlock()
			return p.reply(id, a)
		}
	}
	j := tuitest.NewJournal()
	if p.script != nil {
		j = p.script(id)
	} else {
		j.UserMessage(tuitest.Ada, "m1", "question for "+id)
		j.Text("t", "answer of "+id)
		j.CaughtUp()
	}
	for _, u := range j.Take() {
		r.Feed <- u
	}
	return &berth{r, p, id}
}

// told is what the port was asked: the sessions looked at or followed, and the
// commands.
func (p *port) told() (looked, asked []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.looked), slices.Clone(p.asked)
}

// atOnce is how often one session was followed at once, at most.
func (p *port) atOnce() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.most
}

// subscribed are the sessions that are followed now.
func (p *port) subscribed() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for id, n := range p.followed {
		if n > 0 {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}

func fleetOfFive() []protocol.Summary {
	asked := tuitest.Start.Add(-3 * time.Minute)
	return []protocol.Summary{
		{Session: "s1", Name: "docs", Agent: "claude", Status: protocol.Idle, Updated: tuitest.Start, Reason: protocol.ReasonCompleted, Title: "Write the guide"},
		{Session: "s2", Name: "fix-tests", Agent: "gemini", Status: protocol.Running, Updated: tuitest.Start.Add(time.Minute), Doing: "go test ./...", Queue: 2, Percent: 82},
		{Session: "s3", Name: "release", Agent: "codex", Status: protocol.Waiting, Updated: tuitest.Start, Asked: &asked, Approvals: 1, Doing: "git push --tags", Queue: 1, Held: true, Percent: 38, CWD: "/home/bob/site", Title: "Ship it", Clients: 2},
		{Session: "s4", Name: "old\x1b[2J", Agent: "x", Status: protocol.Closed, Updated: tuitest.Start.Add(-time.Hour)},
		{Session: "s5xyz789", Agent: "claude", Status: protocol.Idle, Updated: tuitest.Start.Add(-time.Minute), Reason: protocol.ReasonError},
	}
}

// table is a desk without a program: keys and time are given to it by hand.
type table struct {
	t      *testing.T
	p      *program
	port   *port
	now    time.Time
	timers []timer // started, and not yet fired
}

// timer is a message to be sent later.
type timer struct {
	after time.Duration
	msg   tea.Msg
}

func newTable(t *testing.T, width, height int, sessions ...protocol.Summary) *table {
	t.Helper()
	b := &table{t: t, port: newPort(), now: tuitest.Start.Add(time.Minute)}
	build := testBuilder(t.Context(), Options{CWD: "/home/ada"}, func() time.Time { return b.now }, func() string { return "client-m1" })
	b.p = build.dashboard(b.port, "")
	b.p.styles.GraphemeWidths = true
	noTimers(b.p)
	b.p.dashboard.After = func(d time.Duration, msg tea.Msg) tea.Cmd {
		b.timers = append(b.timers, timer{d, msg})
		return nil
	}
	t.Cleanup(func() {
		build.cancel()
		build.tasks.Close()
		b.p.sessions.close()
	})
	b.give(tea.WindowSizeMsg{Width: width, Height: height})
	b.give(dashboard.ConnMsg{State: remote.Connected})
	b.tell(sessions...)
	return b
}

// give updates the desk and runs what it asks for.
func (b *table) give(msg tea.Msg) {
	b.t.Helper()
	_, cmd := b.p.Update(msg)
	b.p.View()
	b.run(cmd)
}

func (b *table) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			b.run(c)
		}
	default:
		b.give(msg)
	}
}

func (b *table) tell(sessions ...protocol.Summary) {
	changes := make(dashboard.SummariesMsg, len(sessions))
	for i, s := range sessions {
		changes[i].Summary = s
	}
	b.give(changes)
}

func (b *table) press(keys ...string) {
	b.t.Helper()
	for _, k := range keys {
		b.give(tuitest.KeyPress(k))
	}
}

func (b *table) write(text string) {
	for _, r := range text {
		b.give(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

func (b *table) text() string {
	lines := strings.Split(ansi.Strip(b.p.View().Content), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

func (b *table) shows(want ...string) {
	b.t.Helper()
	for _, w := range want {
		if !strings.Contains(b.text(), w) {
			b.t.Fatalf("the screen does not show %q:\n%s", w, b.text())
		}
	}
}

func (b *table) hides(what string) {
	b.t.Helper()
	if strings.Contains(b.text(), what) {
		b.t.Fatalf("the screen shows %q:\n%s", what, b.text())
	}
}

// asks makes sessions answer: those with an approval pending have the one given.
func (b *table) asks(pending ...protocol.Approval) {
	b.port.reply = func(id string, a tuitest.Command) (any, error) {
		switch a.Verb {
		case protocol.DoSnapshot:
			return protocol.SnapshotResult{Snapshot: protocol.Snapshot{Epoch: "e", State: &protocol.State{Session: id, Approvals: pending}}}, nil
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
	b.port.script = func(string) *tuitest.Journal {
		j := &tuitest.Journal{Seq: 100, At: tuitest.Start}
		j.Pending = remote.Updates{{Attached: &protocol.SubscribeResult{Mode: protocol.ModeSnapshot, After: protocol.Position{Seq: 100}, Snapshot: &protocol.Snapshot{
			State: &protocol.State{Seq: 100, Last: &protocol.LastTurn{Turn: "turn-m1"}},
		}}}}
		j.UserMessage(tuitest.Bob, "m9", "Push the tags.")
		j.Text("t", "They are right.")
		j.QueueMessage(tuitest.Ada, "m10", "And then?")
		j.RequestApproval(tuitest.CommandApproval())
		j.CaughtUp()
		return j
	}
}

func TestGoldenDesk(t *testing.T) {
	for name, prepare := range map[string]func(*table){
		"sessions": func(b *table) { b.press("down") },
		"nobody": func(b *table) {
			for _, s := range fleetOfFive() {
				b.tell(protocol.Summary{Session: s.Session, Deleted: true})
			}
		},
		"preview":   func(b *table) { b.asks(tuitest.CommandApproval()); b.press("space") },
		"found":     func(b *table) { buried(b); b.press("down") },
		"creating":  func(b *table) { b.press("n"); b.write("fix"); b.press("tab", "right", "tab", "tab"); b.write("Fix it") },
		"filtering": func(b *table) { b.press("/"); b.write("claude") },
		"renaming":  func(b *table) { b.press("R"); b.write("-2") },
		"ending":    func(b *table) { b.press("down", "X") },
		"verdict": func(b *table) {
			b.asks(tuitest.CommandApproval())
			b.press("y")
			b.now = b.now.Add(2 * approval.Grace)
			b.armed()
		},
		"lost": func(b *table) {
			b.give(dashboard.ConnMsg{State: remote.Reconnecting, Retry: b.now.Add(3 * time.Second), Attempt: 2})
		},
	} {
		for _, size := range []struct{ width, height int }{{40, 24}, {80, 24}, {200, 40}} {
			t.Run(fmt.Sprintf("desk_%s_%d", name, size.width), func(t *testing.T) {
				b := newTable(t, size.width, size.height, fleetOfFive()...)
				prepare(b)
				got := b.text()
				for line := range strings.Lines(got) {
					if n := ansi.StringWidth(strings.TrimSuffix(line, "\n")); n > size.width {
						t.Errorf("a line of %d cells: %q", n, line)
					}
				}
				if n := strings.Count(got, "\n"); n != size.height {
					t.Errorf("%d rows, want %d", n, size.height)
				}
				tuitest.Golden(t, got)
			})
		}
	}
}

// armed fires the timers of a request that takes no keys yet.
func (b *table) armed() {
	b.t.Helper()
	b.fire(func(m timer) bool { _, ok := m.msg.(approval.GuardMsg); return ok })
}

// tick fires the clock and reports whether it runs.
func (b *table) tick() bool {
	b.t.Helper()
	return b.fire(func(m timer) bool { return m.after == time.Second })
}

// fire fires the timers that match and reports whether there are any.
func (b *table) fire(matches func(timer) bool) (fired bool) {
	b.t.Helper()
	timers := b.timers
	b.timers = nil
	for _, m := range timers {
		if matches(m) {
			fired = true
			b.give(m.msg)
		} else {
			b.timers = append(b.timers, m)
		}
	}
	return fired
}

func TestTheDeskFitsEverySize(t *testing.T) {
	b := newTable(t, 80, 24, fleetOfFive()...)
	b.asks(tuitest.CommandApproval())
	for width := 1; width < 160; width += 7 {
		for _, height := range []int{1, 2, 3, 5, 9, 20} {
			b.give(tea.WindowSizeMsg{Width: width, Height: height})
			for _, key := range []string{"", "space", "n", "esc", "/", "esc", "y", "esc", "X", "esc", "R", "esc", "?", "q", "space"} {
				if key != "" {
					b.press(key)
				}
				view := b.p.View()
				lines := strings.Split(view.Content, "\n")
				if len(lines) > height {
					t.Fatalf("%d rows at %dx%d after %q", len(lines), width, height, key)
				}
				for _, line := range lines {
					if ansi.StringWidth(line) > width {
						t.Fatalf("line %q at %dx%d after %q", line, width, height, key)
					}
				}
				if c := view.Cursor; c != nil && (c.X >= width || c.Y >= height) {
					t.Fatalf("cursor at %d,%d at %dx%d after %q", c.X, c.Y, width, height, key)
				}
			}
		}
	}
}

// deskProgram is a whole desk in a bubble.
type deskProgram struct {
	t     *testing.T
	build *builder
	p     *program
	port  *port
	mu    sync.Mutex
	keys  *io.PipeWriter
	end   func()
}

// guarded lets the test look while the program runs.
type guarded struct{ *deskProgram }

func (g guarded) Init() tea.Cmd {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.p.Init()
}

func (g guarded) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, cmd := g.p.Update(msg)
	return g, cmd
}

func (g guarded) View() tea.View {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.p.View()
}

func openDesk(t *testing.T, first string) *deskProgram {
	t.Helper()
	return openDeskOn(t, newPort(), first)
}

func openDeskOn(t *testing.T, port *port, first string) *deskProgram {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	keys, typing := io.Pipe()
	p := &deskProgram{t: t, port: port, keys: typing}
	p.build = testBuilder(ctx, Options{}, time.Now, func() string { return "new" })
	p.p = p.build.dashboard(p.port, first)
	ended := make(chan error, 1)
	go func() {
		ended <- p.build.runModel(p.p, guarded{p}, tea.WithInput(keys), tea.WithOutput(io.Discard), tea.WithoutSignalHandler(),
			tea.WithWindowSize(90, 16), tea.WithColorProfile(colorprofile.ASCII), tea.WithEnvironment([]string{"TERM=xterm-256color"}))
	}()
	p.end = func() {
		cancel()
		_ = typing.Close() // never fails
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	for _, s := range fleetOfFive() {
		p.port.changes <- dashboard.SummaryUpdate{Summary: s}
	}
	tuitest.Wait(time.Second)
	return p
}

func (p *deskProgram) press(keys ...string) {
	for _, k := range keys {
		if _, err := io.WriteString(p.keys, k); err != nil {
			p.t.Error(err)
		}
		tuitest.Wait(100 * time.Millisecond)
	}
}

func (p *deskProgram) screen() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return ansi.Strip(p.p.View().Content)
}

func (p *deskProgram) shows(want ...string) {
	p.t.Helper()
	for _, w := range want {
		if got := p.screen(); !strings.Contains(got, w) {
			p.t.Fatalf("the screen does not show %q:\n%s", w, got)
		}
	}
}

const (
	keyF2    = "\x1bOQ"
	keyUp    = "\x1b[A"
	keyDown  = "\x1b[B"
	keyEnter = "\r"
)

func TestADraftOutlivesItsSessionsSubscription(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openDesk(t, "")
		p.press(keyEnter)
		s3 := p.port.sessions["s3"]
		s3.Mu.Lock()
		s3.Reply = func(tuitest.Command) (any, error) { return nil, tuitest.ErrRefused }
		s3.Mu.Unlock()
		p.press("refused", keyEnter, "my draft")
		for range 3 {
			p.press(keyF2, keyDown, keyEnter)
		}
		if got := p.port.subscribed(); slices.Contains(got, "s3") {
			t.Fatalf("subscribed to %v: s3 was to go", got)
		}
		p.press(keyF2, keyUp, keyUp, keyUp, keyEnter)
		p.shows("answer of s3", "> refused", "my draft")
		p.end()
	})
}

func TestADeskOpensSessionsAndKeepsThree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openDesk(t, "")
		p.shows("sessions · 5", "1 waiting for you")
		p.press(keyEnter)
		p.shows("question for s3", "answer of s3", "F2 sessions")
		p.press(keyF2, keyDown, keyEnter)
		p.shows("answer of s2", "1 other waiting")
		p.press(keyF2, keyDown, keyEnter)
		if got := p.port.subscribed(); !slices.Equal(got, []string{"s1", "s2", "s3"}) {
			t.Errorf("subscribed to %v", got)
		}
		p.press(keyF2, keyDown, keyEnter)
		p.shows("answer of s5xyz789")
		if got := p.port.subscribed(); !slices.Equal(got, []string{"s1", "s2", "s5xyz789"}) {
			t.Errorf("subscribed to %v: the one shown longest ago was to go", got)
		}
		p.end()
		if got := p.port.subscribed(); len(got) != 0 {
			t.Errorf("still subscribed to %v", got)
		}
	})
}

func TestASessionIsOpenedWhileThePreviewLooksAtIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openDesk(t, "")
		p.port.mu.Lock()
		p.port.script = func(string) *tuitest.Journal { // which is not caught up
			j := tuitest.NewJournal()
			j.UserMessage(tuitest.Ada, "m1", "question")
			return j
		}
		p.port.mu.Unlock()
		p.press(" ")
		p.shows("preview · release")
		if got := p.port.subscribed(); !slices.Equal(got, []string{"s3"}) {
			t.Fatalf("looks at %v", got)
		}
		p.press(keyEnter)
		if got := p.port.subscribed(); !slices.Equal(got, []string{"s3"}) || p.port.atOnce() != 1 {
			t.Errorf("subscribed to %v, up to %d times at once", got, p.port.atOnce())
		}
		if looked, _ := p.port.told(); len(looked) != 2 {
			t.Errorf("followed %v", looked)
		}
		p.end()
	})
}

func TestASessionIsFollowedOnceHoweverFastItIsLeftAndEntered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openDesk(t, "")
		p.port.slow = time.Second
		p.mu.Lock()
		p.p.sessions.keep = 1
		p.mu.Unlock()
		p.press(keyEnter, keyF2, keyDown, keyEnter, keyF2, keyUp, keyEnter)
		tuitest.Wait(3 * time.Second)
		p.shows("question for s3")
		if got := p.port.subscribed(); !slices.Equal(got, []string{"s3"}) || p.port.atOnce() != 1 {
			t.Errorf("subscribed to %v, up to %d times at once", got, p.port.atOnce())
		}
		p.end()
	})
}

func TestADeskBeginsWithTheSessionNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openDesk(t, "s1")
		p.shows("answer of s1", "1 other waiting: F8")
		p.press(keyF2)
		p.shows("sessions · 5", "▸· docs")
		p.end()
	})
}

func TestTheSessionNamedShowsBeforeAllOthersAreToldOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := newPort()
		slow.script = func(string) *tuitest.Journal { // which is not caught up
			j := tuitest.NewJournal()
			j.UserMessage(tuitest.Ada, "m1", "question")
			return j
		}
		p := openDeskOn(t, slow, "s1")
		told := func() bool { p.mu.Lock(); defer p.mu.Unlock(); return p.p.dashboard.List().Total() > 0 }
		if told() {
			t.Error("the others are told of before")
		}
		p.port.sessions["s1"].Feed <- remote.Update{Event: &protocol.Event{Type: protocol.CaughtUp, Data: []byte("{}")}}
		tuitest.Wait(time.Second)
		if !told() {
			t.Error("the others are not told of")
		}
		p.end()
	})
}

func TestAHiddenSessionGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openDesk(t, "")
		p.press(keyEnter, "draft", keyF2)
		j := &tuitest.Journal{Seq: 5, At: tuitest.Start, Turn: "turn-m1"}
		j.Add(protocol.TextDelta, protocol.PartDeltaData{Part: "t", Text: " and more"})
		p.port.sessions["s3"].Feed <- j.Take()[0]
		tuitest.Wait(time.Second)
		p.press(keyEnter)
		p.shows("answer of s3 and more", "> draft")
		p.press(keyEnter)
		if got := p.port.sessions["s3"].Commands(); len(got) != 1 || got[0].Verb != protocol.DoSend {
			t.Errorf("asked %+v", got)
		}
		p.end()
	})
}

func TestTheDeskIsLeftFromEverywhere(t *testing.T) {
	for _, first := range [][]string{nil, {keyEnter}} {
		synctest.Test(t, func(t *testing.T) {
			p := openDesk(t, "")
			p.press(first...)
			p.press("\x03")
			p.shows("press ctrl+c again to leave")
			p.press("\x03")
			tuitest.Wait(time.Second)
			if p.build.ctx.Err() == nil {
				t.Error("the desk is still there")
			}
			p.end()
		})
	}
}
