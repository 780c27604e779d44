package config

import (
	"fmt"
	"regexp"
	"strings"

	"agentctl/internal/ssh"
)

// Names that no server of the file has.
const (
	LocalName = "local" // the server of this user and machine
	HomeName  = "home"  // the server of the file's field "server", if it has no name
)

// A NamedServer is a server that the user's file names.
type NamedServer struct {
	URL     string `json:"url"`
	Dialect string `json:"dialect"` // "": native
	Command string `json:"command"` // agentctl there, for an ssh:// URL; "": agentctl
	Share   *bool  `json:"share"`   // of ssh: share one link between connections; nil: true
}

// Shares reports whether connections share one link of ssh.
func (s NamedServer) Shares() bool { return !isFalse(s.Share) }

var serverName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

const maxServerName = 63

// check returns the first invalid value and its name in the file.
func (s NamedServer) check(name string) (field string, err error) {
	overSSH := strings.HasPrefix(s.URL, ssh.Scheme)
	switch {
	case len(name) > maxServerName || !serverName.MatchString(name):
		return name, fmt.Errorf("invalid server name %q: want letters, digits, dots and hyphens", name)
	case name == LocalName || name == HomeName:
		return name, fmt.Errorf("the server name %s is reserved: choose another name", name)
	case !isServerURL(s.URL):
		return name, fmt.Errorf("invalid url %q of server %s: want %s", s.URL, name, serverURLForms)
	case s.Dialect != "" && overSSH:
		return name, fmt.Errorf("dialect of server %s: an ssh:// URL has none", name)
	case (s.Command != "" || s.Share != nil) && !overSSH:
		return name, fmt.Errorf("command and share of server %s need an ssh:// URL", name)
	case strings.ContainsAny(s.Command, "\n\r\x00"):
		return name, fmt.Errorf("command of server %s: want one line", name)
	case s.Dialect != "":
		return name, CheckDialect(s.Dialect)
	}
	return name, nil
}
