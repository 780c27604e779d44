package agentloop

import (
	"agentctl/protocol/agentloop/client"
	"agentctl/protocol/agentloop/server"
	"agentctl/protocol/agentloop/wire"
	"agentctl/protocol/codec"
)

// Name is the name of the dialect.
const Name = wire.Name

// Dialect is the AgentLoop protocol.
var Dialect = codec.Dialect{
	HidesQueue:  true,
	Ephemeral:   true,
	Name:        Name,
	Server:      func(d codec.ServerOptions) codec.Codec { return server.New(d) },
	Client:      func(c codec.ClientOptions) codec.Codec { return client.New(c) },
	Responder:   &client.Responder,
	SessionTerm: "last part of the URL's path",
	Lacks: map[codec.Feature]codec.Lack{
		codec.SendFront: {Reason: "it has no queue"},
		codec.SendSteer: {Reason: "it decides itself which messages join a turn"},
		codec.SendAt:    {Reason: "its messages have no time to start at"},
	},
}
