package effectiveagent

import "agentctl/protocol"

// Name is the dialect's name.
const Name = "effectiveagent"

// Dialect is EffectiveAgent's protocol, both ends.
var Dialect = protocol.Dialect{
	Name:   Name,
	Server: func(d protocol.Door) protocol.Codec { return NewServer(d) },
	Client: func(c protocol.Call) protocol.Codec { return NewClient(c) },
	Options: []protocol.DialectOption{
		{
			Name: "activities", Ends: []protocol.End{protocol.ClientEnd, protocol.ServerEnd}, Values: []string{"document", "system"},
			About: "the form of activities before the peer shows its own",
		},
		{Name: "quiet", Ends: []protocol.End{protocol.ClientEnd}, Kind: protocol.OptionDuration, About: "after which an answered turn is over (5s)"},
	},
}

// Bounds of one connection.
const (
	maxRuntimes = 64  // agent runtimes followed
	maxWaiting  = 256 // commands without an answer
	maxID       = 256 // bytes of an agent runtime's id
)
