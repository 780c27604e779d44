package notify

import (
	"strings"
	"testing"

	_ "agentctl/internal/dev/golden" // the flag -update
)

func TestDetectNotifications(t *testing.T) {
	for _, c := range []struct {
		env  string
		want Notifications
	}{
		{"TERM=xterm-256color", Notifications{}},
		{"TERM=xterm-kitty", Notifications{protocol: osc99}},
		{"TERM=xterm-256color TERM_PROGRAM=iTerm.app", Notifications{protocol: osc9}},
		{"TERM=xterm-256color TERM_PROGRAM=WezTerm", Notifications{protocol: osc777}},
		{"TERM=xterm-256color VTE_VERSION=7600", Notifications{protocol: osc777}},
		{"TERM=foot-extra", Notifications{protocol: osc777}},
		{"TERM=rxvt-unicode-256color", Notifications{protocol: osc777}},
		{"TERM=xterm-ghostty", Notifications{protocol: osc777, progress: true}},
		{"TERM=xterm-256color WT_SESSION=x", Notifications{progress: true}},
		{"TERM=tmux-256color TERM_PROGRAM=ghostty", Notifications{}},
		{"TERM=xterm-kitty TMUX=/tmp/x", Notifications{}},
	} {
		if got := DetectNotifications(strings.Fields(c.env)); got != c.want {
			t.Errorf("DetectNotifications(%q) = %+v, want %+v", c.env, got, c.want)
		}
	}
}

func TestNotificationSequenceIsSanitized(t *testing.T) {
	const hostile = "a\x1b]52;c;aGk=\a;b\u009b2J\n\u202ec\x9c"
	for _, c := range []struct {
		protocol notificationProtocol
		prefix   string
	}{
		{bellOnly, "\a"},
		{osc9, "\a\x1b]9;agentctl: "},
		{osc777, "\a\x1b]777;notify;agentctl;"},
		{osc99, "\a\x1b]99;i=agentctl;agentctl: "},
	} {
		got := Notifications{protocol: c.protocol}.sequence(hostile)
		text, ok := strings.CutPrefix(got, c.prefix)
		text = strings.TrimSuffix(text, "\a")
		controls := "\x1b\a\n\u009b\u009c\u202e"
		if c.protocol == osc777 {
			controls += ";"
		}
		if !ok || strings.ContainsAny(text, controls) {
			t.Errorf("protocol %d: got %q, want prefix %q and no control characters", c.protocol, got, c.prefix)
		}
	}
}
