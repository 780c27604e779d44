package remote

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// An Address is where an agent is reached.
type Address struct {
	URL     string      // https or wss; http and ws on this machine only
	Headers http.Header // of every request
}

// IsURL reports whether a text begins like the URL of an agent.
func IsURL(text string) bool {
	for _, scheme := range []string{"https://", "wss://", "http://", "ws://"} {
		if len(text) >= len(scheme) && strings.EqualFold(text[:len(scheme)], scheme) {
			return true
		}
	}
	return false
}

// CheckURL returns an error for a URL that is not an agent's, that has a password, or that is not
// encrypted to another machine.
func CheckURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Hostname() == "" || !IsURL(text):
		return errors.New("want https://HOST/PATH or wss://HOST/PATH")
	case u.User != nil:
		return errors.New("a password in a URL is shown to others: put it into headers of the configuration")
	case u.Fragment != "":
		return errors.New("want no fragment")
	case (u.Scheme == "http" || u.Scheme == "ws") && !isLoopback(u.Hostname()):
		return errors.New("want https or wss: http and ws are for this machine only")
	}
	return nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// minSecret is the minimum length of a word of a header that is a secret, in bytes.
const minSecret = 5

// hide returns a text without the values of the headers, which the server may repeat.
func (a *Address) hide(text string) string {
	for _, values := range a.Headers {
		for _, value := range values {
			for _, word := range append([]string{value}, strings.Fields(value)...) {
				if len(word) >= minSecret && !strings.EqualFold(word, "bearer") && !strings.EqualFold(word, "basic") {
					text = strings.ReplaceAll(text, word, "[hidden]")
				}
			}
		}
	}
	return text
}

// isSocket reports whether the URL is one of a WebSocket.
func (a *Address) isSocket() bool { return len(a.URL) > 1 && strings.EqualFold(a.URL[:2], "ws") }
