package myagent

import (
	"time"

	"agentctl/protocol"
)

// Name is the dialect's name.
const Name = "myagent"

// Dialect is MyAgent's protocol.
var Dialect = protocol.Dialect{
	Name:   Name,
	Server: func(d protocol.Door) protocol.Codec { return newServer(d) },
	Client: func(c protocol.Call) protocol.Codec { return newClient(c) },
	Options: []protocol.DialectOption{
		{Name: "confirm_timeout", Ends: serverEnd, Kind: protocol.OptionDuration, About: "after which a confirmation is denied (300s; 0: never)"},
		{Name: "heartbeat", Ends: serverEnd, Kind: protocol.OptionDuration, About: "between heartbeats (30s)"},
		{Name: "state_ttl", Ends: serverEnd, Kind: protocol.OptionDuration, About: "how long an exported state can be restored (168h)"},
	},
}

var serverEnd = []protocol.End{protocol.ServerEnd}

// span reads a duration from the dialect's options.
func span(options map[string]string, name string, otherwise time.Duration) time.Duration {
	if d, err := time.ParseDuration(options[name]); err == nil && d >= 0 {
		return d
	}
	return otherwise
}
