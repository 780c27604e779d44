package transcript

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// counted is a source of numbered lines that counts what is asked of it.
type counted struct {
	name   string
	height int
	calls  *int
}

func (c *counted) Block(_ int, folded bool) Block {
	*c.calls++
	lines := make([]string, c.height)
	for i := range lines {
		lines[i] = fmt.Sprintf(" %s.%d", c.name, i)
	}
	if folded {
		lines = lines[:1]
	}
	return Block{Body: lines}
}

func (c *counted) Estimate(int, bool) int {
	*c.calls++
	return 2
}

func filled(n, height int, calls *int) *List {
	l := NewList(1 << 20)
	l.Resize(40, 10)
	for i := range n {
		l.Append(&counted{name: fmt.Sprint(i), height: height, calls: calls}, false)
	}
	return l
}

func TestListFollowsTheEnd(t *testing.T) {
	calls := 0
	l := filled(5, 3, &calls)
	want := []string{" 1.2", " 2.0", " 2.1", " 2.2", " 3.0", " 3.1", " 3.2", " 4.0", " 4.1", " 4.2"}
	if got := l.Lines(); !slices.Equal(got, want) {
		t.Fatalf("got %q, want %q", got, want)
	}
	l.Append(&counted{name: "new", height: 1, calls: &calls}, false)
	if got := l.Lines(); got[9] != " new.0" {
		t.Fatalf("the new item is not last: %q", got)
	}
}

func TestListStaysWhileTheReaderReads(t *testing.T) {
	calls := 0
	l := filled(50, 3, &calls)
	l.Scroll(-31)
	before := l.Lines()
	l.Append(&counted{name: "below", height: 7, calls: &calls}, false)
	l.Prepend(&counted{name: "above", height: 9, calls: &calls}, false)
	l.Invalidate(l.First())
	l.Invalidate(l.Last())
	if after := l.Lines(); !slices.Equal(before, after) {
		t.Fatalf("the screen moved: %q, then %q", before, after)
	}
	if l.Following() {
		t.Error("it follows although the reader went up")
	}
	l.Scroll(1000)
	if !l.Following() || l.Lines()[9] != " below.6" {
		t.Errorf("scrolling past the end does not follow: %q", l.Lines())
	}
}

func TestTheTailIsDrawnWhereverTheReaderIs(t *testing.T) {
	calls := 0
	l := filled(50, 3, &calls)
	l.ScrollToTop()
	l.SelectItem(l.First())
	before := l.Lines()
	if got, want := l.Tail(20, 4), []string{" 48.2", " 49.0", " 49.1", " 49.2"}; !slices.Equal(got, want) {
		t.Errorf("the tail is %q, want %q", got, want)
	}
	if after := l.Lines(); !slices.Equal(before, after) || l.Following() {
		t.Errorf("the reader's window moved: %q, then %q", before, after)
	}
}

func TestShortListStartsAtTheTop(t *testing.T) {
	calls := 0
	l := filled(2, 2, &calls)
	want := []string{" 0.0", " 0.1", " 1.0", " 1.1", "", "", "", "", "", ""}
	l.Scroll(-5)
	if got := l.Lines(); !slices.Equal(got, want) {
		t.Fatalf("got %q, want %q", got, want)
	}
	if !l.AtTop() {
		t.Error("the first line shows, but AtTop says no")
	}
}

func TestFoldKeepsTheTopOfTheScreen(t *testing.T) {
	calls := 0
	l := filled(20, 4, &calls)
	l.SelectItem(5)
	first := l.Lines()[0]
	l.SetCollapsed(5, true)
	if got := strings.Join(l.Lines(), "|"); strings.Contains(got, "5.1|") || !strings.Contains(got, "5.0|") {
		t.Errorf("item 5 is not folded: %s", got)
	}
	l.SetCollapsed(5, false)
	if got := l.Lines()[0]; got != first {
		t.Errorf("the first line was %q, is %q", first, got)
	}
}

func TestSelectionIsMarkedAndOnScreen(t *testing.T) {
	calls := 0
	l := filled(30, 3, &calls)
	l.Lines()
	l.MoveSelection(-1)
	for range 12 {
		l.MoveSelection(-1)
	}
	if id, ok := l.Selected(); !ok || id != 17 {
		t.Fatalf("selected %d, %v; want 17", id, ok)
	}
	if got := l.Lines(); !slices.Contains(got, selectionBar+"17.0") || !slices.Contains(got, selectionBar+"17.2") {
		t.Errorf("the selected item is not marked on screen: %q", got)
	}
}

func TestALineIsShownInTheMiddle(t *testing.T) {
	calls := 0
	l := filled(30, 30, &calls)
	line, ok := l.FindLine(12, 0, 1, func(s string) bool { return strings.Contains(s, "12.17") })
	if !ok || line != 17 {
		t.Fatalf("found line %d, %v; want 17", line, ok)
	}
	l.SelectLine(12, line)
	l.SetHighlight(strings.ToUpper)
	if got := l.Lines()[5]; got != selectionBar+"12.17" {
		t.Errorf("the middle line is %q", got)
	}
	if _, ok := l.FindLine(12, 0, 1, func(string) bool { return false }); ok {
		t.Error("found what is not there")
	}
	l.SelectLine(0, 0)
	if got := l.Lines()[0]; got != selectionBar+"0.0" {
		t.Errorf("the first line is %q", got)
	}
}

// The screen must always be a window of the whole, whatever was done before,
// with estimates that are wrong.
func TestScreenIsAWindowOfTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		calls, names := 0, 0
		l := NewList(rapid.SampledFrom([]int{1, 500, 1 << 20}).Draw(t, "cache"))
		l.Resize(20, 5)
		source := func(t *rapid.T) *counted {
			names++
			return &counted{name: fmt.Sprint(names), height: rapid.IntRange(0, 7).Draw(t, "height"), calls: &calls}
		}
		l.Append(source(t), false)
		pick := func(t *rapid.T) ID {
			return ID(rapid.IntRange(int(l.First()), int(l.Last())).Draw(t, "item"))
		}
		whole := func() (lines []string, points []Point) {
			for id := l.First(); id <= l.Last(); id++ {
				for i, line := range l.Item(id).Block(20, false).Body {
					lines, points = append(lines, line), append(points, Point{id, i})
				}
			}
			return lines, points
		}
		first := func() int { // which of all lines is the first on the screen
			lines, _ := whole()
			return slices.Index(lines, strings.Replace(l.Lines()[0], selectionBar, " ", 1))
		}
		t.Repeat(map[string]func(*rapid.T){
			"append":  func(t *rapid.T) { l.Append(source(t), false) },
			"prepend": func(t *rapid.T) { l.Prepend(source(t), false) },
			"scroll": func(t *rapid.T) {
				by, before := rapid.IntRange(-20, 20).Draw(t, "lines"), first()
				l.Scroll(by)
				lines, _ := whole()
				if want := max(0, min(before+by, len(lines)-l.height)); len(lines) > l.height && first() != want {
					t.Fatalf("scrolled by %d from line %d to %d of %d", by, before, first(), len(lines))
				}
			},
			"bring": func(t *rapid.T) {
				lines, points := whole()
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
					t.Fatalf("line %d of %d was brought by going from %d to %d, want %d", at, len(lines), before, first(), want)
				}
			},
			"choose one": func(t *rapid.T) {
				id := pick(t)
				l.SelectItem(id)
				lines, points := whole()
				from := slices.Index(points, Point{id, 0})
				if len(lines) <= l.height || from < 0 {
					return
				}
				at, h := first(), len(l.Item(id).Block(20, false).Body)
				if from < at || from >= at+l.height || h <= l.height && from+h > at+l.height {
					t.Fatalf("item %d is lines %d to %d, on the screen are %d to %d", id, from, from+h, at, at+l.height)
				}
			},
			"resize": func(t *rapid.T) { l.Resize(20, rapid.IntRange(1, 9).Draw(t, "rows")) },
			"select": func(t *rapid.T) { l.MoveSelection(rapid.IntRange(-2, 2).Draw(t, "by")) },
			"forget": func(t *rapid.T) { l.DropBefore(pick(t)) },
			"top":    func(*rapid.T) { l.ScrollToTop() },
			"bottom": func(*rapid.T) { l.ScrollToBottom() },
			"touch": func(t *rapid.T) {
				id := pick(t)
				l.Item(id).(*counted).height = rapid.IntRange(0, 7).Draw(t, "height")
				l.Invalidate(id)
			},
			"": func(t *rapid.T) {
				whole, points := whole()
				screen := l.Lines()
				if len(screen) != l.height {
					t.Fatalf("%d rows, want %d", len(screen), l.height)
				}
				for i, line := range screen {
					screen[i] = strings.Replace(line, selectionBar, " ", 1)
				}
				if len(whole) <= l.height {
					for len(whole) < l.height {
						whole = append(whole, "")
					}
					if !slices.Equal(screen, whole) {
						t.Fatalf("screen %q, want all of %q", screen, whole)
					}
					return
				}
				at := slices.Index(whole, screen[0])
				for row := range screen {
					id, ok := l.ItemAt(row)
					if p := points[max(at, 0)+row]; !ok || id != p.Item || l.PointAt(row) != p {
						t.Fatalf("row %d is of item %d, line %v, want %v", row, id, l.PointAt(row), p)
					}
				}
				blank := len(l.Item(l.First()).Block(20, false).Body) == 0 // its first line is not the first of all
				if _, ok := l.ItemAt(l.height); ok || l.AtTop() != (at == 0) && !blank {
					t.Fatalf("at line %d: at the top %v, an item under the window %v", at, l.AtTop(), ok)
				}
				if at < 0 || !slices.Equal(screen, whole[at:at+len(screen)]) {
					t.Fatalf("screen %q is no window of %q", screen, whole)
				}
				if l.Following() && at+len(screen) != len(whole) {
					t.Fatalf("following, but the end is not on screen")
				}
			},
		})
	})
}

// Work per frame must not depend on the number of items.
func TestNothingLoopsOverAllItems(t *testing.T) {
	work := map[int]int{}
	for _, n := range []int{1_000, 100_000} {
		calls := 0
		l := filled(n, 3, &calls)
		l.Lines()
		calls = 0
		for range 20 {
			l.Append(&counted{name: "new", height: 3, calls: &calls}, false)
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
		t.Errorf("sources were asked %d times with 1,000 items, %d with 100,000", work[1_000], work[100_000])
	}
}

func TestCacheKeepsItsBudget(t *testing.T) {
	calls := 0
	l := NewList(4_000)
	l.Resize(40, 10)
	for i := range 200 {
		l.Append(&counted{name: fmt.Sprint(i), height: 3, calls: &calls}, false)
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
		t.Errorf("an unchanged screen rendered %d items again", calls)
	}
}

func TestWideLinesAreCut(t *testing.T) {
	l := NewList(1 << 20)
	l.Resize(3, 2)
	l.Append(static{"漢字", "\x1b[31mabcdef\x1b[0m"}, false)
	if got := l.Lines(); got[0] != "漢" || !strings.HasPrefix(got[1], "\x1b[31mabc") || strings.Contains(got[1], "d") {
		t.Errorf("lines are not cut: %q", got)
	}
}

type static []string

func (s static) Block(int, bool) Block  { return Block{Body: s} }
func (s static) Estimate(int, bool) int { return len(s) }

func BenchmarkFrame(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			calls := 0
			l := filled(n, 3, &calls)
			l.Resize(200, 60)
			for b.Loop() {
				l.Invalidate(l.Last())
				l.Lines()
			}
		})
	}
}
