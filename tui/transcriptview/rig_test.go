package transcriptview

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/ui"
)

// testView is a transcript with the events of a session.
type testView struct {
	t       *testing.T
	view    *View
	journal *tuitest.Journal
}

// open returns the transcript of the pending events of a journal, on a screen of a size.
func open(t *testing.T, j *tuitest.Journal, width, height int) *testView {
	t.Helper()
	styles := ui.NewStyles(time.UTC, "")
	styles.Now = func() time.Time { return tuitest.Start.Add(time.Minute) }
	styles.GraphemeWidths = true
	s := &testView{t: t, view: New(styles), journal: j}
	s.view.Reset(0, &protocol.State{}, width, height-4)
	s.applyJournal()
	return s
}

// applyJournal applies the pending events of the journal.
func (s *testView) applyJournal() {
	s.t.Helper()
	for _, u := range s.journal.Take() {
		if u.Event == nil || !u.Event.Durable() {
			continue
		}
		if err := s.view.Apply(u.Event); err != nil {
			s.t.Fatal(err)
		}
	}
}

// toggleLast expands the last item, or collapses it.
func (s *testView) toggleLast() {
	id := s.view.List.Last()
	s.view.List.SetCollapsed(id, !s.view.List.Collapsed(id))
}

// expandAll expands all items.
func (s *testView) expandAll() {
	for id := s.view.List.First(); id <= s.view.List.Last(); id++ {
		s.view.List.SetCollapsed(id, false)
	}
}

// content returns the visible lines.
func (s *testView) content() string { return strings.Join(s.view.List.Lines(), "\n") + "\n" }

// text returns the visible lines without styles and trailing spaces.
func (s *testView) text() string {
	lines := strings.Split(ansi.Strip(s.content()), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// mustShow fails unless every text is on the screen.
func (s *testView) mustShow(want ...string) {
	s.t.Helper()
	for _, w := range want {
		if !strings.Contains(s.text(), w) {
			s.t.Fatalf("the screen does not show %q:\n%s", w, s.text())
		}
	}
}

// mustHide fails if a text is on the screen.
func (s *testView) mustHide(what string) {
	s.t.Helper()
	if strings.Contains(s.text(), what) {
		s.t.Fatalf("the screen shows %q:\n%s", what, s.text())
	}
}
