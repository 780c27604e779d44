package filechange

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"agentctl/tui/diff"
)

// TestALineIsSeenAfterAllOfItWasDrawn draws parts of random layouts, and compares what counts as
// seen with the lines that were drawn completely in one layout.
func TestALineIsSeenAfterAllOfItWasDrawn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var old, text strings.Builder
		for range rapid.IntRange(0, 6).Draw(t, "old lines") {
			old.WriteString(strings.Repeat("o ", rapid.IntRange(0, 60).Draw(t, "length")) + "\n")
		}
		for range rapid.IntRange(0, 6).Draw(t, "new lines") {
			text.WriteString(strings.Repeat("n ", rapid.IntRange(0, 60).Draw(t, "length")) + "\n")
		}
		before := old.String()
		c := New([]diff.File{diff.Compare("a", &before, text.String()), diff.Compare("b", nil, "x\n")})
		seen := map[[2]int]bool{} // piece and line
		for range rapid.IntRange(0, 12).Draw(t, "screens") {
			piece := rapid.IntRange(0, c.Len()-1).Draw(t, "piece")
			width, sideBySide := rapid.SampledFrom([]int{30, 90}).Draw(t, "width"), rapid.Bool().Draw(t, "side by side")
			layout := c.Layout(piece, width, sideBySide)
			drawn := c.coverage[piece].drawn
			from := rapid.IntRange(0, len(layout)).Draw(t, "from")
			c.MarkDrawn(piece, from, rapid.IntRange(from, len(layout)+2).Draw(t, "to"))
			whole := map[int]bool{}
			for i, line := range layout {
				for _, at := range []int{line.Old, line.New} {
					if complete, known := whole[at]; !known || complete {
						whole[at] = drawn[i]
					}
				}
			}
			for at, complete := range whole {
				if complete && at >= 0 {
					seen[[2]int{piece, at}] = true
				}
			}
		}
		for piece := range c.Len() {
			for at := range c.Piece(piece).Len() {
				want := seen[[2]int{piece, at}]
				v := &c.coverage[piece]
				if got := v.seen != nil && v.seen[at+1]; got != want {
					t.Fatalf("piece %d line %d: got seen %v, want %v", piece, at, got, want)
				}
			}
		}
		if piece, line, ok := c.NextUnseen(); ok == c.Complete() || ok && c.coverage[piece].left == 0 || line < 0 {
			t.Fatalf("got next unseen piece %d line %d %v, complete %v", piece, line, ok, c.Complete())
		}
	})
}

func TestChangesAreCompleteAfterEveryLineWasDrawn(t *testing.T) {
	files, _ := diff.Parse("--- a/a\n+++ b/a\n@@ -1,1 +1,1 @@\n-x\n+y\n" +
		"diff --git a/run b/run\nold mode 100644\nnew mode 100755\n")
	c := New(files)
	if c.Len() != 3 {
		t.Fatalf("got %d pieces, want 3", c.Len())
	}
	if got, want := c.Summary(), "2 files +1 −1"; got != want {
		t.Errorf("got summary %q, want %q", got, want)
	}
	for i, want := range []int{2, 2, 1, 0} {
		if i > 0 {
			c.MarkDrawn(i-1, 0, len(c.Layout(i-1, 80, false)))
		}
		if got := c.UnseenFiles(); got != want {
			t.Errorf("after %d pieces: got %d unseen files, want %d", i, got, want)
		}
	}
	if !c.Complete() {
		t.Error("not complete after all pieces were drawn")
	}
}
