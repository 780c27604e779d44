package sessionview

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/dev/thorough"
	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/approval"
	"agentctl/tui/remote"
	"agentctl/tui/task"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// testScreen is a view without a Bubble Tea program. The test sends keys and advances time.
type testScreen struct {
	t       *testing.T
	m       *viewRig
	session *tuitest.FakeSession
	journal *tuitest.Journal
	now     time.Time
	ids     int
	timers  []tea.Msg // started and not yet fired
}

// open returns a screen that shows the pending events of a journal.
func open(t *testing.T, j *tuitest.Journal, width, height int) *testScreen {
	t.Helper()
	s := &testScreen{t: t, session: tuitest.NewFakeSession(), journal: j, now: tuitest.Start.Add(time.Minute)}
	s.session.Reply = func(a tuitest.Command) (any, error) {
		switch a.Verb {
		case protocol.DoHistory:
			return protocol.HistoryResult{}, nil
		case protocol.DoSearch:
			return nil, tuitest.ErrCannotSearch
		}
		return nil, nil
	}
	tasks := task.NewRunner(t.Context())
	t.Cleanup(tasks.Close)
	styles := ui.NewStyles(time.UTC, "")
	styles.Now = func() time.Time { return s.now }
	s.m = &viewRig{rigView: New(Config{
		Side:    hiddenSide(),
		Session: s.session,
		Tasks:   tasks,
		Styles:  styles,
		Now:     func() time.Time { return s.now },
		Exec:    tea.Exec,
		Editor:  "vi",
		NewID: func() string {
			s.ids++
			return fmt.Sprintf("client-m%d", 100+s.ids)
		},
		After: func(_ time.Duration, msg tea.Msg) tea.Cmd { // the test fires timers itself
			s.timers = append(s.timers, msg)
			return nil
		},
	})}
	s.m.Styles.GraphemeWidths = true
	s.update(tea.WindowSizeMsg{Width: width, Height: height})
	s.applyJournal()
	return s
}

// openAtEnd returns a screen that attaches to a session at seq. The snapshot is pending in the
// journal until the next call of applyJournal.
func openAtEnd(t *testing.T, seq uint64) *testScreen {
	j := tuitest.NewJournal()
	j.Pending[1].Attached.After.Seq = seq
	j.Pending[1].Attached.Snapshot.State.Seq = seq
	j.Pending = j.Pending[:2]
	j.CaughtUp()
	s := open(t, &tuitest.Journal{At: tuitest.Start}, 60, 20)
	s.journal = j
	return s
}

// applyJournal applies the pending events of the journal.
func (s *testScreen) applyJournal() { s.update(s.journal.Take()) }

// update applies a message, draws, and runs the returned command.
func (s *testScreen) update(msg tea.Msg) {
	s.t.Helper()
	switch msg.(type) {
	case tea.BackgroundColorMsg, tea.ColorProfileMsg, tea.ModeReportMsg: // as the program does
		if !s.m.Styles.Update(msg) {
			return
		}
		msg = ui.RestyleMsg{}
	}
	cmd := s.m.Update(msg)
	s.m.View()
	s.run(cmd)
}

func (s *testScreen) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	s.handle(cmd())
}

// handle applies the message of a command. A batch runs in order.
func (s *testScreen) handle(msg tea.Msg) {
	switch msg := msg.(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			s.run(c)
		}
	default:
		s.update(msg)
	}
}

// waitGrace advances time beyond the grace period of new requests.
func (s *testScreen) waitGrace() {
	s.now = s.now.Add(2 * approval.Grace)
	s.fireGuards()
}

// focusApproval moves the focus to the approval and waits until that accepts a decision.
func (s *testScreen) focusApproval() {
	s.t.Helper()
	s.m.setFocus(onComposer)
	s.press("tab")
	if s.m.focus != onApproval {
		s.t.Fatal("tab does not focus the approval")
	}
	s.waitGrace()
}

// fireGuards fires the timers of the grace periods.
func (s *testScreen) fireGuards() {
	if at := s.m.panels.decision.Deadline(); !at.IsZero() {
		s.update(ui.TimerMsg{At: at})
	}
}

// press sends keys by name. Other names are typed as text.
func (s *testScreen) press(names ...string) {
	s.t.Helper()
	for _, name := range names {
		s.now = s.now.Add(approval.Grace / 4) // slower than a mouse wheel that sends arrow keys, and than typed text
		s.update(tuitest.KeyPress(name))
		s.run(s.endHold())
	}
}

// startKey presses a key, and returns the command that sends its decision.
func (s *testScreen) startKey(name string) tea.Cmd {
	return tea.Batch(s.m.Update(tuitest.KeyPress(name)), s.endHold())
}

// endHold advances time to the end of the hold of a decision, if there is one.
func (s *testScreen) endHold() tea.Cmd {
	at := s.m.panels.decision.Deadline()
	if !at.After(s.now) || at.Sub(s.now) >= approval.Grace {
		return nil
	}
	s.now = at
	cmd := s.m.Update(ui.TimerMsg{At: at})
	s.m.View()
	return cmd
}

// tick ends the pending waits, which include the one of the clock if that runs.
func (s *testScreen) tick() {
	s.t.Helper()
	timers := s.timers
	s.timers = nil
	for _, msg := range timers {
		if _, ok := msg.(ui.TimerMsg); ok {
			s.update(msg)
		} else {
			s.timers = append(s.timers, msg)
		}
	}
}

func (s *testScreen) typeText(text string) {
	for _, r := range text {
		s.update(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

// text returns the screen without styles and trailing spaces.
func (s *testScreen) text() string {
	return tuitest.ScreenText(s.m.View())
}

// mustShow fails unless every text is on the screen.
func (s *testScreen) mustShow(want ...string) {
	s.t.Helper()
	for _, w := range want {
		if !strings.Contains(s.text(), w) {
			s.t.Fatalf("the screen does not show %q:\n%s", w, s.text())
		}
	}
}

// mustHide fails if a text is on the screen.
func (s *testScreen) mustHide(what string) {
	s.t.Helper()
	if strings.Contains(s.text(), what) {
		s.t.Fatalf("the screen shows %q:\n%s", what, s.text())
	}
}

// mustSend returns the data of the only command sent since the last call, history aside. It fails
// unless that command is verb.
func (s *testScreen) mustSend(verb protocol.Verb) any {
	s.t.Helper()
	got := s.session.Commands()
	s.session.Mu.Lock()
	s.session.Sent = nil
	s.session.Mu.Unlock()
	if len(got) != 1 || got[0].Verb != verb {
		s.t.Fatalf("got commands %v, want one %s", got, verb)
	}
	return got[0].Data
}

// mustSendNothing fails if a command other than history was sent since the last mustSend.
func (s *testScreen) mustSendNothing() {
	s.t.Helper()
	if got := s.session.Commands(); len(got) != 0 {
		s.t.Fatalf("got commands %v, want none", got)
	}
}

func TestScreenSizes(t *testing.T) {
	for name, scene := range tuitest.Scenes {
		for _, width := range thorough.Sample([]int{1, 2, 3, 5, 9, 20, 40}, 3) {
			for _, height := range thorough.Sample([]int{1, 2, 3, 4, 7, 12}, 2) {
				s := open(t, scene(), width, height)
				s.waitGrace()
				for _, keys := range [][]string{
					nil,
					{"tab"},
					{"r", "x", "enter"},
					{"tab"},
					{"tab"},
					{"v"},
					{"esc"},
					{"f4"},
					{"down"},
					{"q"},
					{"f3"},
					{"enter"},
					{"q"},
					{"q"},
					{"tab"},
					{"/"},
					{"tab"},
					{"f1"},
				} {
					s.press(keys...)
					s.waitGrace()
					view := s.m.View()
					lines := strings.Split(view.Content, "\n")
					if len(lines) > height {
						t.Fatalf("%s at %dx%d after %v: got %d rows", name, width, height, keys, len(lines))
					}
					for _, line := range lines {
						if ansi.StringWidth(line) > width {
							t.Fatalf("%s at %dx%d after %v: line %q is too wide", name, width, height, keys, line)
						}
					}
					if c := view.Cursor; c != nil && (c.X >= width || c.Y >= height) {
						t.Fatalf("%s at %dx%d after %v: cursor at %d,%d", name, width, height, keys, c.X, c.Y)
					}
				}
			}
		}
	}
}

// TestKeysBeforeWindowSize covers keys typed before the terminal reports its size.
func TestKeysBeforeWindowSize(t *testing.T) {
	for _, scene := range tuitest.Scenes {
		s := open(t, scene(), 80, 24)
		s.waitGrace()
		s.m.canvas.Width, s.m.canvas.Height = 0, 0
		for _, key := range []string{
			"f1", "esc", "f6", "esc", "f4", "esc", "ctrl+f", "a", "enter", "tab", "v", "esc", "space", "y",
		} {
			s.press(key)
			s.m.View()
		}
	}
}

func TestHostileText(t *testing.T) {
	s := open(t, tuitest.Scenes["hostile"](), 100, 60)
	s.waitGrace()
	for _, key := range []string{
		"", "tab", "v", "q", "tab", "tab", "tab", "enter", "v", "q", "f3", "enter", "q", "q", "f4", "q",
		"esc", "/", "tab", "f4",
	} {
		if key != "" {
			s.press(key)
		}
		view := s.m.View()
		bare := ansi.Strip(view.Content) + view.WindowTitle
		for _, bad := range []string{"\x1b", "\u009b", "\u202e", "\a", "owned"} {
			if strings.Contains(bare, bad) {
				t.Fatalf("after %q: %q on the screen:\n%q", key, bad, bare)
			}
		}
		for _, seq := range []string{"\x1b[2J", "\x1b]", "\x1b[8m", "\x1b[5m"} {
			if strings.Contains(view.Content, seq) {
				t.Fatalf("after %q: %q on the screen", key, seq)
			}
		}
	}
	s.press("q", "q", "esc", "esc", "tab")
	s.mustShow("ls␛[8m; rm -rf ~‹U+202E›")
}

func TestNoRedrawWithoutChange(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	s.m.canvas.Dirty = false
	s.update(tea.FocusMsg{})
	s.update(struct{}{})
	if s.m.canvas.Dirty {
		t.Error("a message without effect marks the view dirty")
	}
}

// refuse makes every command but history fail with err.
func (s *testScreen) refuse(err error) {
	s.session.Mu.Lock()
	defer s.session.Mu.Unlock()
	s.session.Reply = func(a tuitest.Command) (any, error) {
		if a.Verb == protocol.DoHistory {
			return protocol.HistoryResult{}, nil
		}
		return nil, err
	}
}

func TestErrorText(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{tuitest.ErrRefused, "observers may not do that"},
		{fmt.Errorf("send: %w", tuitest.ErrRefused), "observers may not do that"},
		{errors.New("no route"), "no route"},
		{context.DeadlineExceeded, "context deadline exceeded"},
		{
			&protocol.Error{
				Code: protocol.CodeConflict, Message: "too late", Winner: &protocol.Winner{By: tuitest.Bob},
			},
			"too late · decided by bob",
		},
	} {
		if got := remote.ErrorText(c.err); got != c.want {
			t.Errorf("ErrorText(%v) = %q, want %q", c.err, got, c.want)
		}
	}
}

func TestCursorPosition(t *testing.T) {
	for name, c := range map[string]struct {
		scene string
		keys  []string
		text  string
	}{
		"a message":           {"transcript", nil, "> hello"},
		"beside a queue":      {"queue", nil, "> hello"},
		"a search":            {"transcript", []string{"ctrl+f"}, "find: hello"},
		"a decision's reason": {"approval", []string{"r"}, "hello"},
	} {
		s := open(t, tuitest.Scenes[c.scene](), 80, 30)
		if c.scene == "approval" {
			s.focusApproval()
		}
		s.press(c.keys...)
		s.typeText("hello")
		at := s.m.View().Cursor
		if at == nil {
			t.Errorf("%s: no cursor", name)
			continue
		}
		line := strings.Split(s.text(), "\n")[at.Y]
		if i := strings.Index(line, c.text); i < 0 || ansi.StringWidth(line[:i+len(c.text)]) != at.X {
			t.Errorf("%s: got cursor at column %d of line %q", name, at.X, line)
		}
	}
}

func TestWindowTitle(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	if got := s.m.View().WindowTitle; got != "agentctl fix-tests · running" {
		t.Errorf("got title %q", got)
	}
}

// unsanitizedItem is an item whose text contains control sequences.
type unsanitizedItem struct{}

func (unsanitizedItem) Block(int, bool) transcript.Block {
	return transcript.Block{Body: []string{"a\x1b[2Jb\x1b]0;owned\x07c"}}
}
func (unsanitizedItem) Estimate(int, bool) int { return 1 }

func TestUnsanitizedItem(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	s.m.transcript.View.List.Append(unsanitizedItem{}, false)
	s.m.canvas.Dirty = true
	view := s.m.View().Content
	if !strings.Contains(view, "owned") || strings.Contains(view, "\x1b[2J") || strings.Contains(view, "\x1b]0;") ||
		strings.Contains(view, "\x07") {
		t.Errorf("got screen %q", view)
	}
}
