package localserver

import (
	"fmt"
	"net/url"
	"os"
	"strings"

	"agentctl/internal/atomicfile"
)

// Addresses are what the running server recorded of its listeners, for clients of this machine.
type Addresses struct{ dir Dir }

// Addresses returns the addresses of the running server.
func (d Dir) Addresses() Addresses { return Addresses{d} }

// Record records the URLs that may receive the server's token, with the fingerprint of its
// certificate; empty: it has none. Without URLs the file is empty.
func (a Addresses) Record(urls []string, fingerprint string) error {
	var text strings.Builder
	for _, u := range urls {
		fmt.Fprintln(&text, strings.TrimSpace(u+" "+fingerprint))
	}
	if err := atomicfile.Write(a.dir.Path(urlFile), []byte(text.String()), 0o600); err != nil {
		return fmt.Errorf("record the server's address: %w", err)
	}
	return nil
}

// RecordOpen records the URLs where a program without a credential decides requests.
func (a Addresses) RecordOpen(urls []string) error {
	return a.dir.recordText(openFile, strings.Join(urls, "\n"))
}

// Open returns the URLs where a program of this machine, an agent too, decides requests without a
// credential; none if no server runs.
func (a Addresses) Open() []string { return strings.Fields(a.dir.recordedText(openFile)) }

// Token returns the local credential if the running server recorded url, else "".
func (a Addresses) Token(url string) string {
	if _, ok := a.recorded(url); !ok {
		return ""
	}
	token, err := os.ReadFile(a.dir.Path("token"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(token))
}

// Fingerprint returns the fingerprint of the certificate of the running server if it recorded url
// with one, else "".
func (a Addresses) Fingerprint(url string) string {
	fingerprint, _ := a.recorded(url)
	return fingerprint
}

// recorded returns the fingerprint that the running server recorded for url. ok is false if no
// server runs or the URL is not recorded: after a server has stopped, another program may listen on
// its port.
func (a Addresses) recorded(url string) (fingerprint string, ok bool) {
	for line := range strings.Lines(a.dir.recordedText(urlFile)) {
		recorded, fingerprint, _ := strings.Cut(strings.TrimSpace(line), " ")
		if SameServer(recorded, url) {
			return fingerprint, true
		}
	}
	return "", false
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
