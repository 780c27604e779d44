package tui

import (
	"context"
	"errors"
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

	"agentctl/protocol"
)

// port is a fleet of recorded sessions, which counts who is subscribed.
type port struct {
	changes chan rosterChange

	mu       sync.Mutex
	sessions map[string]*recording
	followed map[string]int // how often Updates was begun, less how often it ended
}

func newPort() *port {
	return &port{changes: make(chan rosterChange, 64), sessions: map[string]*recording{}, followed: map[string]int{}}
}

func (p *port) Watch(ctx context.Context) iter.Seq2[protocol.Summary, error] {
	return func(yield func(protocol.Summary, error) bool) {
		for {
			select {
			case c := <-p.changes:
				if !yield(c.summary, c.err) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}

// berth is a recorded session that tells when it is followed.
type berth struct {
	*recording
	port *port
	id   string
}

func (b *berth) Updates(ctx context.Context) iter.Seq[Update] {
	return func(yield func(Update) bool) {
		b.port.count(b.id, 1)
		defer b.port.count(b.id, -1)
		b.recording.Updates(ctx)(yield)
	}
}

func (p *port) count(id string, by int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.followed[id] += by
}

func (p *port) Session(id string) Session {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := newRecording()
	p.sessions[id] = r
	j := newJournal()
	j.user(ada, "m1", "question for "+id)
	j.say("t", "answer of "+id)
	j.caughtUp()
	for _, u := range j.take() {
		r.updates <- u
	}
	return &berth{r, p, id}
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
	asked := dawn.Add(-3 * time.Minute)
	return []protocol.Summary{
		{Session: "s1", Name: "docs", Agent: "claude", Status: protocol.Idle, Updated: dawn, Reason: protocol.ReasonCompleted, Title: "Write the guide"},
		{Session: "s2", Name: "fix-tests", Agent: "gemini", Status: protocol.Running, Updated: dawn.Add(time.Minute), Doing: "go test ./...", Queue: 2},
		{Session: "s3", Name: "release", Agent: "codex", Status: protocol.Waiting, Updated: dawn, Asked: &asked, Approvals: 1, Doing: "git push --tags", Queue: 1, Held: true},
		{Session: "s4", Name: "old\x1b[2J", Agent: "x", Status: protocol.Closed, Updated: dawn.Add(-time.Hour)},
		{Session: "s5xyz789", Agent: "claude", Status: protocol.Idle, Updated: dawn.Add(-time.Minute), Reason: protocol.ReasonError},
	}
}

func TestGoldenRoster(t *testing.T) {
	for _, width := range []int{40, 80, 200} {
		t.Run(fmt.Sprintf("sessions_%d", width), func(t *testing.T) {
			d := newDesk(t.Context(), newPort(), newLook(time.UTC, ""), Options{}, time.Now, func() string { return "" })
			d.Update(tea.WindowSizeMsg{Width: width, Height: 10})
			var changes rosterMsg
			for _, s := range fleetOfFive() {
				changes = append(changes, rosterChange{summary: s})
			}
			d.Update(changes)
			d.Update(press("down"))
			got := ansi.Strip(d.View().Content)
			for line := range strings.Lines(got) {
				if n := ansi.StringWidth(strings.TrimSuffix(line, "\n")); n > width {
					t.Errorf("a line of %d cells: %q", n, line)
				}
			}
			golden(t, strings.ReplaceAll(got+"\n", " \n", "\n"))
		})
	}
}

func TestTheRosterFitsEverySize(t *testing.T) {
	d := newDesk(t.Context(), newPort(), newLook(time.UTC, ""), Options{}, time.Now, func() string { return "" })
	for _, s := range fleetOfFive() {
		d.Update(rosterMsg{{summary: s}})
	}
	for width := 1; width < 70; width += 3 {
		for _, height := range []int{1, 2, 3, 9} {
			d.Update(tea.WindowSizeMsg{Width: width, Height: height})
			lines := strings.Split(d.View().Content, "\n")
			if len(lines) > height {
				t.Fatalf("%d rows at %dx%d", len(lines), width, height)
			}
			for _, line := range lines {
				if ansi.StringWidth(line) > width {
					t.Fatalf("line %q at %dx%d", line, width, height)
				}
			}
		}
	}
}

// deskProgram is a whole desk in a bubble.
type deskProgram struct {
	t    *testing.T
	desk *desk
	port *port
	mu   sync.Mutex
	keys *io.PipeWriter
	end  func()
}

// guarded lets the test look while the program runs.
type guarded struct{ *deskProgram }

func (g guarded) Init() tea.Cmd { return nil }

func (g guarded) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, cmd := g.desk.Update(msg)
	return g, cmd
}

func (g guarded) View() tea.View {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.desk.View()
}

func openDesk(t *testing.T) *deskProgram {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	keys, typing := io.Pipe()
	p := &deskProgram{t: t, port: newPort(), keys: typing}
	p.desk = newDesk(ctx, p.port, newLook(time.UTC, ""), Options{}, time.Now, func() string { return "new" })
	ended := make(chan error, 1)
	go func() {
		ended <- runDesk(ctx, p.desk, guarded{p}, tea.WithInput(keys), tea.WithOutput(io.Discard), tea.WithoutSignalHandler(),
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
		p.port.changes <- rosterChange{summary: s}
	}
	pass(time.Second)
	return p
}

func (p *deskProgram) press(keys ...string) {
	for _, k := range keys {
		if _, err := io.WriteString(p.keys, k); err != nil {
			p.t.Error(err)
		}
		pass(100 * time.Millisecond)
	}
}

func (p *deskProgram) screen() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return ansi.Strip(p.desk.View().Content)
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
		p := openDesk(t)
		p.press(keyEnter)
		s3 := p.port.sessions["s3"]
		s3.mu.Lock()
		s3.reply = func(asking) (any, error) { return nil, errRefused }
		s3.mu.Unlock()
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
		p := openDesk(t)
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

func TestAHiddenSessionGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openDesk(t)
		p.press(keyEnter, "draft", keyF2)
		j := &journal{seq: 5, at: dawn, turn: "turn-m1"}
		j.add(protocol.TextDelta, protocol.PartDeltaData{Part: "t", Text: " and more"})
		p.port.sessions["s3"].updates <- j.take()[0]
		pass(time.Second)
		p.press(keyEnter)
		p.shows("answer of s3 and more", "> draft")
		p.press(keyEnter)
		if got := p.port.sessions["s3"].commands(); len(got) != 1 || got[0].verb != protocol.DoSend {
			t.Errorf("asked %+v", got)
		}
		p.end()
	})
}

func TestTypingNarrowsTheRosterDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openDesk(t)
		p.press("D", "o", "c")
		p.shows("only “Doc”", "docs")
		if strings.Contains(p.screen(), "release") {
			t.Errorf("the roster is not narrowed:\n%s", p.screen())
		}
		p.press("x")
		p.shows("none of that name")
		p.press("\x7f", keyEnter)
		p.shows("answer of s1")
		p.end()
	})
}

func TestTheRosterFollowsChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openDesk(t)
		p.port.changes <- rosterChange{summary: protocol.Summary{Session: "s3", Deleted: true}}
		asked := dawn
		p.port.changes <- rosterChange{summary: protocol.Summary{Session: "s1", Name: "docs", Status: protocol.Waiting, Approvals: 2, Asked: &asked, Updated: dawn}}
		pass(time.Second)
		p.shows("sessions · 4", "2 approvals since 09:41")
		if strings.Contains(p.screen(), "release") {
			t.Errorf("the deleted session is still there:\n%s", p.screen())
		}
		p.port.changes <- rosterChange{err: errors.New("no route")}
		pass(time.Second)
		p.shows("offline: no route")
		p.end()
	})
}

func TestTheDeskIsLeftFromEverywhere(t *testing.T) {
	for _, first := range [][]string{nil, {keyEnter}} {
		synctest.Test(t, func(t *testing.T) {
			p := openDesk(t)
			p.press(first...)
			p.press("\x03")
			p.shows("press ctrl+c again to leave")
			p.press("\x03")
			pass(time.Second)
			if p.desk.ctx.Err() == nil {
				t.Error("the desk is still there")
			}
			p.end()
		})
	}
}
