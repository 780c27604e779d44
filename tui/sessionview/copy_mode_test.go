package sessionview

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/dev/thorough"
	"agentctl/internal/dev/tuitest"
)

// copyWith presses a key and returns the text put into the clipboard.
func (s *testScreen) copyWith(key string) string {
	s.t.Helper()
	cmd := s.m.Update(tuitest.KeyPress(key))
	for _, msg := range tuitest.Messages(cmd) {
		if text := fmt.Sprint(msg); fmt.Sprintf("%T", msg) == "tea.setClipboardMsg" {
			return text
		}
	}
	return ""
}

func TestCopyModeSizes(t *testing.T) {
	for _, name := range []string{"transcript", "hostile", "prose"} {
		for _, width := range thorough.Sample([]int{1, 2, 3, 9, 40}, 3) {
			for _, height := range thorough.Sample([]int{1, 2, 3, 7, 12}, 3) {
				s := open(t, tuitest.Scenes[name](), width, height)
				s.m.setFocus(onTranscript)
				for _, keys := range []string{
					"[", "]", "T", "E", "space b j b pgup G", "y", "c", "space space g enter", "/ a enter",
					"n N", "alt+up", "space esc esc",
				} {
					s.press(strings.Fields(keys)...)
					view := s.m.View()
					lines := strings.Split(view.Content, "\n")
					if len(lines) > height {
						t.Fatalf("%s at %dx%d after %s: got %d rows", name, width, height, keys, len(lines))
					}
					for _, line := range lines {
						if ansi.StringWidth(line) > width {
							t.Fatalf("%s at %dx%d after %s: line %q is too wide", name, width, height, keys, line)
						}
						if bare := ansi.Strip(line); strings.ContainsAny(bare, "\x1b\u202e\u009b") {
							t.Fatalf("%s at %dx%d after %s: control character in %q", name, width, height, keys, line)
						}
					}
				}
			}
		}
	}
}

func TestCopySanitized(t *testing.T) {
	s := open(t, tuitest.Scenes["hostile"](), 100, 60)
	s.m.setFocus(onTranscript)
	s.press("g")
	for id := s.m.transcript.View.List.First(); id <= s.m.transcript.View.List.Last(); id++ {
		for _, key := range []string{"C", "c"} {
			if got := s.copyWith(key); strings.ContainsAny(got, "\x1b\u009b\u202e\a\r") {
				t.Errorf("%s copied control characters: %q", key, got)
			}
		}
		s.press("down")
	}
	s.press("space", "g", "space", "G")
	if got := s.copyWith("c"); got == "" || strings.ContainsAny(got, "\x1b\u009b\u202e\a\r") {
		t.Errorf("copied all lines %q", got)
	}
}
