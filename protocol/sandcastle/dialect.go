package sandcastle

import (
	"agentctl/protocol/codec"
	"agentctl/protocol/sandcastle/client"
	"agentctl/protocol/sandcastle/server"
	"agentctl/protocol/sandcastle/wire"
)

// Name is the name of the dialect.
const Name = wire.Name

// Dialect is Sandcastle's protocol.
var Dialect = codec.Dialect{
	Name:        Name,
	Server:      func(d codec.ServerOptions) codec.Codec { return server.New(d) },
	Client:      func(c codec.ClientOptions) codec.Codec { return client.New(c) },
	Responder:   &client.Responder,
	SessionTerm: "session id",
	Messages:    server.Messages,
	Lacks: map[codec.Feature]codec.Lack{
		codec.SendSteer:     {Reason: "its messages wait for the end of the turn"},
		codec.SendAt:        {Reason: "its messages have no time to start at"},
		codec.SendFront:     {Reason: "its queue keeps the order of the messages"},
		codec.InterruptHold: {Reason: "its queue has no holds"},
		codec.AllowAlways:   {Reason: onlyYesOrNo},
		codec.DenyStop:      {Reason: onlyYesOrNo},
		codec.Explain:       {Reason: onlyYesOrNo},
	},
	Options: []codec.Option{{
		Name: "tags", Ends: []codec.End{codec.ClientEnd}, Values: []string{"auto", "chat", "document"},
		About: "request names of the real system (chat) or of the document",
	}},
}

// onlyYesOrNo is the reason of decisions that a request does not have.
const onlyYesOrNo = "its requests are allowed or denied, once"
