package transcript

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "agentctl/internal/dev/golden" // the flag -update
)

// countingItem is an item of numbered lines that counts calls.
type countingItem struct {
	name   string
	height int
	calls  *int
}

func (c *countingItem) Block(_ int, collapsed bool) Block {
	*c.calls++
	lines := make([]string, c.height)
	for i := range lines {
		lines[i] = fmt.Sprintf(" %s.%d", c.name, i)
	}
	if collapsed {
		lines = lines[:1]
	}
	return Block{Body: lines}
}

func (c *countingItem) Estimate(int, bool) int {
	*c.calls++
	return 2
}

func newTestList(n, height int, calls *int) *List {
	l := NewList(1 << 20)
	l.Resize(40, 10)
	for i := range n {
		l.Append(&countingItem{name: fmt.Sprint(i), height: height, calls: calls}, false)
	}
	return l
}

func TestListFollowsEnd(t *testing.T) {
	calls := 0
	l := newTestList(5, 3, &calls)
	want := []string{" 1.2", " 2.0", " 2.1", " 2.2", " 3.0", " 3.1", " 3.2", " 4.0", " 4.1", " 4.2"}
	if got := l.Lines(); !slices.Equal(got, want) {
		t.Fatalf("got %q, want %q", got, want)
	}
	l.Append(&countingItem{name: "new", height: 1, calls: &calls}, false)
	if got := l.Lines(); got[9] != " new.0" {
		t.Fatalf("last line is not of the new item: %q", got)
	}
}

func TestScrolledListKeepsItsPlace(t *testing.T) {
	calls := 0
	l := newTestList(50, 3, &calls)
	l.Scroll(-31)
	before := l.Lines()
	l.Append(&countingItem{name: "below", height: 7, calls: &calls}, false)
	l.Prepend(&countingItem{name: "above", height: 9, calls: &calls}, false)
	l.Invalidate(l.First())
	l.Invalidate(l.Last())
	if after := l.Lines(); !slices.Equal(before, after) {
		t.Fatalf("the window moved from %q to %q", before, after)
	}
	if l.Following() {
		t.Error("still following after scrolling up")
	}
	l.Scroll(1000)
	if !l.Following() || l.Lines()[9] != " below.6" {
		t.Errorf("not following after scrolling past the end: %q", l.Lines())
	}
}

func TestTailIgnoresScrollPosition(t *testing.T) {
	calls := 0
	l := newTestList(50, 3, &calls)
	l.ScrollToTop()
	l.SelectItem(l.First())
	before := l.Lines()
	if got, want := l.Tail(20, 4), []string{" 48.2", " 49.0", " 49.1", " 49.2"}; !slices.Equal(got, want) {
		t.Errorf("tail: %q, want %q", got, want)
	}
	if after := l.Lines(); !slices.Equal(before, after) || l.Following() {
		t.Errorf("the window moved from %q to %q", before, after)
	}
}

func TestShortListStartsAtTop(t *testing.T) {
	calls := 0
	l := newTestList(2, 2, &calls)
	want := []string{" 0.0", " 0.1", " 1.0", " 1.1", "", "", "", "", "", ""}
	l.Scroll(-5)
	if got := l.Lines(); !slices.Equal(got, want) {
		t.Fatalf("got %q, want %q", got, want)
	}
	if !l.AtTop() {
		t.Error("AtTop is false with the first line visible")
	}
}

func TestCollapseKeepsTopLine(t *testing.T) {
	calls := 0
	l := newTestList(20, 4, &calls)
	l.SelectItem(5)
	first := l.Lines()[0]
	l.SetCollapsed(5, true)
	if got := strings.Join(l.Lines(), "|"); strings.Contains(got, "5.1|") || !strings.Contains(got, "5.0|") {
		t.Errorf("item 5 is not collapsed: %s", got)
	}
	l.SetCollapsed(5, false)
	if got := l.Lines()[0]; got != first {
		t.Errorf("first line %q, want %q", got, first)
	}
}

func TestSelectionIsMarkedAndVisible(t *testing.T) {
	calls := 0
	l := newTestList(30, 3, &calls)
	l.Lines()
	l.MoveSelection(-1)
	for range 12 {
		l.MoveSelection(-1)
	}
	if id, ok := l.Selected(); !ok || id != 17 {
		t.Fatalf("selected %d, %v; want 17", id, ok)
	}
	if got := l.Lines(); !slices.Contains(got, selectionBar+"17.0") || !slices.Contains(got, selectionBar+"17.2") {
		t.Errorf("the selected item is not visible with its bar: %q", got)
	}
}

func TestSelectLineCentersIt(t *testing.T) {
	calls := 0
	l := newTestList(30, 30, &calls)
	line, ok := l.FindLine(12, 0, 1, func(s string) bool { return strings.Contains(s, "12.17") })
	if !ok || line != 17 {
		t.Fatalf("found line %d, %v; want 17", line, ok)
	}
	l.SelectLine(12, line)
	l.SetHighlight(strings.ToUpper)
	if got := l.Lines()[5]; got != selectionBar+"12.17" {
		t.Errorf("middle line: %q", got)
	}
	if _, ok := l.FindLine(12, 0, 1, func(string) bool { return false }); ok {
		t.Error("FindLine found a line without match")
	}
	l.SelectLine(0, 0)
	if got := l.Lines()[0]; got != selectionBar+"0.0" {
		t.Errorf("first line: %q", got)
	}
}

// After any operations, and with wrong estimates, the drawn lines are a window of all lines.
func TestLinesAreWindowOfAllLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		calls, names := 0, 0
		l := NewList(rapid.SampledFrom([]int{1, 500, 1 << 20}).Draw(t, "cache"))
		l.Resize(20, 5)
		newItem := func(t *rapid.T) *countingItem {
			names++
			return &countingItem{name: fmt.Sprint(names), height: rapid.IntRange(0, 7).Draw(t, "height"), calls: &calls}
		}
		l.Append(newItem(t), false)
		pick := func(t *rapid.T) ID {
			return ID(rapid.IntRange(int(l.First()), int(l.Last())).Draw(t, "item"))
		}
		allLines := func() (lines []string, points []Point) {
			for id := l.First(); id <= l.Last(); id++ {
				for i, line := range l.Item(id).Block(20, false).Body {
					lines, points = append(lines, line), append(points, Point{id, i})
				}
			}
			return lines, points
		}
		first := func() int { // index of the first visible line in all lines
			lines, _ := allLines()
			return slices.Index(lines, strings.Replace(l.Lines()[0], selectionBar, " ", 1))
		}
		t.Repeat(map[string]func(*rapid.T){
			"append":  func(t *rapid.T) { l.Append(newItem(t), false) },
			"prepend": func(t *rapid.T) { l.Prepend(newItem(t), false) },
			"scroll": func(t *rapid.T) {
				by, before := rapid.IntRange(-20, 20).Draw(t, "lines"), first()
				l.Scroll(by)
				lines, _ := allLines()
				if want := max(0, min(before+by, len(lines)-l.height)); len(lines) > l.height && first() != want {
					t.Fatalf("scrolled by %d from line %d to %d of %d", by, before, first(), len(lines))
				}
			},
			"ensure visible": func(t *rapid.T) {
				lines, points := allLines()
				if len(lines) <= l.height {
					return
				}
				at, before := rapid.IntRange(0, len(lines)-1).Draw(t, "line"), first()
				want := before
				switch {
				case at < before:
					want = min(at, len(lines)-l.height)
				case at >= before+l.height:
					want = at - l.height + 1
				}
				if l.EnsureVisible(points[at]); first() != want {
					t.Fatalf("line %d of %d: scrolled from %d to %d, want %d", at, len(lines), before, first(), want)
				}
			},
			"select item": func(t *rapid.T) {
				id := pick(t)
				l.SelectItem(id)
				lines, points := allLines()
				from := slices.Index(points, Point{id, 0})
				if len(lines) <= l.height || from < 0 {
					return
				}
				at, h := first(), len(l.Item(id).Block(20, false).Body)
				if from < at || from >= at+l.height || h <= l.height && from+h > at+l.height {
					t.Fatalf("item %d has lines %d to %d, visible are %d to %d", id, from, from+h, at, at+l.height)
				}
			},
			"resize": func(t *rapid.T) { l.Resize(20, rapid.IntRange(1, 9).Draw(t, "rows")) },
			"select": func(t *rapid.T) { l.MoveSelection(rapid.IntRange(-2, 2).Draw(t, "by")) },
			"drop":   func(t *rapid.T) { l.DropBefore(pick(t)) },
			"top":    func(*rapid.T) { l.ScrollToTop() },
			"bottom": func(*rapid.T) { l.ScrollToBottom() },
			"invalidate": func(t *rapid.T) {
				id := pick(t)
				l.Item(id).(*countingItem).height = rapid.IntRange(0, 7).Draw(t, "height")
				l.Invalidate(id)
			},
			"": func(t *rapid.T) {
				all, points := allLines()
				screen := l.Lines()
				if len(screen) != l.height {
					t.Fatalf("%d rows, want %d", len(screen), l.height)
				}
				for i, line := range screen {
					screen[i] = strings.Replace(line, selectionBar, " ", 1)
				}
				if len(all) <= l.height {
					for len(all) < l.height {
						all = append(all, "")
					}
					if !slices.Equal(screen, all) {
						t.Fatalf("screen %q, want all of %q", screen, all)
					}
					return
				}
				at := slices.Index(all, screen[0])
				for row := range screen {
					id, ok := l.ItemAt(row)
					if p := points[max(at, 0)+row]; !ok || id != p.Item || l.PointAt(row) != p {
						t.Fatalf("row %d: item %d, point %v, want %v", row, id, l.PointAt(row), p)
					}
				}
				blank := len(l.Item(l.First()).Block(20, false).Body) == 0 // the first item has no lines
				if _, ok := l.ItemAt(l.height); ok || l.AtTop() != (at == 0) && !blank {
					t.Fatalf("at line %d: AtTop %v, item below the window %v", at, l.AtTop(), ok)
				}
				if at < 0 || !slices.Equal(screen, all[at:at+len(screen)]) {
					t.Fatalf("screen %q is not a window of %q", screen, all)
				}
				if l.Following() && at+len(screen) != len(all) {
					t.Fatalf("following, but the end is not visible")
				}
			},
		})
	})
}

// The work per frame must not depend on the number of items.
func TestFrameCostIsIndependentOfLength(t *testing.T) {
	work := map[int]int{}
	for _, n := range []int{1_000, 100_000} {
		calls := 0
		l := newTestList(n, 3, &calls)
		l.Lines()
		calls = 0
		for range 20 {
			l.Append(&countingItem{name: "new", height: 3, calls: &calls}, false)
			l.Invalidate(l.Last())
			l.Lines()
			l.Scroll(-25)
			l.Lines()
			l.Position()
			l.MoveSelection(-1)
			l.SetCollapsed(l.Last(), true)
			l.ItemAt(4)
			l.Resize(40+calls%2, 10)
			l.Lines()
			l.AtTop()
			l.ScrollToTop()
			l.Lines()
			l.ScrollToBottom()
			l.Lines()
		}
		work[n] = calls
	}
	if work[1_000] > 2_000 || work[100_000] > work[1_000]*11/10 {
		t.Errorf("%d calls of items with 1,000 items, %d with 100,000", work[1_000], work[100_000])
	}
}

func TestCacheKeepsBudget(t *testing.T) {
	calls := 0
	l := NewList(4_000)
	l.Resize(40, 10)
	for i := range 200 {
		l.Append(&countingItem{name: fmt.Sprint(i), height: 3, calls: &calls}, false)
	}
	for range 60 {
		l.Scroll(-7)
		l.Lines()
	}
	if l.cache.used > 4_000 {
		t.Errorf("the cache holds %d bytes of a budget of 4000", l.cache.used)
	}
	if l.cache.order.Len() != len(l.cache.byKey) {
		t.Errorf("%d entries in order, %d by key", l.cache.order.Len(), len(l.cache.byKey))
	}
	calls = 0
	l.Lines()
	l.Lines()
	if calls != 0 {
		t.Errorf("an unchanged window made %d calls of items", calls)
	}
}

func TestWideLinesAreTruncated(t *testing.T) {
	l := NewList(1 << 20)
	l.Resize(3, 2)
	l.Append(staticItem{"漢字", "\x1b[31mabcdef\x1b[0m"}, false)
	if got := l.Lines(); got[0] != "漢" || !strings.HasPrefix(got[1], "\x1b[31mabc") || strings.Contains(got[1], "d") {
		t.Errorf("lines are not truncated: %q", got)
	}
}

type staticItem []string

func (s staticItem) Block(int, bool) Block  { return Block{Body: s} }
func (s staticItem) Estimate(int, bool) int { return len(s) }

func TestRangeHighlight(t *testing.T) {
	calls := 0
	l := newTestList(20, 3, &calls)
	l.SetRangeHighlight(Point{19, 1}, Point{18, 2}, func(line string) string { return "[" + line + "]" })
	got := l.Lines()
	if want := []string{"[ 18.2]", "[ 19.0]", "[ 19.1]", " 19.2"}; !slices.Equal(got[6:], want) {
		t.Errorf("got %q", got)
	}
	l.SetRangeHighlight(Point{}, Point{}, nil)
	if got := l.Lines(); got[9] != " 19.2" || got[8] != " 19.1" {
		t.Errorf("got %q", got)
	}
}

func BenchmarkFrame(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			calls := 0
			l := newTestList(n, 3, &calls)
			l.Resize(200, 60)
			for b.Loop() {
				l.Invalidate(l.Last())
				l.Lines()
			}
		})
	}
}
