package review

import (
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
			switch rapid.IntRange(1, 5).Draw(r, "step") {
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
	b.act(keymap.Last)
	b.move(-1)
	if got, _, ok := b.place(); !ok || got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	b.set(Content{Changes: b.content.Changes})
	if _, reason, ok := b.place(); ok || reason == "" {
		t.Error("changes that are not under review have a place")
	}
}
