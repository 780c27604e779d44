package transcript

import (
	"slices"
	"strings"
	"testing"

	"agentctl/internal/safetext"
)

// pictureItem has a line of text, two lines of a picture, and a footer with a picture.
type pictureItem struct{}

func (pictureItem) Estimate(int, bool) int { return 5 }

func (pictureItem) Block(int, bool) Block {
	cells := Picture("\x1b[0;38;2;1;2;3m▀▀\x1b[m")
	return Block{
		Header: []string{""}, Body: []string{"words", cells}, Footer: []string{" ▏ " + cells},
		RenderLine: func(line string) string {
			return " ▏ " + RenderStyles(line, func(text string, _ Style) string { return "<" + text + ">" })
		},
	}
}

func TestPicturesAreDrawnAsTheyAreAndHaveNoText(t *testing.T) {
	l := NewList(1 << 20)
	l.Resize(40, 4)
	l.Append(pictureItem{}, false)
	drawn := l.Lines()
	want := " ▏ " + pictureMark + "\x1b[0;38;2;1;2;3m▀▀\x1b[m"
	if drawn[2] != want || drawn[3] != want {
		t.Errorf("drawn %q, want %q", drawn[2:], want)
	}
	if got, _ := l.TextBetween(Point{0, 0}, Point{0, 3}, 1000); !slices.Equal(got, []string{"", "words", "", ""}) {
		t.Errorf("copied %q", got)
	}
	for row, want := range []bool{false, false, true, true, false} {
		if id, ok := l.PictureAt(row); ok != want || id != 0 {
			t.Errorf("row %d: picture %v of item %d, want %v", row, ok, id, want)
		}
	}
}

func TestTextCannotDrawAnImage(t *testing.T) {
	const text = "a\U0010EEEE\u0305\u0305b" + pictureMark + "c"
	if got := Clean(text); got != "a\u0305\u0305bc" {
		t.Errorf("cleaned %q", got)
	}
	if got := Reveal(text); strings.ContainsRune(got, safetext.ImagePlaceholder) || !strings.Contains(got, "‹U+10EEEE›") {
		t.Errorf("revealed %q", got)
	}
	output := NewTerminalOutput()
	output.Append("\x1b[38;2;1;2;3m" + text + "\x1b[m")
	lines, _ := output.Lines(80)
	if all := strings.Join(lines, ""); strings.ContainsRune(all, safetext.ImagePlaceholder) || strings.Contains(all, pictureMark) {
		t.Errorf("output %q", all)
	}
}
