package composer

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

func TestADrawingIsKeptUntilTheComposerChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kept, drawn := New(), New()
		width, rows := 20, 4
		for range rapid.IntRange(1, 12).Draw(t, "changes") {
			var change func(*Composer)
			switch n := rapid.IntRange(1, foldedLines+1).Draw(t, "n"); rapid.IntRange(0, 12).Draw(t, "change") {
			case 0:
				width, rows = n, rapid.IntRange(1, 9).Draw(t, "rows")
			case 1:
				change = func(c *Composer) { c.SetFocus(n%2 == 0) }
			case 2:
				change = func(c *Composer) { c.Paste(strings.Repeat("pasted\n", n)) }
			case 3:
				change = func(c *Composer) { c.SetShell(!c.Shell) }
			case 4:
				change = func(c *Composer) { c.Edit("message", "queued") }
			case 5:
				change = func(c *Composer) { c.LeaveEdit() }
			case 6:
				change = func(c *Composer) { c.KeepInHistory(); c.Clear() }
			case 7:
				change = func(c *Composer) { c.Recall(1, protocol.Actor{}) }
			case 8:
				change = func(c *Composer) { c.MoveCursor(0); c.ReplaceWord("word") }
			case 9:
				change = func(c *Composer) { c.Restore("restored") }
			default:
				key := rapid.SampledFrom([]string{
					"a", " ", "alt+enter", "left", "up", "down", "backspace", "ctrl+w", "ctrl+y",
				}).Draw(t, "key")
				change = func(c *Composer) { c.Press(tuitest.KeyPress(key)) }
			}
			if change != nil {
				change(&kept)
				change(&drawn)
			}
			for range rapid.IntRange(0, 4).Draw(t, "frames") {
				drawn.area.changed = true
				got, cursor := kept.View(width, rows)
				want, wantCursor := drawn.View(width, rows)
				if got, want := strings.Join(got, "\n"), strings.Join(want, "\n"); got != want {
					t.Fatalf("got\n%s\nwant\n%s", got, want)
				}
				if (cursor == nil) != (wantCursor == nil) || cursor != nil && *cursor != *wantCursor {
					t.Fatalf("got the cursor %v, want %v", cursor, wantCursor)
				}
			}
		}
	})
}
