package transcript

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestTextWraps(t *testing.T) {
	for _, c := range []struct {
		name  string
		new   func() *Text
		width int
		in    string
		want  []string
	}{
		{"words", NewText, 10, "the quick brown fox", []string{"the quick", "brown fox"}},
		{"exact fit", NewText, 9, "the quick brown", []string{"the quick", "brown"}},
		{"long word", NewText, 5, "ab abcdefghijkl", []string{"ab", "abcde", "fghij", "kl"}},
		{"spaces at a break are dropped", NewText, 4, "abcd     efgh", []string{"abcd", "efgh"}},
		{"indentation stays", NewText, 8, "  a b\n    longerthan", []string{"  a b", "    long", "erthan"}},
		{"wide characters break anywhere", NewText, 5, "漢字漢字", []string{"漢字", "漢字"}},
		{"emoji are two cells", NewText, 4, "👩‍🚀👩‍🚀👩‍🚀", []string{"👩‍🚀👩‍🚀", "👩‍🚀"}},
		{"tabs are spaces", NewText, 20, "a\tb\n\tc", []string{"a   b", "    c"}},
		{"empty lines", NewText, 9, "a\n\nb\n\n\n", []string{"a", "", "b"}},
		{"nothing", NewText, 9, "", nil},
		{"output keeps its columns", NewPreformatted, 6, "ab  cdefgh", []string{"ab  cd", "efgh"}},
		{"width one", NewText, 1, "ab c", []string{"a", "b", "c"}},
	} {
		text := c.new()
		text.Append(c.in)
		if got, _ := text.Lines(c.width); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestTail(t *testing.T) {
	for _, c := range []struct {
		in     string
		n      int
		want   []string
		hidden int
	}{
		{"a\nb\nc", 5, []string{"a", "b", "c"}, 0},
		{"a\nb\nc", 3, []string{"a", "b", "c"}, 0},
		{"a\nb\nc\n\n", 2, []string{"b", "c"}, 1},
		{"a\nb\nc", 1, []string{"c"}, 2},
		{"0123456789abcdefghijk", 1, []string{"k"}, 2}, // one source line, wrapped to three
		{"one\n0123456789abcdefghijk", 2, []string{"abcdefghij", "k"}, 2},
		{"", 2, nil, 0},
	} {
		text := NewPreformatted()
		text.Append(c.in)
		if lines, hidden := text.Tail(10, c.n); !slices.Equal(lines, c.want) || hidden != c.hidden {
			t.Errorf("last %d lines of %q: %q after %d, want %q after %d", c.n, c.in, lines, hidden, c.want, c.hidden)
		}
	}
	text := NewPreformatted()
	text.Append(strings.Repeat("x", 10_000))
	if lines, hidden := text.Tail(10, 2); len(lines) != 2 || hidden == 0 {
		t.Errorf("one long line: %d lines after %d, want 2 after more than 0", len(lines), hidden)
	}
}

func TestTailLaysOutOnlyTheTail(t *testing.T) {
	text := NewPreformatted()
	for i := range 10_000 {
		text.Append(fmt.Sprintf("line %d\n", i))
	}
	lines, hidden := text.Tail(20, 3)
	if want := []string{"line 9997", "line 9998", "line 9999"}; !slices.Equal(lines, want) || hidden != 9997 {
		t.Fatalf("tail %q, hidden %d; want %q, 9997", lines, hidden, want)
	}
	if cost := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			text.Tail(20, 3)
		}
	}).AllocedBytesPerOp(); cost > 10_000 {
		t.Errorf("Tail of a long text allocates %d bytes, want at most 10000", cost)
	}
}

func FuzzStreamedTextEqualsWhole(f *testing.F) {
	for _, s := range []string{
		"the quick brown fox\njumps  over\n\n", "漢字\t漢字 👩‍🚀👩‍🚀", "a\u0301\u0301 ⌚\ufe0e⌚ 🇩🇪🇫🇷🇩",
		"    indented words that go on", "1\ufe0f\u20e3 x", "\x1b[31mred\x1b[0m and\r\nmore", "aaaa bb⌚\ufe0e",
	} {
		f.Add(s, 7, uint8(9), false)
		f.Add(s, 3, uint8(4), true)
	}
	f.Fuzz(func(t *testing.T, s string, seed int, width uint8, preformatted bool) {
		newText := NewText
		if preformatted {
			newText = NewPreformatted
		}
		whole, streamed := newText(), newText()
		whole.Append(s)
		for _, p := range splitRandomly(s, seed) {
			streamed.Append(p)
			streamed.Lines(int(width))
		}
		want, _ := whole.Lines(int(width))
		got, _ := streamed.Lines(int(width))
		if !slices.Equal(got, want) {
			t.Fatalf("width %d: streamed %q\nwhole %q", width, got, want)
		}
		for _, line := range want {
			if cells := ansi.StringWidth(line); cells > max(int(width), 2) {
				t.Fatalf("width %d: line %q has %d cells", width, line, cells)
			}
			if strings.ContainsAny(line, "\t\n\x1b") {
				t.Fatalf("control character in %q", line)
			}
		}
		streamed.Close()
		if closed, _ := streamed.Lines(int(width)); !slices.Equal(closed, want) {
			t.Fatalf("closed text: %q, want %q", closed, want)
		}
		tail, _ := whole.Tail(int(width), 1<<20)
		if !slices.Equal(tail, want) {
			t.Fatalf("tail %q, want %q", tail, want)
		}
	})
}

// The cost of an append must not depend on the length of the text.
func BenchmarkStream(b *testing.B) {
	for _, before := range []int{1_000, 100_000, 10_000_000} {
		b.Run(fmt.Sprint(before), func(b *testing.B) {
			text := NewText()
			text.Append(strings.Repeat("some words of prose ", before/20))
			text.Lines(100)
			for b.Loop() {
				text.Append("delta ")
				text.Lines(100)
			}
		})
	}
}

func BenchmarkWrap100KB(b *testing.B) {
	s := strings.Repeat("some words of prose, ünï 漢字 ", 3_300)
	for b.Loop() {
		text := NewText()
		text.Append(s)
		text.Lines(100)
	}
}
