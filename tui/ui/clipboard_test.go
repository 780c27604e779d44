package ui

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/tuitest"
)

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
		for _, msg := range tuitest.Messages(DetectClipboard(strings.Fields(c.env)).Copy("some text")) {
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
