package transcript

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/safetext"
)

// layOutOutput returns the lines of a program's output at a width, with styles as tags.
func layOutOutput(out string, width int) []string {
	text := NewTerminalOutput()
	text.Append(out)
	lines, _ := text.Lines(width)
	lines = slices.Clone(lines)
	for i := range lines {
		lines[i] = RenderStyles(lines[i], tagStyles)
	}
	return lines
}

func TestTerminalOutput(t *testing.T) {
	for _, c := range []struct {
		name, out string
		width     int
		want      []string
	}{
		{"lines", "a\r\nb\n\nc\n", 80, []string{"a", "b", "", "c"}},
		{"progress", "10%\r20%\r100%", 80, []string{"100%"}},
		{"shorter progress", "downloading\rdone", 80, []string{"doneloading"}},
		{"erased progress", "downloading\r\x1b[Kdone", 80, []string{"done"}},
		{"erased to the left", "abcd\x1b[2D\x1b[1Kx", 80, []string{"  xd"}},
		{"erased line", "abcd\x1b[2Kx", 80, []string{"    x"}},
		{"backspace", "a/\b-\b\\", 80, []string{"a\\"}},
		{"backspace at the start", "a\b\b\bx", 80, []string{"x"}},
		{"columns", "\x1b[5Gx\x1b[2Gy\x1b[2Cz", 80, []string{" y  z"}},
		{"halves of wide characters overwritten", "漢字\rab\x1b[4Gx", 80, []string{"ab x"}},
		{"wide character over narrow ones", "abcd\x1b[2G漢\x1b[3Gx", 80, []string{"a xd"}},
		{"a cluster in pieces", "👩\u200d🚀e\u0301\rX", 80, []string{"X e\u0301"}},
		{"tabs", "a\tb\r\x1b[2Cx", 80, []string{"a x b"}},
		{"cursor up", "one\ntwo\nthree\x1b[2A\r\x1b[K1\x1b[2B!", 80, []string{"1", "two", "t!ree"}},
		{"several progress lines", "a 1%\nb 1%\n\x1b[2Fa 9%\nb 5%\n", 80, []string{"a 9%", "b 5%"}},
		{"erased below", "a\nb\nc\x1b[2F\x1b[Jx", 80, []string{"x"}},
		{"colours", "\x1b[31mred\x1b[0m \x1b[1;32mok\x1b[m", 80, []string{"<R:red> <bG:ok>"}},
		{"colours continue on the next line", "\x1b[33ma\nb\x1b[39m c", 80, []string{"<Y:a>", "<Y:b> c"}},
		{"colours in a long line", "\x1b[36mabcdef\x1b[mgh", 4, []string{"<C:abcd>", "<C:ef>gh"}},
		{"colours in progress", "\x1b[31m..\r\x1b[32m#", 80, []string{"<G:#><R:.>"}},
		{
			"many colours", "\x1b[38;5;196mr\x1b[38;2;0;200;0mg\x1b[38;5;250mw\x1b[38;5;240md\x1b[94mb",
			80,
			[]string{"<R:r><G:g>w<f:d><B:b>"},
		},
		{"backgrounds", "\x1b[41;37m FAIL \x1b[49m x\x1b[30;47m w \x1b[40m k", 80, []string{"<rR: FAIL > x<r: w > k"}},
		{"attributes", "\x1b[1;3;4;9mx\x1b[22;23;24;29m y\x1b[7m z\x1b[27mw", 80, []string{"<bius:x> y<r: z>w"}},
		{
			"hidden and blinking text", "\x1b[8mhidden\x1b[5mblinks\x1b[30mblack\x1b[37mwhite",
			80,
			[]string{"hiddenblinksblackwhite"},
		},
		{
			"other control sequences", "a\x1b[2Jb\x1b]0;title\ac\x1b[?25ld\x1bPx\x1b\\e\x1b[10;10Hf\u009b5mg\x00\x07h",
			80,
			[]string{"abcdefgh"},
		},
		{"overlong sequence", "\x1b[" + strings.Repeat("1", 70) + "m", 80, []string{"1111111m"}},
		{"bidirectional control", "a\u202eb", 80, []string{"ab"}},
	} {
		if got := layOutOutput(c.out, c.width); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.want)
		}
	}
}

func TestLongOutputKeepsItsStart(t *testing.T) {
	var out strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&out, "line %d\n", i)
	}
	text := NewTerminalOutput()
	text.Append(out.String())
	text.Append("\x1b[999A\rLINE\x1b[999B")
	lines, _ := text.Lines(80)
	const firstLive = 1000 - maxLiveRows + 1
	if len(lines) != 1000 {
		t.Fatalf("got %d lines, want 1000", len(lines))
	}
	if want := fmt.Sprintf("LINE %d", firstLive); lines[0] != "line 0" || lines[firstLive] != want {
		t.Errorf("got %q and %q, want %q and %q", lines[0], lines[firstLive], "line 0", want)
	}
	if got := text.Head(80, 2); !slices.Equal(got, []string{"line 0", "line 1"}) {
		t.Errorf("head: %q", got)
	}
	tail, hidden := text.Tail(80, 2)
	if want := []string{"line 998", "line 999"}; !slices.Equal(tail, want) || hidden != 998 {
		t.Errorf("tail: %q after %d lines, want %q after 998", tail, hidden, want)
	}
	if got := text.String(); !strings.HasPrefix(got, "line 0\nline 1\n") || strings.Contains(got, "\x1b") {
		t.Errorf("text: %.40q", got)
	}
}

func TestRowLengthIsBounded(t *testing.T) {
	text := NewTerminalOutput()
	text.Append(strings.Repeat("x", 3*maxRowCells) + "\rY")
	if n := len(text.terminal.cells); n > maxRowCells {
		t.Errorf("%d live cells, want at most %d", n, maxRowCells)
	}
	if got := text.String(); len(got) != 3*maxRowCells || strings.Count(got, "Y") != 1 {
		t.Errorf("%d bytes with %d Y, want %d with 1", len(got), strings.Count(got, "Y"), 3*maxRowCells)
	}
}

// Short sequences that are expensive for a terminal.
func TestHostileOutputIsFast(t *testing.T) {
	row := strings.Repeat("x", maxRowCells-1) + "\n"
	for _, piece := range []string{
		"\x1b[A\x1b[B", "\x1b[9999Gx\n", "\x1b[9999C", "\n\x1b[A\x1b[J", "\x1b[1K\x1b[9999G", "\x1b[31mx",
		"\x1b[9999A\n", "\r\t", "👩\u200d", "e\u0301", "\x1b[31A\x1b[31B", "\x1b[2K\x1b[9999Gx",
	} {
		text := NewTerminalOutput()
		text.Append(row + row + row)
		start := time.Now()
		text.Append(strings.Repeat(piece, (256<<10)/len(piece)))
		text.Lines(100)
		if took := time.Since(start); took > 30*time.Second {
			t.Errorf("%q took %v", piece, took)
		}
		if n := len(text.String()); n > 4<<20 {
			t.Errorf("%q produced %d bytes", piece, n)
		}
	}
}

func FuzzStreamedTerminalOutputEqualsWhole(f *testing.F) {
	for _, s := range []string{
		"10%\r20%\n\x1b[31mred\x1b[0m\b\bX\n", "漢字\r漢a\tb\rx\x1b[3G字", "a\nb\nc\x1b[2A\x1b[Jd\x1b[2B",
		"👩\u200d🚀\b\b🇩🇪🇫\r🇷", "\x1b[48;5;200mx\x1b[7;38;2;1;2;3my\x1b]8;;u\x07z\x1b]8;;\x07",
		"\x1b[1Kx\x1b[2Ky\x1b[10Cz\x1b[Kw\u0301", "plain\nlines\n" + strings.Repeat("n\n", maxLiveRows) + "\x1b[40Ax",
	} {
		f.Add(s, 7, uint8(20))
		f.Add(s, 3, uint8(3))
	}
	f.Fuzz(func(t *testing.T, s string, seed int, width uint8) {
		whole, streamed := NewTerminalOutput(), NewTerminalOutput()
		whole.Append(s)
		for _, piece := range splitRandomly(s, seed) {
			streamed.Append(piece)
			streamed.Lines(int(width))
		}
		want, _ := whole.Lines(int(width))
		want = slices.Clone(want)
		got, _ := streamed.Lines(int(width))
		if !slices.Equal(got, want) {
			t.Fatalf("width %d: streamed\n%q\nwhole\n%q", width, got, want)
		}
		for _, line := range want {
			if cells := ansi.StringWidth(line); cells > max(int(width), 2) {
				t.Fatalf("width %d: line %q has %d cells", width, line, cells)
			}
			RenderStyles(line, func(text string, style Style) string {
				if style&^(Strong|Emphasis|Faint|Underline|Reverse|Strikethrough|hues) != 0 {
					t.Fatalf("line %q has style %x", line, style)
				}
				return text
			})
			if strings.ContainsFunc(StripStyles(line), safetext.IsControl) {
				t.Fatalf("control character in %q", line)
			}
			if open := strings.LastIndex(line, "\x1b["); open >= 0 && !strings.HasPrefix(line[open:], markEnd) {
				t.Fatalf("line %q does not end its style", line)
			}
		}
		if strings.Contains(streamed.String(), "\x1b") {
			t.Fatalf("text contains marks: %q", streamed.String())
		}
		streamed.Close()
		if closed, _ := streamed.Lines(int(width)); !slices.Equal(closed, want) {
			t.Fatalf("closed\n%q\nwant\n%q", closed, want)
		}
		if tail, _ := whole.Tail(int(width), 1<<20); !slices.Equal(tail, want) {
			t.Fatalf("tail\n%q\nwant\n%q", tail, want)
		}
	})
}

// The cost of an append must not depend on the length of the output.
func BenchmarkStreamTerminalOutput(b *testing.B) {
	for _, before := range []int{1_000, 10_000_000} {
		b.Run(fmt.Sprint(before), func(b *testing.B) {
			text := NewTerminalOutput()
			text.Append(strings.Repeat("ok  \tpkg/store\t0.812s\n", before/21))
			text.Lines(100)
			for b.Loop() {
				text.Append("\x1b[32mok\x1b[m  \tpkg/store\t0.812s\n")
				text.Lines(100)
			}
		})
	}
}

func BenchmarkTerminalOutput1MB(b *testing.B) {
	for name, s := range map[string]string{
		"plain": "ok  \tpkg/store\t0.812s\n", "colours": "\x1b[32mok\x1b[m  \tpkg/store\t0.812s\n",
		"progress": "downloading 10%\rdownloading 20%\r", "wide": "漢字漢字漢字\n",
	} {
		b.Run(name, func(b *testing.B) {
			s := strings.Repeat(s, (1<<20)/len(s))
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				text := NewTerminalOutput()
				text.Append(s)
				text.Lines(100)
			}
		})
	}
}
