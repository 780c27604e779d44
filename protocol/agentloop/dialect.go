package agentloop

import (
	"strings"

	"agentctl/protocol"
)

// Name is the dialect's name, and that of the session that everybody shares who names none.
const Name = "agentloop"

// Dialect is AgentLoop's protocol, both ends.
var Dialect = protocol.Dialect{
	Name:   Name,
	Server: func(d protocol.Door) protocol.Codec { return NewServer(d) },
	Client: func(c protocol.Call) protocol.Codec { return NewClient(c) },
}

// sessionOf is the session that a URL's path names: its last segment, or the shared one.
func sessionOf(path string) string {
	path = strings.TrimRight(path, "/")
	if name := path[strings.LastIndexByte(path, '/')+1:]; name != "" {
		return name
	}
	return Name
}
