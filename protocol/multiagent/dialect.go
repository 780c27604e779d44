package multiagent

import (
	"time"

	"agentctl/protocol/codec"
)

// Name is the dialect's name.
const Name = "multiagent"

// Dialect is the protocol of Multi-Agent-Intelligence, both ends.
var Dialect = codec.Dialect{
	Name:                Name,
	Server:              func(d codec.ServerOptions) codec.Codec { return newServerCodec(d) },
	Client:              func(c codec.ClientOptions) codec.Codec { return newClientCodec(c) },
	TokenInQuery:        true,
	HidesQueue:          true,
	AcceptsUnauthorized: true,
	Retry:               codec.RetryPolicy{Attempts: 5, Delay: 3 * time.Second},
	Options: []codec.Option{
		{Name: "backoff", Ends: clientEnd, Values: []string{"even", "exponential"}, About: "between attempts to reconnect"},
		{Name: "domain", Ends: clientEnd, Kind: codec.OptionText, About: "of sessions that name no agent"},
		{Name: "thinking", Ends: clientEnd, Values: []string{"false", "true"}, About: "ask for reasoning"},
	},
}

var clientEnd = []codec.End{codec.ClientEnd}
