package wire

import (
	"net/url"
	"strings"

	"agentctl/protocol"
)

// Name is the dialect's name, and the name of the shared session of URLs that name none.
const Name = "agentloop"

// SessionOfPath returns the session of a URL's path: its last segment, or the shared session.
func SessionOfPath(path string) string {
	path = strings.TrimRight(path, "/")
	if name := protocol.ValidText(path[strings.LastIndexByte(path, '/')+1:]); name != "" {
		return name
	}
	return Name
}

// SessionOfURL returns the session that a URL names. The path of a Unix socket names none.
func SessionOfURL(address string) string {
	scheme, rest, _ := strings.Cut(address, "://")
	if end := strings.IndexAny(rest, "?#"); end >= 0 {
		rest = rest[:end]
	}
	at := strings.IndexByte(rest, '/')
	if scheme == "unix" || at < 0 {
		return Name
	}
	path := rest[at:]
	if unescaped, err := url.PathUnescape(path); err == nil {
		path = unescaped
	}
	return SessionOfPath(path)
}
