package multiagent

import (
	"time"

	"agentctl/protocol/codec"
	"agentctl/protocol/multiagent/client"
	"agentctl/protocol/multiagent/server"
	"agentctl/protocol/multiagent/wire"
)

// Name is the name of the dialect.
const Name = wire.Name

// Dialect is the protocol of Multi-Agent-Intelligence.
var Dialect = codec.Dialect{
	Name:               Name,
	Server:             func(d codec.ServerOptions) codec.Codec { return server.New(d) },
	Client:             func(c codec.ClientOptions) codec.Codec { return client.New(c) },
	Responder:          &client.Responder,
	SessionTerm:        "conversation id",
	TokenInQuery:       true,
	HasLogin:           true,
	HidesQueue:         true,
	UnauthorizedStatus: 403,
	DefaultPath:        "/ws",
	Retry:              codec.RetryPolicy{Attempts: 5, Delay: 3 * time.Second},
	Lacks: map[codec.Feature]codec.Lack{
		codec.AllowAlways:    {Reason: onlyYesOrNo},
		codec.Explain:        {Reason: onlyYesOrNo},
		codec.CreateEnv:      {Reason: onlyDomain},
		codec.CreateLabels:   {Reason: onlyDomain},
		codec.CreateSettings: {Reason: onlyDomain},
		codec.CreateSandbox:  {Reason: onlyDomain},
		codec.CreateLoad:     {Reason: onlyDomain},
		codec.CreateCWD:      {Reason: onlyDomain},
		codec.SendSteer:      {Reason: "its messages wait for the end of the turn"},
		codec.SendAt:         {Reason: "its messages have no time to start at"},
		codec.SendFront:      {Reason: client.NoQueue, OneShot: true},
		codec.SendParts:      {Reason: "its messages are text"},
		codec.InterruptHold:  {Reason: client.NoQueue, OneShot: true},
		codec.InterruptClear: {Reason: client.NoQueue, OneShot: true},
		codec.CreateName:     {Reason: onlyDomain, OneShot: true},
		codec.CreateTitle:    {Reason: onlyDomain, OneShot: true},
	},
	Options: []codec.Option{
		{
			Name: "backoff", Ends: clientEnd, Values: []string{"even", "exponential"},
			About: "growth of the delay between reconnects",
		},
		{Name: "domain", Ends: clientEnd, Kind: codec.OptionText, About: "domain of sessions without an agent"},
		{Name: "thinking", Ends: clientEnd, Values: []string{"false", "true"}, About: "request reasoning"},
		{
			Name: codec.UnauthorizedOption, Ends: []codec.End{codec.ServerEnd},
			Values: []string{"403", codec.AcceptAndClose},
			About:  "answer to a client without a valid token: an HTTP status, or a close code",
		},
	},
}

// Reasons of lacking features.
const (
	onlyYesOrNo = "its requests are approved or rejected, no more"
	onlyDomain  = "a new conversation has a domain, no more"
)

var clientEnd = []codec.End{codec.ClientEnd}
