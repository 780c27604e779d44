package main

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"strings"
)

// token returns the local credential, made on first use.
func (d dataDir) token() (string, error) { return d.random("token") }

// random returns the contents of a private file of 32 random bytes in hex, made on first use.
func (d dataDir) random(name string) (string, error) {
	b, err := os.ReadFile(d.path(name))
	if value := strings.TrimSpace(string(b)); err == nil && value != "" {
		return value, os.Chmod(d.path(name), 0o600)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	raw := make([]byte, 32)
	rand.Read(raw)
	value := hex.EncodeToString(raw)
	return value, writePrivate(d.path(name), value)
}

// tokenFor returns the local credential if url is one that the running local server recorded, else nothing.
func (d dataDir) tokenFor(url string) string {
	b, err := os.ReadFile(d.path("url"))
	if err != nil || d.owner() == 0 { // a dead server's port may be anybody's by now
		return ""
	}
	for line := range strings.Lines(string(b)) {
		if sameServer(strings.TrimSpace(line), url) {
			token, err := os.ReadFile(d.path("token"))
			if err != nil {
				return ""
			}
			return strings.TrimSpace(string(token))
		}
	}
	return ""
}

// sameServer reports whether two URLs name the same host and port with the same security.
func sameServer(a, b string) bool {
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
