package review

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentctl/tui/diff"
	"agentctl/tui/filechange"
	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// parse returns the changes of a patch.
func parse(t testing.TB, patch string) *filechange.Changes {
	t.Helper()
	files, ok := diff.Parse(patch)
	if !ok {
		t.Fatal("not a patch")
	}
	return filechange.New(files)
}

// Whatever moves in the changes, the current line is on the screen, and no line counts as read that
// was not drawn.
func TestTheCurrentLineIsOnTheScreen(t *testing.T) {
	moves := []keymap.Action{
		keymap.Up, keymap.Down, keymap.PageUp, keymap.PagerPageDown, keymap.First, keymap.Last,
		keymap.Previous, keymap.Next, keymap.PreviousStep, keymap.NextStep,
	}
	rapid.Check(t, func(r *rapid.T) {
		b := body{styles: ui.NewStyles(time.UTC, "")}
		changes := parse(t, smallPatch+manyFiles(3, 20))
		content := Content{Changes: changes, Comments: &Comments{}}
		if rapid.Bool().Draw(r, "head") {
			content.Head, content.Tail = head{}, head{}
		}
		b.set(content)
		b.list.Resize(80, rapid.IntRange(3, 30).Draw(r, "rows"))
		b.list.ScrollToTop()
		for range rapid.IntRange(1, 30).Draw(r, "steps") {
			unseen := changes.UnseenFiles()
			switch rapid.IntRange(0, 5).Draw(r, "step") {
			case 0:
				b.toggleFold()
			case 1:
				b.scroll(rapid.IntRange(-9, 9).Draw(r, "scroll"))
			case 2:
				b.click(rapid.IntRange(0, 29).Draw(r, "click"))
			case 3:
				b.showUnread()
			default:
				b.act(rapid.SampledFrom(moves).Draw(r, "move"))
			}
			if n := changes.UnseenFiles(); n != unseen {
				r.Fatalf("%d files were read without a drawing", unseen-n)
			}
			lines := b.lines()
			id, top := b.list.TopLine()
			first := transcript.Point{Item: id, Line: top}
			last := b.list.MovePoint(first, len(lines)-1)
			if b.current.Before(first) || last.Before(b.current) {
				r.Fatalf("the current line %v is not in %v to %v", b.current, first, last)
			}
		}
	})
}

// head is a head of two lines.
type head struct{}

func (head) Estimate(int, bool) int { return 2 }
func (head) Block(int, bool) transcript.Block {
	return transcript.Block{Body: []string{"the", "head"}}
}
func (head) Shown(int, int, int)        {}
func (head) Unread() (first, lines int) { return 0, 0 }

func TestALineShowsThePlaceOfItsComment(t *testing.T) {
	comments := &Comments{}
	b := body{styles: ui.NewStyles(time.UTC, "")}
	b.set(Content{Changes: parse(t, manyFiles(2, 3)), Comments: comments})
	b.list.Resize(80, 20)
	if _, reason, ok := b.place(); ok || reason != "select a line of a change to comment on it" {
		t.Errorf("a heading has a place: %q", reason)
	}
	want := Place{Path: "pkg/file1.go", Line: 3, Text: "var v1_1 = 1"}
	p, ok := b.placePoint(1, want)
	if b.show(p); !ok {
		t.Fatal("the place has no line")
	}
	if got, _, ok := b.place(); !ok || got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if _, ok := b.placePoint(0, want); ok {
		t.Error("another file shows the place")
	}
	b.set(Content{Changes: b.content.Changes})
	if _, reason, ok := b.place(); ok || reason == "" {
		t.Error("changes that are not under review have a place")
	}
}

func TestASearchStartsAtThePositionAndEndsWithoutAMatch(t *testing.T) {
	changes := parse(t, manyFiles(2, 3))
	after := func(piece int) func(match) bool { return func(m match) bool { return m.piece >= piece } }
	for _, c := range []struct {
		text    string
		from    int
		matches int
		at      int
		message string
	}{
		{"v0_", 0, 3, 0, ""},
		{"pkg/file", 1, 2, 1, ""},
		{"pkg/file", 1 << 20, 2, 0, ""}, // from the start
		{"", 0, 0, 0, ""},
		{"nowhere", 0, 0, 0, "no match for nowhere"},
	} {
		s := search{styles: ui.NewStyles(time.UTC, ""), text: c.text}
		if got := s.start(changes, nil, after(c.from)); got != c.message || len(s.matches) != c.matches || s.at != c.at {
			t.Errorf("%+v: got message %q, match %d of %d", c, got, s.at, len(s.matches))
		}
		if (s.query != nil) != (c.matches > 0) {
			t.Errorf("%+v: got query %+v", c, s.query)
		}
	}
	s := search{styles: ui.NewStyles(time.UTC, ""), text: "v1_"}
	s.start(changes, nil, after(0))
	for i, want := range []string{"", "", "from the start: match 1 of 3"} {
		if got := s.next(1); got != want {
			t.Errorf("next %d: got %q, want %q", i, got, want)
		}
	}
	if got, want := s.next(-1), fmt.Sprintf("from the end: match %d of %d", 3, 3); got != want || s.at != 2 {
		t.Errorf("got %q at %d, want %q", got, s.at, want)
	}
	s.update(parse(t, manyFiles(2, 1)), nil)
	if len(s.matches) != 1 || s.at != 0 {
		t.Errorf("after a change: got match %d of %d", s.at, len(s.matches))
	}
	if s.update(parse(t, manyFiles(1, 1)), nil); s.query != nil {
		t.Error("a search without a match does not end")
	}
}
