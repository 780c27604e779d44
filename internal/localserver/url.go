package localserver

import (
	"fmt"
	"net/url"
	"os"
	"strings"
)

// RecordURLs records the URLs of the running server that may receive its token.
func (d Dir) RecordURLs(urls []string) error {
	var text strings.Builder
	for _, u := range urls {
		fmt.Fprintln(&text, u)
	}
	if err := WritePrivate(d.Path("url"), text.String()); err != nil {
		return fmt.Errorf("record the server's address: %w", err)
	}
	return nil
}

// TokenFor returns the local credential if url is one that the running server recorded, else "".
func (d Dir) TokenFor(url string) string {
	b, err := os.ReadFile(d.Path("url"))
	if err != nil || d.Holder() == 0 { // another program may listen on the port of a server that has ended
		return ""
	}
	for line := range strings.Lines(string(b)) {
		if SameServer(strings.TrimSpace(line), url) {
			token, err := os.ReadFile(d.Path("token"))
			if err != nil {
				return ""
			}
			return strings.TrimSpace(string(token))
		}
	}
	return ""
}

// SameServer reports whether two URLs have the same host and port, and both or neither use TLS.
func SameServer(a, b string) bool {
	u, err := url.Parse(a)
	v, err2 := url.Parse(b)
	if err != nil || err2 != nil || u.Host == "" {
		return false
	}
	scheme := func(s string) string {
		switch s {
		case "http":
			return "ws"
		case "https":
			return "wss"
		}
		return s
	}
	return strings.EqualFold(u.Host, v.Host) && scheme(u.Scheme) == scheme(v.Scheme)
}
