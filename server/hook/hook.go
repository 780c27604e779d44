package hook

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
)

// Types of notifications.
const (
	TypeRequested = "approval.requested"
	TypeResolved  = "approval.resolved"
	TypeTurnEnded = "turn.ended"
	TypeError     = "error"   // a turn that failed
	TypeBudget    = "budget"  // a turn that used up its budget
	TypeLimited   = "limited" // a turn that a usage limit of the account ended
)

// Types lists the types of notifications.
var Types = []string{TypeRequested, TypeResolved, TypeTurnEnded, TypeError, TypeBudget, TypeLimited}

// A Hook sends notifications to a URL or a command. Zero values of its limits mean the defaults
// given.
type Hook struct {
	Name    string
	URL     string
	Secret  []byte   // signs requests; required with a URL
	Command []string // a program and its arguments

	Filter Filter
	Limits Limits

	Links     Links
	DenyAfter time.Duration // until a request that is still pending is denied; 0: never
}

// A Filter selects the notifications that a hook sends. Empty fields match everything.
type Filter struct {
	Types  []string
	Agent  string
	Labels map[string]string
	Name   string // of the session, a pattern of path.Match
}

// Limits bound a hook's queue, attempts and waits.
type Limits struct {
	Timeout  time.Duration // of one attempt; 10 s
	Attempts int           // that the receiver refuses; 10
	Age      time.Duration // of a notification that is not sent yet; 24 h
	Backlog  int           // notifications not sent yet; 1,000
}

// Links are URLs in notifications that decide a request. The zero value has none.
type Links struct {
	Base    string        // URL of this server as the receiver reaches it
	Expires time.Duration // 1 h
}

const (
	maxTimeout = 5 * time.Minute
	maxBacklog = 100_000
	minSecret  = 16 // bytes
	maxExpires = 7 * 24 * time.Hour
)

// validName reports whether a name can be part of file names and of actors.
func validName(name string) bool {
	const letters, others = "abcdefghijklmnopqrstuvwxyz0123456789", "-_"
	return name != "" && len(name) <= 64 && strings.Trim(name, letters+others) == "" &&
		!strings.ContainsAny(name[:1], others)
}

// CheckProgram returns an error if the hook is a command whose program lookPath does not find. It
// can be installed later: Check does not look for it.
func (h *Hook) CheckProgram(lookPath func(program string) (string, error)) error {
	if len(h.Command) == 0 {
		return nil
	}
	if _, err := lookPath(h.Command[0]); err != nil {
		return fmt.Errorf("command: %w", err)
	}
	return nil
}

// Check returns an error for a hook that cannot run. It does not look at Secret.
func (h *Hook) Check() error {
	switch {
	case !validName(h.Name):
		return errors.New("invalid name: want lower-case letters, digits, - and _")
	case (h.URL == "") == (len(h.Command) == 0):
		return errors.New("want either url or command")
	case len(h.Command) > 0 && h.Command[0] == "":
		return errors.New("command: the program is missing")
	case h.Limits.Timeout > maxTimeout:
		return fmt.Errorf("timeout: at most %s", maxTimeout)
	case h.Limits.Attempts < 0 || h.Limits.Backlog < 0 || h.Limits.Backlog > maxBacklog:
		return fmt.Errorf("attempts and backlog must be positive, backlog at most %d", maxBacklog)
	case h.Links.Base == "" && h.Links.Expires != 0:
		return errors.New("decide_urls: base is missing")
	case (h.DenyAfter > 0 || h.Links.Base != "") && !h.Filter.has(TypeRequested):
		return fmt.Errorf("deny_after and decide_urls need the event %s", TypeRequested)
	case h.Links.Expires > maxExpires:
		return fmt.Errorf("decide_urls.expires: at most %s", maxExpires)
	}
	for _, t := range h.Filter.Types {
		if !slices.Contains(Types, t) {
			return fmt.Errorf("events: unknown event %q: want one of %s", t, strings.Join(Types, ", "))
		}
	}
	if _, err := path.Match(h.Filter.Name, ""); err != nil {
		return fmt.Errorf("name: invalid pattern %q", h.Filter.Name)
	}
	if h.URL != "" {
		if err := checkURL(h.URL); err != nil {
			return fmt.Errorf("url: %w", err)
		}
	}
	if h.Links.Base != "" {
		if err := checkURL(h.Links.Base); err != nil {
			return fmt.Errorf("decide_urls.base: %w", err)
		}
	}
	return nil
}

// CheckSecret returns an error for a secret that is too short to sign with.
func (h *Hook) CheckSecret() error {
	if h.URL != "" && len(h.Secret) < minSecret {
		return fmt.Errorf("the secret has %d bytes: want %d or more", len(h.Secret), minSecret)
	}
	return nil
}

// checkURL returns an error for a URL to which a request must not go. Notifications hold commands
// and links that decide, so they leave this machine encrypted. The error does not repeat the URL,
// which may hold a secret.
func checkURL(raw string) error {
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return errors.New("want https://HOST/PATH")
	case u.User != nil || u.Fragment != "":
		return errors.New("want a URL without a user and without a fragment")
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return errors.New("http reaches this machine only: use https")
	}
	return nil
}

func loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

func (h *Hook) defaults() {
	l := &h.Limits
	l.Timeout = cmp.Or(l.Timeout, 10*time.Second)
	l.Attempts = cmp.Or(l.Attempts, 10)
	l.Age = cmp.Or(l.Age, 24*time.Hour)
	l.Backlog = cmp.Or(l.Backlog, 1000)
	h.Links.Expires = cmp.Or(h.Links.Expires, time.Hour)
}
