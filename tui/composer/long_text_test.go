package composer

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"agentctl/internal/tuitest"
)

// offset is the place of the cursor in all of the text.
func (d *longText) offset() int {
	before, _ := d.split()
	return len(d.above) + len(before)
}

// referenceText is a text and a place in it, both all of it.
type referenceText struct {
	text   []rune
	cursor int
}

// line is the beginning and the end of the line with the place.
func (s *referenceText) line(at int) (start, end int) {
	for start = at; start > 0 && s.text[start-1] != '\n'; start-- {
	}
	for end = at; end < len(s.text) && s.text[end] != '\n'; end++ {
	}
	return start, end
}

func (s *referenceText) insert(r rune) {
	s.text = slices.Insert(s.text, s.cursor, r)
	s.cursor++
}

func (s *referenceText) press(key string) {
	start, end := s.line(s.cursor)
	switch key {
	case "left":
		s.cursor = max(0, s.cursor-1)
	case "right":
		s.cursor = min(len(s.text), s.cursor+1)
	case "home":
		s.cursor = start
	case "end":
		s.cursor = end
	case "up":
		if start > 0 { // lines are equally long
			s.cursor, _ = s.line(start - 1)
		}
	case "down":
		if end < len(s.text) {
			s.cursor = end + 1
		}
	case "backspace":
		if s.cursor > 0 {
			s.cursor--
			s.text = slices.Delete(s.text, s.cursor, s.cursor+1)
		}
	case "alt+enter":
		s.insert('\n')
	case "alt+<":
		s.cursor = 0
	case "alt+>":
		s.cursor = len(s.text)
	default:
		s.insert([]rune(key)[0])
	}
}

func TestLongTextEdits(t *testing.T) {
	keys := rapid.SampledFrom(
		[]string{
			"x",
			"漢",
			"left",
			"right",
			"end",
			"up",
			"up",
			"down",
			"down",
			"backspace",
			"alt+enter",
			"alt+<",
			"alt+>",
		},
	)
	rapid.Check(t, func(rt *rapid.T) {
		ours := New().area
		ours.SetWidth(250)
		_ = ours.View()
		var text strings.Builder
		for i := range rapid.IntRange(0, 300).Draw(rt, "lines") {
			fmt.Fprintf(&text, "line %d é\n", i)
		}
		whole := referenceText{text: []rune(text.String())}
		whole.cursor = rapid.IntRange(0, len(whole.text)).Draw(rt, "at")
		ours.setWindow(text.String(), len(string(whole.text[:whole.cursor])))
		for range rapid.IntRange(1, 3).Draw(rt, "steps") {
			key := keys.Draw(rt, "key")
			times := rapid.IntRange(1, 25).Draw(rt, "times")
			if key == "up" || key == "down" {
				ours.handleKey(tuitest.Press("home")) // from there it leads to the beginning of another line
				whole.press("home")
			}
			for range times {
				ours.handleKey(tuitest.Press(key))
				whole.press(key)
			}
			if got, want := ours.Value(), string(whole.text); got != want {
				rt.Fatalf("after %s the text is %q, want %q", key, got, want)
			}
			if got, want := ours.offset(), len(string(whole.text[:whole.cursor])); got != want {
				rt.Fatalf("after %d times %s the cursor is at %d, want %d", times, key, got, want)
			}
			if n := ours.Length(); n > 8*windowBytes || ours.LineCount() > 8*windowLines {
				rt.Fatalf("the area holds %d characters in %d lines", n, ours.LineCount())
			}
		}
	})
}

func TestLongTextSingleLongLine(t *testing.T) {
	s := New().area
	s.SetWidth(60)
	text := strings.Repeat("漢字 without an end ", 5000)
	s.SetValue(text)
	if s.Value() != text || s.offset() != len(text) || s.Length() > 2*windowBytes {
		t.Fatalf("%d bytes, the cursor at %d, %d characters in the area", len(s.Value()), s.offset(), s.Length())
	}
	for range 150 {
		s.handleKey(tuitest.Press("up"))
	}
	s.handleKey(tuitest.Press("x"))
	if got := strings.Replace(s.Value(), "x", "", 1); got != text {
		t.Error("walking up and writing changed more than a letter")
	}
	if at := s.offset(); at > len(text)-5_000 {
		t.Errorf("150 rows up the cursor is at %d of %d", at, len(text))
	}
	s.Reset()
	if !s.empty() || s.Value() != "" {
		t.Error("something is left")
	}
}
