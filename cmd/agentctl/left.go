package main

import (
	"regexp"
	"strings"

	"agentctl/tui"
)

// reportLeft tells the user of a screen how to return to what was left.
func (a *app) reportLeft(l tui.Left) {
	switch command := a.attachCommand(l.Session, l.Server); {
	case l.Session == "":
		a.notef("left; the sessions go on: %s", command)
	case l.Beside > 0:
		a.notef("left %d sessions, they go on: %s", 1+l.Beside, a.attachCommand("", ""))
	case l.Ended:
		a.notef("left %s, which has ended", l.Session)
	case !l.Connected:
		a.notef("left %s without a connection: %s", l.Session, command)
	default:
		a.notef("left %s, it goes on: %s", l.Session, command)
	}
}

// attachCommand returns the command line that attaches to a session of the same server, or opens
// its list of sessions. on names another server of the configuration; "": the same. It leaves out
// what the environment sets, and credentials.
func (a *app) attachCommand(session, on string) string {
	f := &a.flags
	if on != "" {
		f = &globalFlags{On: on, As: f.As}
	}
	words := []string{"agentctl"}
	for _, flag := range []struct{ name, value, env string }{
		{"--on", f.On, ""},
		{"--server", f.Server, "AGENTCTL_SERVER"},
		{"--fingerprint", f.Fingerprint, "AGENTCTL_FINGERPRINT"},
		{"--dialect", f.Dialect, "AGENTCTL_DIALECT"},
		{"--as", f.As, ""},
		{"--data", f.Data, "AGENTCTL_DATA"},
	} {
		if flag.value != "" && (flag.env == "" || flag.value != a.env(flag.env)) {
			words = append(words, flag.name, shellWord(flag.value))
		}
	}
	if a.env("AGENTCTL_DIALECT_OPTIONS") == "" {
		for _, option := range f.Options {
			words = append(words, "--dialect-option", shellWord(option))
		}
	}
	words = append(words, "attach")
	if session != "" {
		words = append(words, shellWord(session))
	}
	return strings.Join(words, " ")
}

// plainWord is a word that a shell takes as it is.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// shellWord returns a word as it is typed in a POSIX shell.
func shellWord(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
