package myagent

import (
	"time"

	"agentctl/protocol/codec"
)

// Name is the name of the dialect.
const Name = "myagent"

// Dialect is MyAgent's WebSocket protocol.
var Dialect = codec.Dialect{
	Name:   Name,
	Server: func(d codec.ServerOptions) codec.Codec { return newServer(d) },
	Client: func(c codec.ClientOptions) codec.Codec { return newClient(c) },
	Options: []codec.Option{
		{
			Name: "confirm_timeout", Ends: serverEnd, Kind: codec.OptionDuration,
			About: "time until a confirmation is denied (300s; 0: never)",
		},
		{Name: "heartbeat", Ends: serverEnd, Kind: codec.OptionDuration, About: "interval between heartbeats (30s)"},
		{Name: "state_ttl", Ends: serverEnd, Kind: codec.OptionDuration, About: "lifetime of an exported state (168h)"},
	},
}

var serverEnd = []codec.End{codec.ServerEnd}

// durationOption returns a duration from the dialect's options, or otherwise if it is missing or
// invalid.
func durationOption(options map[string]string, name string, otherwise time.Duration) time.Duration {
	if d, err := time.ParseDuration(options[name]); err == nil && d >= 0 {
		return d
	}
	return otherwise
}
