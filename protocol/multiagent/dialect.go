package multiagent

import (
	"time"

	"agentctl/protocol/codec"
)

// Name is the name of the dialect.
const Name = "multiagent"

// Dialect is the protocol of Multi-Agent-Intelligence.
var Dialect = codec.Dialect{
	Name:                Name,
	Server:              func(d codec.ServerOptions) codec.Codec { return newServer(d) },
	Client:              func(c codec.ClientOptions) codec.Codec { return newClient(c) },
	TokenInQuery:        true,
	HidesQueue:          true,
	AcceptsUnauthorized: true,
	Retry:               codec.RetryPolicy{Attempts: 5, Delay: 3 * time.Second},
	Options: []codec.Option{
		{
			Name: "backoff", Ends: clientEnd, Values: []string{"even", "exponential"},
			About: "growth of the delay between reconnects",
		},
		{Name: "domain", Ends: clientEnd, Kind: codec.OptionText, About: "domain of sessions without an agent"},
		{Name: "thinking", Ends: clientEnd, Values: []string{"false", "true"}, About: "request reasoning"},
	},
}

var clientEnd = []codec.End{codec.ClientEnd}
