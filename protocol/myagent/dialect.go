package myagent

import (
	"agentctl/protocol/codec"
	"agentctl/protocol/myagent/client"
	"agentctl/protocol/myagent/server"
	"agentctl/protocol/myagent/wire"
)

// Name is the name of the dialect.
const Name = wire.Name

// Dialect is MyAgent's WebSocket protocol.
var Dialect = codec.Dialect{
	Name:        Name,
	Server:      func(d codec.ServerOptions) codec.Codec { return server.New(d) },
	Client:      func(c codec.ClientOptions) codec.Codec { return client.New(c) },
	Responder:   &client.Responder,
	SessionTerm: "session id",
	Ephemeral:   true,
	Lacks: map[codec.Feature]codec.Lack{
		codec.SendSteer:      {Reason: "its messages wait for the end of the turn"},
		codec.SendAt:         {Reason: "its messages have no time to start at"},
		codec.SendFront:      {Reason: "its queue keeps the order of the messages"},
		codec.SendParts:      {Reason: "its messages are text"},
		codec.CreateEnv:      {Reason: onlyTitle},
		codec.CreateLabels:   {Reason: onlyTitle},
		codec.CreateSettings: {Reason: onlyTitle},
		codec.CreateSandbox:  {Reason: onlyTitle},
		codec.CreateLoad:     {Reason: onlyTitle},
		codec.CreateCWD:      {Reason: onlyTitle},
		codec.CreateName:     {Reason: "only a client that stays could use the name, pass a title", OneShot: true},
	},
	Options: []codec.Option{
		{
			Name: "confirm_timeout", Ends: serverEnd, Kind: codec.OptionDuration,
			About: "time until a confirmation is denied (300s; 0: never)",
		},
		{Name: "heartbeat", Ends: serverEnd, Kind: codec.OptionDuration, About: "interval between heartbeats (30s)"},
		{Name: "state_ttl", Ends: serverEnd, Kind: codec.OptionDuration, About: "lifetime of an exported state (168h)"},
	},
}

// onlyTitle is the reason of features that a new session lacks.
const onlyTitle = "a new session has a title and an agent, no more"

var serverEnd = []codec.End{codec.ServerEnd}
