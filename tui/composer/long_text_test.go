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

// slate is a text and a place in it, both all of it.
type slate struct {
	text []rune
	at   int
}

// line is the beginning and the end of the line with the place.
func (s *slate) line(at int) (start, end int) {
	for start = at; start > 0 && s.text[start-1] != '\n'; start-- {
	}
	for end = at; end < len(s.text) && s.text[end] != '\n'; end++ {
	}
	return start, end
}

func (s *slate) insert(r rune) {
	s.text = slices.Insert(s.text, s.at, r)
	s.at++
}

func (s *slate) press(key string) {
	start, end := s.line(s.at)
	switch key {
	case "left":
		s.at = max(0, s.at-1)
	case "right":
		s.at = min(len(s.text), s.at+1)
	case "home":
		s.at = start
	case "end":
		s.at = end
	case "up":
		if start > 0 { // lines are equally long
			s.at, _ = s.line(start - 1)
		}
	case "down":
		if end < len(s.text) {
			s.at = end + 1
		}
	case "backspace":
		if s.at > 0 {
			s.at--
			s.text = slices.Delete(s.text, s.at, s.at+1)
		}
	case "alt+enter":
		s.insert('\n')
	case "alt+<":
		s.at = 0
	case "alt+>":
		s.at = len(s.text)
	default:
		s.insert([]rune(key)[0])
	}
}

func TestADraftIsEditedLikeTheTextItShows(t *testing.T) {
	keys := rapid.SampledFrom([]string{"x", "漢", "left", "right", "end", "up", "up", "down", "down", "backspace", "alt+enter", "alt+<", "alt+>"})
	rapid.Check(t, func(rt *rapid.T) {
		ours := New().area
		ours.SetWidth(250)
		_ = ours.View()
		var text strings.Builder
		for i := range rapid.IntRange(0, 300).Draw(rt, "lines") {
			fmt.Fprintf(&text, "line %d é\n", i)
		}
		whole := slate{text: []rune(text.String())}
		whole.at = rapid.IntRange(0, len(whole.text)).Draw(rt, "at")
		ours.fill(text.String(), len(string(whole.text[:whole.at])))
		for range rapid.IntRange(1, 3).Draw(rt, "steps") {
			key := keys.Draw(rt, "key")
			times := rapid.IntRange(1, 25).Draw(rt, "times")
			if key == "up" || key == "down" {
				ours.press(tuitest.KeyPress("home")) // from there it leads to the beginning of another line
				whole.press("home")
			}
			for range times {
				ours.press(tuitest.KeyPress(key))
				whole.press(key)
			}
			if got, want := ours.Value(), string(whole.text); got != want {
				rt.Fatalf("after %s the text is %q, want %q", key, got, want)
			}
			if got, want := ours.offset(), len(string(whole.text[:whole.at])); got != want {
				rt.Fatalf("after %d times %s the cursor is at %d, want %d", times, key, got, want)
			}
			if n := ours.Length(); n > 8*areaBytes || ours.LineCount() > 8*areaLines {
				rt.Fatalf("the area holds %d characters in %d lines", n, ours.LineCount())
			}
		}
	})
}

func TestALongLineIsCutOnlyForTheArea(t *testing.T) {
	s := New().area
	s.SetWidth(60)
	text := strings.Repeat("漢字 without an end ", 5000)
	s.SetValue(text)
	if s.Value() != text || s.offset() != len(text) || s.Length() > 2*areaBytes {
		t.Fatalf("%d bytes, the cursor at %d, %d characters in the area", len(s.Value()), s.offset(), s.Length())
	}
	for range 150 {
		s.press(tuitest.KeyPress("up"))
	}
	s.press(tuitest.KeyPress("x"))
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
