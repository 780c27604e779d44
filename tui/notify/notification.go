package notify

import (
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"agentctl/tui/ui"
)

// Notifications is how a terminal notifies its user. The zero value only rings the bell.
type Notifications struct {
	protocol notificationProtocol
	noBell   bool
	progress bool // the terminal shows progress bars; others show the sequence as a notification
}

// notificationProtocol is an escape sequence that shows a desktop notification.
type notificationProtocol uint8

const (
	bellOnly notificationProtocol = iota
	osc9                          // text only
	osc777                        // title and text
	osc99                         // kitty
)

// DetectNotifications detects the protocol from the environment. Inside a multiplexer the outer
// terminal is unknown, so it uses only the bell, which multiplexers pass on.
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

// WithoutBell returns n without the bell.
func (n Notifications) WithoutBell() Notifications {
	n.noBell = true
	return n
}

// BellOnly returns n without desktop notifications.
func (n Notifications) BellOnly() Notifications {
	n.protocol = bellOnly
	return n
}

// maxNotification is the limit of a notification's text in cells.
const maxNotification = 160

// sequence returns the bytes that ring the bell and show text, or "" if both are off. It sanitizes
// text. The bell comes first because the sequences end with a bell character.
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
