package transcript

import (
	"slices"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// Every cell of a code block and of a table has the ground, also behind its text.
func TestCodeBlocksAndTablesFillTheirGround(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int // of the ground
		lines int // on the ground
	}{
		{"```go\nx := 1\n\ny\n```", 30, 4},
		{"```\nx\n```", 30, 1},
		{"```go\n漢字漢字漢字漢字漢字漢字漢字漢字\n", 30, 3},
		{"1. a\n   ```\n   x\n   ```", 27, 1},
		{"| a | b |\n|---|---|\n| 1 | [x](http://y) |", 18, 3},
		{"text `code`", 0, 0},
	} {
		var grounds []int
		lines, _ := markdown(c.in).Lines(30)
		for _, line := range lines {
			cells := 0
			for run := range runs(line) {
				if !run.link && run.style&Ground != 0 {
					cells += ansi.StringWidth(run.text)
				}
			}
			if cells > 0 {
				grounds = append(grounds, cells)
			}
		}
		if want := slices.Repeat([]int{c.width}, c.lines); !slices.Equal(grounds, want) {
			t.Errorf("%q: grounds of %v cells, want %v in\n%q", c.in, grounds, want, lines)
		}
	}
}
