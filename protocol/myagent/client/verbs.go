package client

import (
	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/myagent/wire"
)

// verbs lists the commands that the dialect supports besides hello and ping.
var verbs = []protocol.Verb{
	protocol.DoSubscribe, protocol.DoUnsubscribe, protocol.DoAck, protocol.DoWatch, protocol.DoList,
	protocol.DoSnapshot, protocol.DoHistory, protocol.DoCreate, protocol.DoSend, protocol.DoInterrupt,
	protocol.DoApprove, protocol.DoTaskCancel, protocol.DoTaskRestart, protocol.DoPlanRun,
	protocol.DoExport, protocol.DoRestore,
}

// unsupportedReasons explains the rejection of a command.
var unsupportedReasons = map[protocol.Verb]string{protocol.DoList: "it has no list of sessions, name one"}

// Responder declares the commands that the client supports.
var Responder = codec.Responder{
	Dialect: wire.Name, Verbs: verbs, LocalVerbs: []protocol.Verb{protocol.DoList}, Reasons: unsupportedReasons,
	Window: protocol.DefaultWindow,
}
