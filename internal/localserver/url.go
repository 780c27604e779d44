package localserver

import (
	"fmt"
	"net/url"
	"os"
	"strings"

	"agentctl/internal/atomicfile"
)

// RecordURLs records the URLs that may receive the server's token, with the fingerprint of its
// certificate; empty: it has none. Without URLs the file is empty.
func (d Dir) RecordURLs(urls []string, fingerprint string) error {
	var text strings.Builder
	for _, u := range urls {
		fmt.Fprintln(&text, strings.TrimSpace(u+" "+fingerprint))
	}
	if err := atomicfile.Write(d.Path(urlFile), []byte(text.String()), 0o600); err != nil {
		return fmt.Errorf("record the server's address: %w", err)
	}
	return nil
}

// RecordOpen records the URLs where a program without a credential decides requests.
func (d Dir) RecordOpen(urls []string) error { return d.recordText(openFile, strings.Join(urls, "\n")) }

// OpenURLs returns the URLs where a program of this machine, an agent too, decides requests without a
// credential; none if no server runs.
func (d Dir) OpenURLs() []string { return strings.Fields(d.recordedText(openFile)) }

// TokenFor returns the local credential if the running server recorded url, else "".
func (d Dir) TokenFor(url string) string {
	if _, ok := d.recordedURL(url); !ok {
		return ""
	}
	token, err := os.ReadFile(d.Path("token"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(token))
}

// FingerprintFor returns the fingerprint of the certificate of the running server if it recorded url
// with one, else "".
func (d Dir) FingerprintFor(url string) string {
	fingerprint, _ := d.recordedURL(url)
	return fingerprint
}

// recordedURL returns the fingerprint that the running server recorded for url. ok is false if no
// server runs or the URL is not recorded: after a server has stopped, another program may listen on
// its port.
func (d Dir) recordedURL(url string) (fingerprint string, ok bool) {
	for line := range strings.Lines(d.recordedText(urlFile)) {
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
