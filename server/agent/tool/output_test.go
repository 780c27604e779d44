package tool

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The oldest outputs are removed beyond a number and beyond a number of bytes.
func TestLongOutputsAreBounded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ size, saved, kept int }{
		"many":    {shownBytes + 1, maxOutputs + 7, maxOutputs},
		"large":   {maxOutputBytes / 4, 6, 4},
		"too big": {maxOutputBytes + 1, 2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			parent := filepath.Join(t.TempDir(), "outputs")
			o := outputs{parent: parent}
			for n := range c.saved {
				text := strings.Repeat(string(rune('a'+n%26)), c.size)
				if got := o.text([]byte(text)); !strings.Contains(got, outputScheme) {
					t.Fatalf("output %d was not saved: %.200s", n, got)
				}
			}
			files, err := os.ReadDir(o.dir)
			if err != nil || len(files) != c.kept || filepath.Dir(o.dir) != parent {
				t.Errorf("%d files in %s, %v", len(files), o.dir, err)
			}
			for n := 1; n <= c.saved; n++ {
				text, err := o.read(outputScheme + strconv.Itoa(n))
				switch kept := n > c.saved-c.kept; {
				case kept && (err != nil || text != strings.Repeat(string(rune('a'+(n-1)%26)), c.size)):
					t.Errorf("output %d: %v", n, err)
				case !kept && (err == nil || !strings.Contains(err.Error(), "only the newest")):
					t.Errorf("output %d: %v", n, err)
				}
			}
			if err := o.close(); err != nil {
				t.Error(err)
			}
			if left, _ := os.ReadDir(parent); len(left) != 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}
