package notify

import (
	"strings"
	"testing"
)

func TestNotificationsFitTheTerminal(t *testing.T) {
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
			t.Errorf("%s is %+v, want %+v", c.env, got, c.want)
		}
	}
	const hostile = "a\x1b]52;c;aGk=\a;b\u009b2J\n\u202ec\x9c"
	for _, c := range []struct {
		how  notificationProtocol
		want string
	}{
		{bellOnly, "\a"},
		{osc9, "\a\x1b]9;agentctl: "},
		{osc777, "\a\x1b]777;notify;agentctl;"},
		{osc99, "\a\x1b]99;i=agentctl;agentctl: "},
	} {
		got := Notifications{protocol: c.how}.sequence(hostile)
		text, ok := strings.CutPrefix(got, c.want)
		text = strings.TrimSuffix(text, "\a")
		if !ok || strings.ContainsAny(text, "\x1b\a\n\u009b\u009c\u202e") || c.how == osc777 && strings.Contains(text, ";") {
			t.Errorf("wrote %q", got)
		}
	}
}
