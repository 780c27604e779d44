package transcript

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// sign is a source that one can go to.
type sign struct {
	counted
	kind, also AnchorKind
}

func (s *sign) Anchor() (AnchorKind, string) { return s.kind, s.name }
func (s *sign) AltAnchor() AnchorKind        { return s.also }
func (s *sign) is(kind AnchorKind) bool      { return s.kind == kind || s.also == kind }

func TestLandmarksAreFoundWhateverIsAdded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		calls, made := 0, 0
		l := NewList(1 << 20)
		l.Resize(40, 10)
		var items []*sign // as on the list
		add := func(front bool) {
			made++
			s := &sign{counted{fmt.Sprint(made), 1, &calls}, AnchorKind(rapid.IntRange(0, 3).Draw(t, "kind")), AnchorKind(rapid.IntRange(0, 3).Draw(t, "also"))}
			if front {
				l.Prepend(s, false)
				items = append([]*sign{s}, items...)
			} else {
				l.Append(s, false)
				items = append(items, s)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"append":  func(*rapid.T) { add(false) },
			"prepend": func(*rapid.T) { add(true) },
			"forget": func(t *rapid.T) {
				if n := rapid.IntRange(0, len(items)).Draw(t, "how many"); n < len(items) {
					l.DropBefore(l.First() + ID(n))
					items = items[n:]
				}
			},
			"become": func(t *rapid.T) {
				if len(items) == 0 {
					return
				}
				i := rapid.IntRange(0, len(items)-1).Draw(t, "which")
				if s := items[i]; s.also == 0 {
					s.also = AnchorKind(rapid.IntRange(1, 3).Draw(t, "what"))
				}
				l.UpdateAnchor(l.First() + ID(i))
			},
			"": func(t *rapid.T) {
				for i, s := range items {
					if id, ok := l.FindAnchor(s.name); !ok || l.Item(id) != Item(s) {
						t.Fatalf("%s is at %d, %v", s.name, id, ok)
					}
					for kind := AnchorKind(1); kind <= 3; kind++ {
						want := slices.IndexFunc(items[i+1:], func(s *sign) bool { return s.is(kind) })
						got, ok := l.NextAnchor(kind, l.First()+ID(i), 1)
						if ok != (want >= 0) || ok && l.Item(got) != Item(items[i+1+want]) {
							t.Fatalf("after %d comes %d, %v", i, got, ok)
						}
						last := -1
						for j := range items[:i] {
							if items[j].is(kind) {
								last = j
							}
						}
						got, ok = l.NextAnchor(kind, l.First()+ID(i), -1)
						if ok != (last >= 0) || ok && l.Item(got) != Item(items[last]) {
							t.Fatalf("before %d comes %d, %v", i, got, ok)
						}
					}
				}
				if _, ok := l.FindAnchor("0"); ok {
					t.Fatal("what was never there has a place")
				}
			},
		})
	})
}

func TestWhatWasForgottenHasNoName(t *testing.T) {
	calls := 0
	l := NewList(1 << 20)
	for i := range 5 {
		l.Append(&sign{counted{fmt.Sprint(i), 1, &calls}, 1, 0}, false)
	}
	l.DropBefore(3)
	if _, ok := l.FindAnchor("2"); ok {
		t.Error("it still has one")
	}
	if id, ok := l.FindAnchor("3"); !ok || id != 0 {
		t.Errorf("the first is %d, %v", id, ok)
	}
}

func TestMovingByLinesIsMovingInAllLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		calls := 0
		l := NewList(1 << 20)
		l.Resize(40, rapid.IntRange(1, 9).Draw(t, "height"))
		var all []Point
		var text []string
		for i := range rapid.IntRange(1, 12).Draw(t, "items") {
			c := &counted{fmt.Sprint(i), rapid.IntRange(0, 4).Draw(t, "lines"), &calls}
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
			t.Fatalf("%d lines from %v is %v, want %v", by, all[from], got, all[want])
		}
		l.EnsureVisible(all[want])
		if lines := l.Lines(); !slices.Contains(lines, text[want]) {
			t.Fatalf("%q is not on the screen: %q", text[want], lines)
		}
		a, b := all[from], all[want]
		lines, more := l.TextBetween(a, b, 1<<20)
		if more || !slices.Equal(lines, text[min(from, want):max(from, want)+1]) {
			t.Fatalf("between %v and %v is %q", a, b, lines)
		}
		if some, more := l.TextBetween(a, b, 5); len(some) > 1 || more != (strings.Join(text[min(from, want):max(from, want)+1], "\n")+"\n" != strings.Join(append(some, ""), "\n")) {
			t.Fatalf("five bytes of it are %q, %v", some, more)
		}
	})
}

func TestChosenLinesAreDressed(t *testing.T) {
	calls := 0
	l := filled(20, 3, &calls)
	l.SetRangeHighlight(Point{19, 1}, Point{18, 2}, func(line string) string { return "[" + line + "]" })
	got := l.Lines()
	if want := []string{"[ 18.2]", "[ 19.0]", "[ 19.1]", " 19.2"}; !slices.Equal(got[6:], want) {
		t.Errorf("%q", got)
	}
	l.SetRangeHighlight(Point{}, Point{}, nil)
	if got := l.Lines(); got[9] != " 19.2" || got[8] != " 19.1" {
		t.Errorf("%q", got)
	}
}

func TestCodeBlocks(t *testing.T) {
	for src, want := range map[string][]string{
		"":                                 nil,
		"no `code` here":                   nil,
		"```\na\n\n  b\n```\n":             {"a\n\n  b\n"},
		"x\n~~~go\na\n```\n~~~\n```\nopen": {"a\n```\n", "open"},
		"- item\n    ```sh\n    make\n      it\n  x\n    ```\n": {"make\n  it\nx\n"},
		"````\n```\n````":    {"```\n"},
		"```a`b```\nx":       nil,
		"```\n```\n":         {""},
		"text\n``` go run\n": {""},
	} {
		if got := CodeBlocks(src); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", src, got, want)
		}
	}
}

func FuzzCodeBlocks(f *testing.F) {
	f.Add("a\n```go\nx\n```\n")
	f.Add("   ~~~\n\t~~~~")
	f.Fuzz(func(t *testing.T, src string) {
		size := 0
		for _, block := range CodeBlocks(src) {
			size += len(block)
		}
		if size > len(src) {
			t.Errorf("the code of %q is longer than it", src)
		}
	})
}

func TestABlockEndsAtABlankLineAndAtTheHead(t *testing.T) {
	l := NewList(1 << 20)
	l.Resize(40, 10)
	l.Append(fixed{Block{Header: []string{"", " who"}, Body: []string{"a", "b", "", "c", "d"}, Footer: []string{"  why"}}}, false)
	for line, want := range map[int][2]int{0: {0, 0}, 1: {1, 1}, 2: {2, 3}, 3: {2, 3}, 4: {4, 4}, 5: {5, 6}, 6: {5, 6}, 7: {7, 7}} {
		from, to := l.Paragraph(Point{0, line})
		if from.Line != want[0] || to.Line != want[1] {
			t.Errorf("around line %d: %d to %d, want %v", line, from.Line, to.Line, want)
		}
	}
	l.Lines()
	if n := l.CountLines(Point{0, 6}, Point{0, 2}); n != 5 {
		t.Errorf("%d lines are between", n)
	}
	if p := l.BodyStart(0); p != (Point{0, 2}) {
		t.Errorf("the body begins at %v", p)
	}
}

// fixed is a source of one block.
type fixed struct{ block Block }

func (f fixed) Block(int, bool) Block  { return f.block }
func (f fixed) Estimate(int, bool) int { return 1 }
