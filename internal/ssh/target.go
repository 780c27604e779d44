package ssh

import (
	"errors"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Scheme begins the URL of a Target.
const Scheme = "ssh://"

// A Target is an account on a machine, as ssh knows it.
type Target struct {
	User string // empty: from ssh's configuration
	Host string // name, address, or a Host of ssh's configuration
	Port int    // 0: from ssh's configuration
}

// safeName matches a user or host that neither ssh nor a shell takes for anything else.
var safeName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_:%][A-Za-z0-9_.:%@+-]*$`) })

// Parse parses ssh://[USER@]HOST[:PORT].
func Parse(raw string) (Target, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme+"://" != Scheme {
		return Target{}, errors.New("want ssh://[USER@]HOST[:PORT]")
	}
	if _, ok := u.User.Password(); ok {
		return Target{}, errors.New("a password does not belong in the URL: ssh asks for it")
	}
	if strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return Target{}, errors.New("text after the host: want ssh://[USER@]HOST[:PORT]")
	}
	t := Target{User: u.User.Username(), Host: u.Hostname()}
	if t.Host == "" {
		return Target{}, errors.New("no host: want ssh://[USER@]HOST[:PORT]")
	}
	for _, name := range []string{t.User, t.Host} {
		if name != "" && !safeName().MatchString(name) {
			return Target{}, errors.New("invalid user or host: want ssh://[USER@]HOST[:PORT]")
		}
	}
	if strings.ContainsAny(t.Host, ":%") {
		if _, err := netip.ParseAddr(t.Host); err != nil {
			return Target{}, errors.New("invalid address: want ssh://[USER@]HOST[:PORT], IPv6 in brackets")
		}
	}
	if p := u.Port(); p != "" {
		if t.Port, err = strconv.Atoi(p); err != nil || t.Port < 1 || t.Port > 65535 {
			return Target{}, errors.New("invalid port: want 1 to 65535")
		}
	}
	return t, nil
}

// String returns the target as in its URL: [USER@]HOST[:PORT].
func (t Target) String() string {
	s := t.Host
	if strings.Contains(s, ":") {
		s = "[" + strings.ReplaceAll(s, "%", "%25") + "]"
	}
	if t.User != "" {
		s = url.User(t.User).String() + "@" + s
	}
	if t.Port != 0 {
		s += ":" + strconv.Itoa(t.Port)
	}
	return s
}
