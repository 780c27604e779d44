package filechange

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"agentctl/tui/diff"
)

// Both changes can be read from the comparison, whole and in order.
func TestTwoChangesOfAFileStandAgainstEachOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "-d\n"}), 0, 20).Draw(t, name), "")
		}
		base := text("base")
		left, right := diff.Compare("f", &base, text("left")), diff.Compare("f", &base, text("right"))
		f := Against("f", &left, &right)
		var before, after strings.Builder
		for _, l := range f.Hunks[0].Lines {
			if l.Op != diff.Added {
				before.WriteString(l.Text + "\n")
			}
			if l.Op != diff.Removed {
				after.WriteString(l.Text + "\n")
			}
		}
		if before.String() != patchText(&left) || after.String() != patchText(&right) {
			t.Fatalf("got\n%s\nand\n%s\nof\n%s\nand\n%s", before.String(), after.String(), patchText(&left), patchText(&right))
		}
		if equal := patchText(&left) == patchText(&right); equal != (len(f.Notes) > 0) {
			t.Fatalf("equal %v, notes %q", equal, f.Notes)
		}
	})
}
