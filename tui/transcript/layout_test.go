package transcript

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestPointsAndTextMatchAllLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		calls := 0
		l := NewList(1 << 20)
		l.Resize(40, rapid.IntRange(1, 9).Draw(t, "height"))
		var all []Point
		var text []string
		for i := range rapid.IntRange(1, 12).Draw(t, "items") {
			c := &countingItem{fmt.Sprint(i), rapid.IntRange(0, 4).Draw(t, "lines"), &calls}
			id := l.Append(c, false)
			for line := range c.height {
				all = append(all, Point{id, line})
				text = append(text, fmt.Sprintf(" %d.%d", i, line))
			}
		}
		if len(all) == 0 {
			return
		}
		from := rapid.IntRange(0, len(all)-1).Draw(t, "from")
		by := rapid.IntRange(-60, 60).Draw(t, "by")
		want := min(max(from+by, 0), len(all)-1)
		got := l.Clamp(l.MovePoint(all[from], by))
		if got != all[want] && !(want == 0 && len(text) > 0 && got.Line == 0 && got.Before(all[0])) {
			t.Fatalf("MovePoint(%v, %d) = %v, want %v", all[from], by, got, all[want])
		}
		l.EnsureVisible(all[want])
		if lines := l.Lines(); !slices.Contains(lines, text[want]) {
			t.Fatalf("%q is not visible: %q", text[want], lines)
		}
		a, b := all[from], all[want]
		between := text[min(from, want) : max(from, want)+1]
		lines, more := l.TextBetween(a, b, 1<<20)
		if more || !slices.Equal(lines, between) {
			t.Fatalf("text between %v and %v: %q, want %q", a, b, lines, between)
		}
		lines, more = l.TextBetween(a, b, 5)
		if len(lines) > 1 || more == slices.Equal(lines, between) {
			t.Fatalf("at most 5 bytes: %q, %v", lines, more)
		}
	})
}

func TestBodyStartAndCountLines(t *testing.T) {
	l := NewList(1 << 20)
	l.Resize(40, 10)
	l.Append(blockItem{Block{
		Header: []string{"", " header"},
		Body:   []string{"a", "b", "", "c", "d"},
		Footer: []string{"  footer"},
	}}, false)
	l.Lines()
	if n := l.CountLines(Point{0, 6}, Point{0, 2}); n != 5 {
		t.Errorf("CountLines = %d, want 5", n)
	}
	if p := l.BodyStart(0); p != (Point{0, 2}) {
		t.Errorf("BodyStart = %v, want line 2", p)
	}
}

// blockItem is an item with a given block.
type blockItem struct{ block Block }

func (b blockItem) Block(int, bool) Block  { return b.block }
func (b blockItem) Estimate(int, bool) int { return 1 }
