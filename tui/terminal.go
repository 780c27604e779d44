package tui

import (
	"strconv"
	"strings"

	"agentctl/tui/remote"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/protocol"
)

// terminal is what is known of the terminal beyond its colours, from its
// environment. The zero value is one that can only ring.
type terminal struct {
	notifies notifying
	silent   bool // it is not to ring
	progress bool // it shows progress; others take the sequence for a notification
}

// notifying is how a terminal is told to show a notification.
type notifying uint8

const (
	ringsOnly   notifying = iota
	notifies9             // OSC 9: the text
	notifies777           // OSC 777: a title and a text
	notifies99            // OSC 99: kitty's own
)

// terminalOf reads an environment. Within a multiplexer the terminal outside is
// not known, so there it only rings, which multiplexers hand on.
func terminalOf(env []string) terminal {
	vars := variables(env)
	term, program := vars["TERM"], vars["TERM_PROGRAM"]
	switch {
	case vars["TMUX"] != "" || vars["STY"] != "" || vars["ZELLIJ"] != "" || strings.HasPrefix(term, "tmux") || strings.HasPrefix(term, "screen"):
		return terminal{}
	case term == "xterm-kitty":
		return terminal{notifies: notifies99}
	case program == "ghostty" || term == "xterm-ghostty":
		return terminal{notifies: notifies777, progress: true}
	case program == "WezTerm":
		return terminal{notifies: notifies777}
	case program == "iTerm.app":
		return terminal{notifies: notifies9}
	case vars["WT_SESSION"] != "" || vars["ConEmuANSI"] == "ON":
		return terminal{progress: true}
	case strings.HasPrefix(term, "foot") || strings.HasPrefix(term, "rxvt-unicode"):
		return terminal{notifies: notifies777}
	}
	if n, err := strconv.Atoi(vars["VTE_VERSION"]); err == nil && n > 0 {
		return terminal{notifies: notifies777}
	}
	return terminal{}
}

// variables reads an environment, of which the last of a name counts.
func variables(env []string) map[string]string {
	vars := map[string]string{}
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		vars[name] = value
	}
	return vars
}

// noticeMax is the most cells of a notification's text.
const noticeMax = 160

// notify is the sequence that rings and shows text, of which nothing can steer
// the terminal; none where neither is wanted. The bell comes first: the sequences end with one of their own.
func (t terminal) notify(text string) string {
	bell := "\a"
	if t.silent {
		bell = ""
	}
	text = fit(onlyText(text), noticeMax)
	switch t.notifies {
	case notifies9:
		return bell + ansi.Notify("agentctl: "+text)
	case notifies777:
		return bell + "\x1b]777;notify;agentctl;" + strings.ReplaceAll(text, ";", ",") + "\a"
	case notifies99:
		return bell + ansi.DesktopNotification("agentctl: "+text, "i=agentctl")
	}
	return bell
}

// progressOf is how far a session is, for terminals that show it; nil is idle.
// The plan is the one under way, or nil.
func (t terminal) progressOf(s *protocol.State, plan *protocol.Plan, link remote.ConnState) *tea.ProgressBar {
	switch {
	case !t.progress || s.Turn == nil:
		return nil
	case link == remote.Offline:
		return tea.NewProgressBar(tea.ProgressBarError, 100)
	case len(s.Approvals) > 0:
		return tea.NewProgressBar(tea.ProgressBarWarning, 100)
	case plan != nil && plan.Status == protocol.StatusRunning:
		return tea.NewProgressBar(tea.ProgressBarDefault, 100*tasksDone(plan)/len(plan.Tasks))
	}
	return tea.NewProgressBar(tea.ProgressBarIndeterminate, 0)
}
