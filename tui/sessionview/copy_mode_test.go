package sessionview

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/dev/tuitest"
	"agentctl/tui/ui"
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

const answer = "Run it **many** times, with a line that is longer than the screen is wide and has to be wrapped:\n\n" +
	"```go\nfor range 100 {\n\tgo test()\n}\n```\n\nthen:\n\n1. look\n   ```sh\n   make   all\n   ```\n"

func TestCopyThroughMultiplexer(t *testing.T) {
	encoded := base64.StdEncoding.EncodeToString([]byte("some text"))
	for _, c := range []struct {
		env   string
		plain bool
		want  string
	}{
		{"TERM=xterm", true, ""},
		{"TERM=xterm TMUX= STY=", true, ""},
		{"TERM=tmux-256color TMUX=/tmp/tmux-0/default,1,0", true, "\x1bPtmux;\x1b\x1b]52;c;" + encoded + "\a\x1b\\"},
		{"TERM=screen STY=1.pts-0", false, "\x1bP\x1b]52;c;" + encoded + "\a\x1b\\"},
	} {
		plain, raw := false, ""
		for _, msg := range tuitest.Messages(ui.DetectClipboard(strings.Fields(c.env)).Copy("some text")) {
			if m, ok := msg.(tea.RawMsg); ok {
				raw = fmt.Sprint(m.Msg)
			} else {
				plain = plain || fmt.Sprint(msg) == "some text"
			}
		}
		if plain != c.plain || raw != c.want {
			t.Errorf("%s: got plain %v, raw %q, want %v, %q", c.env, plain, raw, c.plain, c.want)
		}
	}
}

func TestCopyModeSizes(t *testing.T) {
	for _, name := range []string{"transcript", "hostile", "prose"} {
		for _, width := range []int{1, 2, 3, 9, 40} {
			for _, height := range []int{1, 2, 3, 7, 12} {
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
		for _, key := range []string{"y", "c"} {
			if got := s.copyWith(key); strings.ContainsAny(got, "\x1b\u009b\u202e\a\r") {
				t.Errorf("%s copied control characters: %q", key, got)
			}
		}
		s.press("down")
	}
	s.press("space", "g", "space", "G")
	if got := s.copyWith("y"); got == "" || strings.ContainsAny(got, "\x1b\u009b\u202e\a\r") {
		t.Errorf("copied all lines %q", got)
	}
}
