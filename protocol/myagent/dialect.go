package myagent

import (
	"time"

	"agentctl/protocol/codec"
)

// Name is the dialect's name.
const Name = "myagent"

// Dialect is MyAgent's protocol.
var Dialect = codec.Dialect{
	Name:   Name,
	Server: func(d codec.ServerOptions) codec.Codec { return newServerCodec(d) },
	Client: func(c codec.ClientOptions) codec.Codec { return newClientCodec(c) },
	Options: []codec.Option{
		{Name: "confirm_timeout", Ends: serverEnd, Kind: codec.OptionDuration, About: "after which a confirmation is denied (300s; 0: never)"},
		{Name: "heartbeat", Ends: serverEnd, Kind: codec.OptionDuration, About: "between heartbeats (30s)"},
		{Name: "state_ttl", Ends: serverEnd, Kind: codec.OptionDuration, About: "how long an exported state can be restored (168h)"},
	},
}

var serverEnd = []codec.End{codec.ServerEnd}

// span reads a duration from the dialect's options.
func durationOption(options map[string]string, name string, otherwise time.Duration) time.Duration {
	if d, err := time.ParseDuration(options[name]); err == nil && d >= 0 {
		return d
	}
	return otherwise
}
