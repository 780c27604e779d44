package client

import (
	"agentctl/protocol"
	"agentctl/protocol/agentloop/wire"
	"agentctl/protocol/codec"
)

// verbs are the commands that the dialect supports.
var verbs = []protocol.Verb{
	protocol.DoSubscribe, protocol.DoUnsubscribe, protocol.DoWatch, protocol.DoList, protocol.DoSnapshot,
	protocol.DoHistory,
	protocol.DoSend, protocol.DoApprove, protocol.DoContext, protocol.DoCompact,
}

// unsupportedReasons explains unsupported commands.
var unsupportedReasons = map[protocol.Verb]string{
	protocol.DoCreate:  "the first message to a session creates it; the last part of the URL's path is its name",
	protocol.DoHistory: "its server has no history",
}

// Responder declares the commands that the client supports.
var Responder = codec.Responder{
	Dialect: wire.Name, Verbs: verbs, LocalVerbs: []protocol.Verb{protocol.DoHistory}, Reasons: unsupportedReasons,
}
