package notify

import (
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"agentctl/tui/ui"
)

// Notifications says how a terminal notifies its user. The zero value only rings.
type Notifications struct {
	protocol notificationProtocol
	noBell   bool
	progress bool // the terminal shows a progress bar; others take its sequence for a notification
}

// notificationProtocol is a sequence that shows a desktop notification.
type notificationProtocol uint8

const (
	bellOnly notificationProtocol = iota
	osc9                          // the text
	osc777                        // a title and a text
	osc99                         // kitty's own
)

// DetectNotifications reads the environment of a terminal. Inside a multiplexer the outer terminal is not
// known, so it only rings: multiplexers pass the bell on.
func DetectNotifications(env []string) Notifications {
	vars := ui.Environ(env)
	term, program := vars["TERM"], vars["TERM_PROGRAM"]
	switch {
	case vars["TMUX"] != "" || vars["STY"] != "" || vars["ZELLIJ"] != "" ||
		strings.HasPrefix(term, "tmux") || strings.HasPrefix(term, "screen"):
		return Notifications{}
	case term == "xterm-kitty":
		return Notifications{protocol: osc99}
	case program == "ghostty" || term == "xterm-ghostty":
		return Notifications{protocol: osc777, progress: true}
	case program == "WezTerm":
		return Notifications{protocol: osc777}
	case program == "iTerm.app":
		return Notifications{protocol: osc9}
	case vars["WT_SESSION"] != "" || vars["ConEmuANSI"] == "ON":
		return Notifications{progress: true}
	case strings.HasPrefix(term, "foot") || strings.HasPrefix(term, "rxvt-unicode"):
		return Notifications{protocol: osc777}
	}
	if n, err := strconv.Atoi(vars["VTE_VERSION"]); err == nil && n > 0 {
		return Notifications{protocol: osc777}
	}
	return Notifications{}
}

// WithoutBell returns notifications that do not ring.
func (n Notifications) WithoutBell() Notifications {
	n.noBell = true
	return n
}

// BellOnly returns notifications that at most ring.
func (n Notifications) BellOnly() Notifications {
	n.protocol = bellOnly
	return n
}

// maxNotification bounds the text of a notification, in cells.
const maxNotification = 160

// sequence returns what rings and shows a text; "" when neither is wanted. Nothing in the text controls the
// terminal. The bell comes first: the sequences end with one of their own.
func (n Notifications) sequence(text string) string {
	bell := "\a"
	if n.noBell {
		bell = ""
	}
	text = ui.Fit(plainText(text), maxNotification)
	switch n.protocol {
	case osc9:
		return bell + ansi.Notify("agentctl: "+text)
	case osc777:
		return bell + "\x1b]777;notify;agentctl;" + strings.ReplaceAll(text, ";", ",") + "\a"
	case osc99:
		return bell + ansi.DesktopNotification("agentctl: "+text, "i=agentctl")
	}
	return bell
}
