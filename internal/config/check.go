package config

import (
	"strings"

	"agentctl/dialect"
	"agentctl/internal/exit"
	"agentctl/internal/ssh"
	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/tui/ui"
)

const serverURLForms = "ws://HOST:PORT, wss://HOST:PORT, ssh://[USER@]HOST or unix:///PATH"

// CheckServerURL returns a usage error unless url has the form of a server's URL.
func CheckServerURL(url string) error {
	if strings.HasPrefix(url, ssh.Scheme) { // its text may hold a password
		if _, err := ssh.Parse(url); err != nil {
			return exit.Usagef("invalid --server: %w", err)
		}
	}
	if !isServerURL(url) {
		return exit.Usagef("invalid --server %q: want %s", url, serverURLForms)
	}
	return nil
}

func isServerURL(url string) bool {
	if strings.HasPrefix(url, ssh.Scheme) {
		_, err := ssh.Parse(url)
		return err == nil
	}
	for _, scheme := range []string{"ws://", "wss://", "http://", "https://", "unix:"} {
		if strings.HasPrefix(url, scheme) {
			return true
		}
	}
	return false
}

// CheckDialect returns a usage error unless there is a dialect of that name.
func CheckDialect(name string) error {
	if _, ok := dialect.Find(name); !ok {
		return exit.Usagef("unknown dialect %q: want one of %s", name, strings.Join(dialect.Names(), ", "))
	}
	return nil
}

// CheckDialectOption returns a usage error unless the dialect has the option at that end and the
// value is valid.
func CheckDialectOption(name string, end codec.End, option, value string) error {
	d, ok := dialect.Find(name)
	if !ok {
		return CheckDialect(name)
	}
	if err := dialect.CheckOption(&d, end, option, value); err != nil {
		return exit.Usagef("%s", protocol.AsError(err).Message)
	}
	return nil
}

// Themes returns the names of the themes.
func Themes() []string {
	var names []string
	for _, t := range ui.Themes() {
		names = append(names, string(t))
	}
	return names
}
