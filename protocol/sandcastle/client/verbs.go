package client

import (
	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/sandcastle/wire"
)

// verbs lists the commands that the dialect supports.
var verbs = []protocol.Verb{
	protocol.DoSubscribe, protocol.DoUnsubscribe, protocol.DoSnapshot, protocol.DoHistory, protocol.DoSend,
	protocol.DoInterrupt, protocol.DoQueueRemove, protocol.DoApprove,
}

// unsupportedReasons explains the rejection of a command.
var unsupportedReasons = map[protocol.Verb]string{
	protocol.DoList:         "it has no list of sessions, name one",
	protocol.DoWatch:        "it has no list of sessions",
	protocol.DoCreate:       "its sessions are created elsewhere",
	protocol.DoQueueEdit:    "remove the message and send it again",
	protocol.DoQueueMove:    "remove the message and send it again",
	protocol.DoQueueHold:    "its queue has no holds",
	protocol.DoQueueRelease: "its queue has no holds",
}

// Responder declares the commands that the client supports.
var Responder = codec.Responder{Dialect: wire.Name, Verbs: verbs, Reasons: unsupportedReasons}
