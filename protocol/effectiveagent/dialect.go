package effectiveagent

import "agentctl/protocol/codec"

// Name is the dialect's name.
const Name = "effectiveagent"

// Dialect is the EffectiveAgent protocol, both ends.
var Dialect = codec.Dialect{
	Name:        Name,
	Server:      func(d codec.ServerOptions) codec.Codec { return newServer(d) },
	Client:      func(c codec.ClientOptions) codec.Codec { return newClient(c) },
	Responder:   &responder,
	SessionTerm: "agent runtime id",
	Lacks: map[codec.Feature]codec.Lack{
		codec.SendSteer: {Reason: "its messages wait for the end of the turn"},
		codec.SendAt:    {Reason: "its messages have no time to start at"},
		codec.SendFront: {Reason: "its messages are handled in the order of their arrival"},
	},
	Options: []codec.Option{
		{
			Name: "activities", Ends: []codec.End{codec.ClientEnd, codec.ServerEnd},
			Values: []string{"document", "system"},
			About:  "the form of activities before the peer shows its own",
		},
		{
			Name: "quiet", Ends: []codec.End{codec.ClientEnd}, Kind: codec.OptionDuration,
			About: "after which an answered turn is over (5s)",
		},
	},
}

// Bounds of one connection.
const (
	maxRuntimes = 64  // subscriptions
	maxWaiting  = 256 // commands without an answer
	maxID       = 256 // bytes of an id
)
