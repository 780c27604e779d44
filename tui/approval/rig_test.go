package approval

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/ui"
)

// testPanel is a panel with the events of a session. The test sends keys and advances time.
type testPanel struct {
	t       *testing.T
	panel   Panel
	styles  *ui.Styles
	state   *protocol.State
	journal *tuitest.Journal
	now     time.Time
	live    bool // the catch-up is over

	width, height int // of the screen
	focused       bool
	overlays      ui.Stack
	status        string

	edit     func(text string) string // the user's editor
	fast     bool                     // keys have no pause between them
	refusal  string                   // the error that decisions get
	noAnswer bool                     // decisions get none
	sent     []protocol.ApproveData   // since the last call of mustDecide
	opened   []string                 // URLs, since the last call of mustOpen
}

// open returns the panel of a session with the pending events of a journal.
func open(t *testing.T, j *tuitest.Journal, width, height int) *testPanel {
	t.Helper()
	s := &testPanel{
		t: t, state: &protocol.State{}, journal: j, now: tuitest.Start.Add(time.Minute), width: width, height: height,
		styles: ui.NewStyles(time.UTC, ""),
	}
	s.styles.Now = func() time.Time { return s.now }
	s.styles.GraphemeWidths = true
	s.panel = NewPanel(s.styles, "")
	s.applyJournal()
	return s
}

// applyJournal applies the pending events of the journal.
func (s *testPanel) applyJournal() {
	s.t.Helper()
	live := s.live
	for _, u := range s.journal.Take() {
		switch {
		case u.Event == nil:
		case u.Event.Type == protocol.CaughtUp:
			s.live = true
		default:
			if err := s.state.Apply(u.Event); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	s.panel.SetPending(s.state.Approvals, s.state.CWD, live)
	s.view()
}

// update gives the panel the requests of the state.
func (s *testPanel) update() { s.panel.SetPending(s.state.Approvals, s.state.CWD, s.live) }

// fireGuard fires the timer of the panel if its deadline has come.
func (s *testPanel) fireGuard() {
	if d := s.panel.Deadline(); !d.IsZero() && !d.After(s.now) {
		r, _ := s.panel.Due()
		if r.Close != nil {
			s.overlays.Remove(r.Close)
		}
		if r.Decide != nil || r.Status != "" {
			s.apply(r)
		}
		s.view()
	}
}

// waitGrace advances time beyond the grace period of new requests.
func (s *testPanel) waitGrace() {
	s.now = s.now.Add(2 * Grace)
	s.fireGuard()
}

// takeFocus gives the keys to the panel, as tab does.
func (s *testPanel) takeFocus() {
	s.panel.Touch()
	s.setFocus()
	s.view()
}

func (s *testPanel) setFocus() {
	if !s.focused {
		s.panel.TakeFocus()
	}
	s.focused = true
}

// focus gives the keys to the panel and waits until it accepts a decision.
func (s *testPanel) focus() {
	s.takeFocus()
	s.waitGrace()
}

// press sends keys by name. Other names are typed as text.
func (s *testPanel) press(names ...string) {
	s.t.Helper()
	for _, name := range names {
		s.pressKey(tuitest.KeyPress(name))
	}
}

func (s *testPanel) typeText(text string) {
	for _, r := range text {
		s.pressKey(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

func (s *testPanel) pressKey(msg tea.KeyPressMsg) {
	s.input(msg, func() Result { return s.pressPanel(msg) })
}

// input passes a key or a click to the overlay on top, or else to the panel.
func (s *testPanel) input(msg tea.Msg, panel func() Result) {
	if !s.fast {
		s.now = s.now.Add(typingPause)
	}
	s.status = ""
	if _, isKey := msg.(tea.KeyPressMsg); isKey || s.overlays.Top() == nil { // a review records its clicks
		s.panel.Touch()
	}
	_, intents, pass := s.overlays.Update(msg)
	for _, intent := range intents {
		if r, ok := intent.(Result); ok {
			s.apply(r)
		}
	}
	if pass {
		s.apply(panel())
	}
	s.view()
	if at := s.panel.decider.guard.held.until; !s.fast && !at.IsZero() {
		s.now = at
		s.fireGuard()
	}
}

func (s *testPanel) pressPanel(msg tea.KeyPressMsg) Result {
	if s.focused && s.panel.Typing() {
		return s.panel.Press(msg)
	}
	if r, handled := s.panel.PressChord(msg.String()); handled || !s.focused {
		return r
	}
	return s.panel.Press(msg)
}

// apply carries out a result of the panel.
func (s *testPanel) apply(r Result) {
	if r.Leave {
		s.focused = false
	}
	if r.Focus {
		s.setFocus()
	}
	s.status = r.Status
	if r.Push != nil {
		s.overlays.Push(r.Push)
	}
	if r.Edit != nil {
		text := s.edit(r.Edit.Text)
		if r.Edit.Returned != nil {
			r.Edit.Returned()
		}
		r.Edit.Done(text)
	}
	if r.Open != "" {
		s.opened = append(s.opened, r.Open)
	}
	if r.Decide != nil {
		s.sent = append(s.sent, *r.Decide)
		if !s.noAnswer {
			s.panel.Decided(r.Decide.Request, s.refusal)
		}
	}
}

func (s *testPanel) paste(text string) {
	s.panel.Paste(text)
	s.view()
}

func (s *testPanel) resize(width, height int) {
	s.width, s.height = width, height
	s.view()
}

// view returns the lines of the overlay on top, or else of the panel.
func (s *testPanel) view() []string {
	if top := s.overlays.Top(); top != nil {
		lines, _ := top.View(s.width, s.height)
		return lines
	}
	return s.lines()
}

// text returns the view, and below it the status message, without styles and trailing spaces.
func (s *testPanel) text() string {
	var out strings.Builder
	for _, line := range append(s.view(), s.status) {
		out.WriteString(strings.TrimRight(ansi.Strip(line), " ") + "\n")
	}
	return out.String()
}

// lines returns the lines of the panel. On a low screen it has all rows, as in a session.
func (s *testPanel) lines() []string {
	left := s.height - 3
	lines, _ := s.panel.View(s.width, max(left-3, min(left, 14)), s.focused)
	return lines
}

// mustShow fails unless every text is on the screen.
func (s *testPanel) mustShow(want ...string) {
	s.t.Helper()
	for _, w := range want {
		if !strings.Contains(s.text(), w) {
			s.t.Fatalf("the screen does not show %q:\n%s", w, s.text())
		}
	}
}

// mustHide fails if a text is on the screen.
func (s *testPanel) mustHide(what string) {
	s.t.Helper()
	if strings.Contains(s.text(), what) {
		s.t.Fatalf("the screen shows %q:\n%s", what, s.text())
	}
}

// mustDecide returns the only decision since the last call.
func (s *testPanel) mustDecide() protocol.ApproveData {
	s.t.Helper()
	sent := s.sent
	s.sent = nil
	if len(sent) != 1 {
		s.t.Fatalf("got decisions %+v, want one:\n%s", sent, s.text())
	}
	return sent[0]
}

// mustOpen returns the only URL that was opened since the last call.
func (s *testPanel) mustOpen() string {
	s.t.Helper()
	opened := s.opened
	s.opened = nil
	if len(opened) != 1 {
		s.t.Fatalf("opened %q, want one:\n%s", opened, s.text())
	}
	return opened[0]
}

// mustNotOpen fails if a URL was opened.
func (s *testPanel) mustNotOpen() {
	s.t.Helper()
	if len(s.opened) > 0 {
		s.t.Fatalf("opened %q:\n%s", s.opened, s.text())
	}
}

// mustNotDecide fails if there was a decision since the last call of mustDecide.
func (s *testPanel) mustNotDecide() {
	s.t.Helper()
	if len(s.sent) > 0 {
		s.t.Fatalf("got decisions %+v, want none:\n%s", s.sent, s.text())
	}
}
