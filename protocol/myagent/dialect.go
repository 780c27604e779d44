package myagent

import (
	"time"

	"agentctl/protocol"
)

// Name is the dialect's name.
const Name = "myagent"

// Dialect is MyAgent's protocol. Its options at the server's end are Go durations: heartbeat (30s), confirm_timeout (300s; 0: none)
// and state_ttl (168h).
var Dialect = protocol.Dialect{
	Name:   Name,
	Server: func(d protocol.Door) protocol.Codec { return newServer(d) },
	Client: func(c protocol.Call) protocol.Codec { return newClient(c) },
}

// span reads a duration from the dialect's options.
func span(options map[string]string, name string, otherwise time.Duration) time.Duration {
	if d, err := time.ParseDuration(options[name]); err == nil && d >= 0 {
		return d
	}
	return otherwise
}
