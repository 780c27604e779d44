package agentloop

import (
	"strconv"
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// Name is the dialect's name, and the name of the shared session of URLs that name none.
const Name = "agentloop"

// Dialect is the AgentLoop protocol, both ends.
var Dialect = codec.Dialect{
	HidesQueue:  true,
	Ephemeral:   true,
	Name:        Name,
	Server:      func(d codec.ServerOptions) codec.Codec { return newServer(d) },
	Client:      func(c codec.ClientOptions) codec.Codec { return newClient(c) },
	Responder:   &responder,
	SessionTerm: "last part of the URL's path",
	Lacks: map[codec.Feature]codec.Lack{
		codec.SendFront: {Reason: "it has no queue"},
		codec.SendAt:    {Reason: "its messages have no time to start at"},
	},
}

// sessionOf returns the session of a URL's path: its last segment, or the shared session.
func sessionOf(path string) string {
	path = strings.TrimRight(path, "/")
	if name := protocol.ValidText(path[strings.LastIndexByte(path, '/')+1:]); name != "" {
		return name
	}
	return Name
}

// pathOf returns a URL's path, unescaped. The path of a Unix socket names no session.
func pathOf(url string) string {
	scheme, rest, _ := strings.Cut(url, "://")
	if end := strings.IndexAny(rest, "?#"); end >= 0 {
		rest = rest[:end]
	}
	at := strings.IndexByte(rest, '/')
	if scheme == "unix" || at < 0 {
		return ""
	}
	path := rest[at:]
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		c := path[i]
		if c == '%' && i+2 < len(path) {
			if code, err := strconv.ParseUint(path[i+1:i+3], 16, 8); err == nil {
				c = byte(code)
				i += 2
			}
		}
		b.WriteByte(c)
	}
	return b.String()
}
