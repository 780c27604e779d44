package composer

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"agentctl/internal/dev/thorough"
	"agentctl/internal/dev/tuitest"
)

func init() { thorough.Checks(40, 100) }

// offset returns the byte offset of the cursor in the whole text.
func (t *longText) offset() int {
	before, _ := t.split()
	return len(t.above) + len(before)
}

// referenceText is a simple editor to compare longText with. cursor is an index of text.
type referenceText struct {
	text   []rune
	cursor int
}

// line returns the start and the end of the line at an index.
func (s *referenceText) line(at int) (start, end int) {
	for start = at; start > 0 && s.text[start-1] != '\n'; start-- {
	}
	for end = at; end < len(s.text) && s.text[end] != '\n'; end++ {
	}
	return start, end
}

// insert inserts a character at the cursor.
func (s *referenceText) insert(r rune) {
	s.text = slices.Insert(s.text, s.cursor, r)
	s.cursor++
}

// press applies a key.
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
		if start > 0 { // the cursor is at the start of its line
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
	keys := rapid.SampledFrom([]string{
		"x", "漢", "left", "right", "end", "up", "up", "down", "down", "backspace", "alt+enter", "alt+<", "alt+>",
	})
	rapid.Check(t, func(rt *rapid.T) {
		edited := New().area
		edited.SetWidth(250)
		_ = edited.View()
		var text strings.Builder
		for i := range rapid.IntRange(0, 300).Draw(rt, "lines") {
			fmt.Fprintf(&text, "line %d é\n", i)
		}
		reference := referenceText{text: []rune(text.String())}
		reference.cursor = rapid.IntRange(0, len(reference.text)).Draw(rt, "at")
		edited.SetText(text.String(), len(string(reference.text[:reference.cursor])))
		for range rapid.IntRange(1, 3).Draw(rt, "steps") {
			key := keys.Draw(rt, "key")
			times := rapid.IntRange(1, 25).Draw(rt, "times")
			if key == "up" || key == "down" {
				edited.Handle(tuitest.KeyPress("home")) // up and down then move between starts of lines
				reference.press("home")
			}
			for range times {
				edited.Handle(tuitest.KeyPress(key))
				reference.press(key)
			}
			if got, want := edited.Value(), string(reference.text); got != want {
				rt.Fatalf("after %s: got text %q, want %q", key, got, want)
			}
			if got, want := edited.offset(), len(string(reference.text[:reference.cursor])); got != want {
				rt.Fatalf("after %d times %s: got cursor %d, want %d", times, key, got, want)
			}
			if n := edited.Length(); n > 8*windowBytes || edited.LineCount() > 8*windowLines {
				rt.Fatalf("got a window of %d characters in %d lines, want at most %d in %d",
					n, edited.LineCount(), 8*windowBytes, 8*windowLines)
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
		t.Fatalf("got %d bytes, cursor %d, a window of %d characters, want %d, %d, at most %d",
			len(s.Value()), s.offset(), s.Length(), len(text), len(text), 2*windowBytes)
	}
	for range 150 {
		s.Handle(tuitest.KeyPress("up"))
	}
	s.Handle(tuitest.KeyPress("x"))
	if got := strings.Replace(s.Value(), "x", "", 1); got != text {
		t.Error("moving up and inserting a character changed the rest of the text")
	}
	if at := s.offset(); at > len(text)-5_000 {
		t.Errorf("after 150 rows up: got cursor %d of %d, want at most %d", at, len(text), len(text)-5_000)
	}
	s.Reset()
	if !s.empty() || s.Value() != "" {
		t.Error("after Reset the text is not empty")
	}
}
