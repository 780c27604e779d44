package composer

import (
	"strings"
	"testing"

	"agentctl/internal/dev/tuitest"
)

func TestALongPasteIsShownAsItsNumberOfLines(t *testing.T) {
	c := New()
	shown := func() string {
		lines, _ := c.View(60, 8)
		return strings.Join(lines, "\n")
	}
	paste := strings.Repeat("a line\twith a tab\n", 5000)
	c.Paste("Look: ")
	c.Paste(paste)
	if got, want := shown(), " > Look: [5,000 lines]\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	c.Paste("Why?")
	if got, want := shown(), " > Look: [5,000 lines]\n   Why?"; got != want {
		t.Errorf("after more text: got\n%s\nwant\n%s", got, want)
	}
	lines, cursor := c.View(60, 8)
	if cursor == nil || cursor.Y != 1 || cursor.X != 7 {
		t.Errorf("the cursor is at %+v of %q", cursor, lines)
	}
	if want := "Look: " + strings.ReplaceAll(paste, "\t", "    ") + "Why?"; c.Text() != want {
		t.Error("the text has changed")
	}
	c.MoveCursor(0)
	c.Paste("Hm. ")
	if got, want := shown(), " > Hm. Look: [5,000 lines]\n   Why?"; got != want {
		t.Errorf("after text before it: got\n%s\nwant\n%s", got, want)
	}
	c.MoveCursor(len("Hm. Look: "))
	c.Press(tuitest.KeyPress("right"))
	if got := shown(); strings.Contains(got, "lines]") || !strings.Contains(got, "a line    with") {
		t.Errorf("with the cursor in the paste: got\n%s", got)
	}
	c.Clear()
	c.Paste(strings.Repeat("x\n", foldedLines-2) + "x")
	if got := shown(); strings.Contains(got, "lines]") {
		t.Errorf("a short paste is folded:\n%s", got)
	}
}
