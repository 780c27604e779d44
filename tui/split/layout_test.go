package split

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	_ "agentctl/internal/dev/golden" // the flag -update
)

// drawSize draws the size of a terminal.
func drawSize(t *rapid.T) (width, height int) {
	return rapid.IntRange(1, 250).Draw(t, "width"), rapid.IntRange(1, 80).Draw(t, "height")
}

// change applies a random change to a layout.
func change(t *rapid.T, l Layout) Layout {
	width, height := drawSize(t)
	session := fmt.Sprint("s", rapid.IntRange(1, 6).Draw(t, "session"))
	switch rapid.IntRange(0, 8).Draw(t, "change") {
	case 0:
		return l.Open(session)
	case 1:
		return l.Remove(session)
	case 2:
		return l.ToggleZoom()
	case 3:
		return l.Next()
	case 4:
		return l.Move(Direction(rapid.IntRange(0, 3).Draw(t, "direction")), width, height)
	case 5:
		by := rapid.IntRange(-300, 300).Draw(t, "by")
		return l.Grow(rapid.Bool().Draw(t, "below"), by, width, height)
	case 6:
		a := l.Arrange(width, height)
		for _, b := range a.Borders {
			l, _ = l.Drag(b, rapid.IntRange(-9, 300).Draw(t, "x"), rapid.IntRange(-9, 100).Draw(t, "y"))
		}
		return l
	}
	return l.Split(session, rapid.Bool().Draw(t, "below"))
}

// drawLayout draws a layout that a user can reach.
func drawLayout(t *rapid.T) Layout {
	l := Layout{}
	for range rapid.IntRange(0, 12).Draw(t, "changes") {
		l = change(t, l)
	}
	return l
}

func TestPanesAndBordersCoverEachCellOfTheScreenOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLayout(t)
		width, height := drawSize(t)
		a := l.Arrange(width, height)
		if l.Len() == 0 {
			if len(a.Panes) > 0 {
				t.Fatalf("%d panes of no session", len(a.Panes))
			}
			return
		}
		covered := make([]int, width*height)
		cover := func(r Rect) {
			for y := r.Y; y < r.Y+r.Height; y++ {
				for x := r.X; x < r.X+r.Width; x++ {
					if x < 0 || y < 0 || x >= width || y >= height {
						t.Fatalf("%+v is not on a screen of %d×%d", r, width, height)
					}
					covered[y*width+x]++
				}
			}
		}
		var shown []string
		for _, p := range a.Panes {
			shown = append(shown, p.Session)
			cover(p.Area)
			titled := Rect{p.Area.X, p.Area.Y + 1, p.Area.Width, p.Area.Height - 1}
			if p.Content != p.Area && p.Content != titled {
				t.Fatalf("the content %+v is not that of %+v", p.Content, p.Area)
			}
			if p.Titled() != (l.Len() > 1 && (len(a.Panes) > 1 || height >= minTitledHeight)) {
				t.Fatalf("%+v of %d sessions on %d rows: titled is %v", p, l.Len(), height, p.Titled())
			}
		}
		for _, b := range a.Borders {
			if !b.Below {
				cover(b.Area)
			} else if p := a.At(b.Area.X, b.Area.Y); p == nil || p.Area.Y != b.Area.Y {
				t.Fatalf("the border %+v is not a row of titles", b)
			}
		}
		if i := slices.IndexFunc(covered, func(n int) bool { return n != 1 }); i >= 0 {
			t.Fatalf("cell %d,%d is covered %d times", i%width, i/width, covered[i])
		}
		if all := a.Fits && !l.Zoomed(); all && !slices.Equal(shown, l.Sessions()) ||
			!all && !slices.Equal(shown, []string{l.Focus()}) {
			t.Fatalf("shown are %v, fits %v, zoomed %v", shown, a.Fits, l.Zoomed())
		}
	})
}

func TestNoPaneIsSmallerThanTheMinimum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLayout(t)
		width, height := drawSize(t)
		a := l.Arrange(width, height)
		for _, p := range a.Panes {
			if len(a.Panes) > 1 && (p.Area.Width < MinWidth-1 || p.Area.Height < MinHeight) {
				t.Fatalf("a pane of %+v", p.Area)
			}
		}
		if larger := l.Arrange(MinWidth*MaxPanes, MinHeight*MaxPanes); !larger.Fits {
			t.Fatalf("%v does not fit", l.Sessions())
		}
		if a.Fits && !l.Arrange(width+1, height+1).Fits {
			t.Fatal("fits on a smaller screen only")
		}
	})
}

func TestALayoutHasEachSessionOnceAndOneFocus(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := Layout{}
		for range 20 {
			before := l.Sessions()
			l = change(t, l)
			all := l.Sessions()
			sorted := slices.Sorted(slices.Values(all))
			if len(all) > MaxPanes || len(slices.Compact(sorted)) != len(all) {
				t.Fatalf("%v after %v", all, before)
			}
			if l.Has(l.Focus()) != (len(all) > 0) || l.Zoomed() && len(all) < 2 {
				t.Fatalf("%v with the focus on %q, zoomed %v", all, l.Focus(), l.Zoomed())
			}
		}
	})
}

func TestAStoredLayoutIsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLayout(t)
		stored, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		var read Layout
		if err := json.Unmarshal(stored, &read); err != nil {
			t.Fatalf("%s: %v", stored, err)
		}
		width, height := drawSize(t)
		if got, want := read.Arrange(width, height), l.Arrange(width, height); !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v, want %+v", got, want)
		}
		if read.Focus() != l.Focus() || read.Zoomed() != l.Zoomed() {
			t.Fatalf("got %+v, want %+v", read, l)
		}
	})
}

func TestDataThatIsNoLayoutIsAnError(t *testing.T) {
	for _, data := range []string{
		`[]`, `{"focus":"a","root":{}}`, `{"focus":"b","root":{"session":"a"}}`,
		`{"focus":"a","zoomed":true,"root":{"session":"a"}}`,
		`{"focus":"a","root":{"share":0.5,"first":{"session":"a"},"second":{"session":"a"}}}`,
		`{"focus":"a","root":{"share":1.5,"first":{"session":"a"},"second":{"session":"b"}}}`,
		`{"focus":"a","root":{"share":0.5,"first":{"session":"a"}}}`,
		`{"focus":"a","root":{"share":0.5,"first":{"session":"a"},"second":{"share":0.5,"second":{"session":"b"}}}}`,
	} {
		l := New("x")
		if err := json.Unmarshal([]byte(data), &l); err == nil || l.Focus() != "x" {
			t.Errorf("%s is read as %+v, %v", data, l, err)
		}
	}
}

// grid returns a layout of a and b above c and d, with the focus on a.
func grid() Layout {
	return New("a").Split("b", false).Split("d", true).Open("a").Split("c", true).Open("a")
}

func TestTheFocusMovesToTheNeighbour(t *testing.T) {
	for _, c := range []struct {
		from string
		d    Direction
		want string
	}{
		{"a", Right, "b"},
		{"a", Down, "c"},
		{"a", Left, "a"},
		{"a", Up, "a"},
		{"d", Left, "c"},
		{"d", Up, "b"},
		{"c", Right, "d"},
		{"b", Left, "a"},
	} {
		for _, size := range [][2]int{{200, 60}, {20, 5}} { // also without room for all
			if got := grid().Open(c.from).Move(c.d, size[0], size[1]).Focus(); got != c.want {
				t.Errorf("%v: direction %d of %s: got %s, want %s", size, c.d, c.from, got, c.want)
			}
		}
	}
	columns := New("a").Split("b", false).Split("c", false)
	if got := columns.Open("a").Move(Right, 200, 60).Focus(); got != "b" {
		t.Errorf("right of the first column is %s", got)
	}
	if got := grid().ToggleZoom().Move(Right, 200, 60); got.Focus() != "b" || !got.Zoomed() {
		t.Errorf("moved to %s, zoomed %v", got.Focus(), got.Zoomed())
	}
}

// area returns the area of a session.
func area(l Layout, session string) Rect {
	a := l.Arrange(200, 60)
	for _, p := range a.Panes {
		if p.Session == session {
			return p.Area
		}
	}
	return Rect{}
}

func TestGrowMovesTheNearestBorder(t *testing.T) {
	before := area(grid(), "a")
	for session, want := range map[string][2]int{"a": {4, 2}, "b": {-4, 0}, "c": {4, -2}, "d": {-4, 0}} {
		l := grid().Grow(false, 4, 200, 60).Grow(true, 2, 200, 60)
		from, to := area(grid(), session), area(l, session)
		if got := [2]int{to.Width - from.Width, to.Height - from.Height}; got != want {
			t.Errorf("%s grew by %v, want %v", session, got, want)
		}
	}
	if got := area(grid().Open("d").Grow(false, 7, 200, 60), "d").Width; got != area(grid(), "d").Width+7 {
		t.Errorf("a session on the right is %d wide", got)
	}
	if got := area(grid().Grow(false, 500, 200, 60), "a").Width; got != 200-MinWidth {
		t.Errorf("the width is at most %d, want %d", got, 200-MinWidth)
	}
	if got := area(New("a").Grow(false, 3, 200, 60), "a"); got.Width != 200 {
		t.Errorf("one session gets %+v", got)
	}
	if before.Width != 100 || before.Height != 30 {
		t.Errorf("half of the screen is %+v", before)
	}
}

func TestADraggedBorderIsWhereItWasDropped(t *testing.T) {
	l := grid()
	a := l.Arrange(200, 60)
	b := a.BorderAt(100, 45)
	if b == nil || b.Below {
		t.Fatalf("the border at a column is %+v", b)
	}
	l, _ = l.Drag(*b, 63, 3)
	a = l.Arrange(200, 60)
	if a.BorderAt(63, 0) == nil || area(l, "b").X != 64 {
		t.Errorf("after a drag: %+v", a)
	}
	row := a.BorderAt(10, 30)
	if row == nil || !row.Below {
		t.Fatalf("the border in a row is %+v", row)
	}
	if l, _ = l.Drag(*row, 0, 21); area(l, "c").Y != 21 || area(l, "d").Y != 30 {
		t.Errorf("after a drag: %+v and %+v", area(l, "c"), area(l, "d"))
	}
	if got := a.BorderAt(5, 5); got != nil {
		t.Errorf("the content has the border %+v", got)
	}
}

func TestTheNeighbourOfARemovedSessionGetsSpaceAndFocus(t *testing.T) {
	l := grid().Open("d").ToggleZoom().Remove("d")
	if l.Focus() != "b" || l.Zoomed() || area(l, "b").Height != 60 {
		t.Errorf("the focus is on %s, b has %+v", l.Focus(), area(l, "b"))
	}
	if l = l.Remove("c"); l.Focus() != "b" || area(l, "a").Height != 60 {
		t.Errorf("the focus is on %s, a has %+v", l.Focus(), area(l, "a"))
	}
	if l = l.Keep(func(s string) bool { return s == "a" }); l.Focus() != "a" || l.Len() != 1 {
		t.Errorf("left are %v", l.Sessions())
	}
	if l = l.Remove("a"); l.Len() != 0 || l.Focus() != "" {
		t.Errorf("left are %v", l.Sessions())
	}
}
