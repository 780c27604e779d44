package multiagent

import (
	"time"

	"agentctl/protocol"
)

// Name is the dialect's name.
const Name = "multiagent"

// Dialect is the protocol of Multi-Agent-Intelligence, both ends.
var Dialect = protocol.Dialect{
	Name:         Name,
	Server:       func(d protocol.Door) protocol.Codec { return NewServer(d) },
	Client:       func(c protocol.Call) protocol.Codec { return NewClient(c) },
	TokenInQuery: true,
	NoQueue:      true,
	Accepts:      true,
	Retry:        protocol.Retry{Attempts: 5, Delay: 3 * time.Second},
	Options: []protocol.DialectOption{
		{Name: "backoff", Ends: clientEnd, Values: []string{"even", "exponential"}, About: "between attempts to reconnect"},
		{Name: "domain", Ends: clientEnd, Kind: protocol.OptionText, About: "of sessions that name no agent"},
		{Name: "thinking", Ends: clientEnd, Values: []string{"false", "true"}, About: "ask for reasoning"},
	},
}

var clientEnd = []protocol.End{protocol.ClientEnd}
