package client

import (
	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/multiagent/wire"
)

// verbs lists the commands that the dialect carries, or that the client end implements itself.
var verbs = []protocol.Verb{
	protocol.DoSubscribe, protocol.DoUnsubscribe, protocol.DoWatch, protocol.DoList, protocol.DoSnapshot,
	protocol.DoHistory, protocol.DoCreate, protocol.DoSend, protocol.DoInterrupt, protocol.DoApprove,
	protocol.DoQueueEdit, protocol.DoQueueRemove, protocol.DoQueueMove, protocol.DoQueueHold, protocol.DoQueueRelease,
}

// localVerbs lists the commands on state that only the client keeps. A one-shot client has none.
var localVerbs = []protocol.Verb{
	protocol.DoList, protocol.DoHistory,
	protocol.DoQueueEdit, protocol.DoQueueRemove, protocol.DoQueueMove, protocol.DoQueueHold, protocol.DoQueueRelease,
}

// NoQueue is the reason why no command changes the queue.
const NoQueue = "the server's queue cannot be changed, only that of an attached client"

// unsupportedReasons explains the rejection of a command.
var unsupportedReasons = map[protocol.Verb]string{
	protocol.DoList:         "it has no list of sessions, name one",
	protocol.DoHistory:      "its server has no history",
	protocol.DoQueueEdit:    NoQueue,
	protocol.DoQueueRemove:  NoQueue,
	protocol.DoQueueMove:    NoQueue,
	protocol.DoQueueHold:    NoQueue,
	protocol.DoQueueRelease: NoQueue,
}

// Responder declares the commands that the client supports.
var Responder = codec.Responder{
	Dialect: wire.Name, Verbs: verbs, LocalVerbs: localVerbs, Reasons: unsupportedReasons, ForwardsPing: true,
}

// textOnly names the unsupported kinds of content.
const textOnly = "message parts other than text"
