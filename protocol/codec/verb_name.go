package codec

import (
	"cmp"

	"agentctl/protocol"
)

// verbNames names commands in errors for users.
var verbNames = map[protocol.Verb]string{
	protocol.DoSubscribe:    "following a session",
	protocol.DoList:         "listing sessions",
	protocol.DoWatch:        "listing sessions",
	protocol.DoSnapshot:     "the status of a session",
	protocol.DoHistory:      "past turns",
	protocol.DoCreate:       "creating a session",
	protocol.DoRename:       "renaming a session",
	protocol.DoLabel:        "labels of sessions",
	protocol.DoClose:        "removing a session",
	protocol.DoSend:         "sending a message",
	protocol.DoInterrupt:    "interrupting a turn",
	protocol.DoQueueEdit:    "editing a queued message",
	protocol.DoQueueRemove:  "removing a queued message",
	protocol.DoQueueMove:    "moving a queued message",
	protocol.DoQueueHold:    "holding the queue",
	protocol.DoQueueRelease: "releasing the queue",
	protocol.DoApprove:      "decisions on requests",
	protocol.DoRulesList:    "rules",
	protocol.DoRulesRevoke:  "rules",
	protocol.DoTaskCancel:   "cancelling a task",
	protocol.DoTaskRestart:  "restarting a task",
	protocol.DoPlanRun:      "running a plan",
	protocol.DoContext:      "the usage of the context",
	protocol.DoCompact:      "compacting the context",
	protocol.DoUndo:         "undoing a turn",
	protocol.DoRetry:        "repeating a turn",
	protocol.DoFork:         "forking a session",
	protocol.DoExport:       "exporting the state of a session",
	protocol.DoRestore:      "restoring the state of a session",
	protocol.DoImport:       "importing a session",
	protocol.DoConfigure:    "settings of the agent",
	protocol.DoSearch:       "search",
	protocol.DoBlob:         "content stored by the server",
}

// verbName returns the name of a command, or what itself if it is none.
func verbName(what string) string { return cmp.Or(verbNames[protocol.Verb(what)], what) }
