package attach

import (
	"strings"

	"agentctl/internal/cli/verb"
	"agentctl/internal/output"
	"agentctl/tui"
)

// reportLeft prints how to return to the sessions that the user of a screen left.
func reportLeft(cli *verb.Context, l tui.Left) {
	switch command := attachCommand(cli, l.Session, l.Server); {
	case l.Session == "":
		cli.Out.Notef("left; the sessions continue: %s", command)
	case l.Beside > 0:
		cli.Out.Notef("left %d sessions, they continue: %s", 1+l.Beside, attachCommand(cli, "", ""))
	case l.Ended:
		cli.Out.Notef("left %s, which has ended", l.Session)
	case !l.Connected:
		cli.Out.Notef("left %s without a connection: %s", l.Session, command)
	default:
		cli.Out.Notef("left %s, it continues: %s", l.Session, command)
	}
}

// attachCommand returns the command line that attaches to a session of the same server, or opens
// its list of sessions. on names another server of the configuration; "": the same. It leaves out
// what the environment sets, and credentials.
func attachCommand(cli *verb.Context, session, on string) string {
	f := &cli.Flags
	if on != "" {
		f = &verb.Flags{On: on, As: f.As}
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
		if flag.value != "" && (flag.env == "" || flag.value != cli.Env(flag.env)) {
			words = append(words, flag.name, output.ShellWord(flag.value))
		}
	}
	if cli.Env("AGENTCTL_DIALECT_OPTIONS") == "" {
		for _, option := range f.Options {
			words = append(words, "--dialect-option", output.ShellWord(option))
		}
	}
	words = append(words, "attach")
	if session != "" {
		words = append(words, output.ShellWord(session))
	}
	return strings.Join(words, " ")
}
