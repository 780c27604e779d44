package protocol

import "encoding/json"

// A Command is what a client asks of a server. ID pairs the answer on its connection and may be any string; a command
// without one is answered only when it fails. Key makes a command that changes state idempotent: sent again with the same
// key, it returns the first answer and does nothing.
type Command struct {
	ID      string          `json:"id,omitempty"`
	Command Verb            `json:"command"`
	Session string          `json:"session,omitempty"` // id, exact name or unique id prefix
	Key     string          `json:"key,omitempty"`     // at most 128 bytes, unique for ever
	Data    json.RawMessage `json:"data,omitempty"`
}

// An Answer answers the command with the same id: with a result or an error.
type Answer struct {
	ID     string          `json:"id,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *Error          `json:"error,omitempty"`
}

// A Verb names what a command does.
type Verb string

// The verbs.
const (
	DoHello        Verb = "hello"
	DoSubscribe    Verb = "subscribe"
	DoUnsubscribe  Verb = "unsubscribe"
	DoAck          Verb = "ack"
	DoWatch        Verb = "watch"
	DoList         Verb = "list"
	DoSnapshot     Verb = "snapshot"
	DoHistory      Verb = "history"
	DoSearch       Verb = "search"
	DoBlob         Verb = "blob"
	DoCreate       Verb = "create"
	DoRename       Verb = "rename"
	DoConfigure    Verb = "configure"
	DoClose        Verb = "close"
	DoSend         Verb = "send"
	DoInterrupt    Verb = "interrupt"
	DoQueueEdit    Verb = "queue.edit"
	DoQueueRemove  Verb = "queue.remove"
	DoQueueMove    Verb = "queue.move"
	DoQueueHold    Verb = "queue.hold"
	DoQueueRelease Verb = "queue.release"
	DoApprove      Verb = "approve"
	DoRulesList    Verb = "rules.list"
	DoRulesRevoke  Verb = "rules.revoke"
	DoTaskCancel   Verb = "task.cancel"
	DoTaskRestart  Verb = "task.restart"
	DoPlanRun      Verb = "plan.run"
	DoContext      Verb = "context"
	DoCompact      Verb = "compact"
	DoExport       Verb = "export"
	DoRestore      Verb = "restore"
	DoPing         Verb = "ping"
)

// A CommandType describes a command. Data and Result return pointers to their types.
type CommandType struct {
	Verb    Verb
	Data    func() any
	Result  func() any
	Session bool // it needs a session
	Changes bool // it changes state, so it takes a key
}

// Commands lists every command of the protocol, in the order of the documentation.
var Commands = []CommandType{
	{DoHello, of[HelloData], of[HelloResult], false, false},
	{DoPing, of[Empty], of[Empty], false, false},
	{DoSubscribe, of[SubscribeData], of[SubscribeResult], true, false},
	{DoUnsubscribe, of[Empty], of[Empty], true, false},
	{DoAck, of[AckData], of[Empty], true, false},
	{DoWatch, of[WatchData], of[ListResult], false, false},
	{DoList, of[ListData], of[ListResult], false, false},
	{DoSnapshot, of[Empty], of[SnapshotResult], true, false},
	{DoHistory, of[HistoryData], of[HistoryResult], true, false},
	{DoSearch, of[SearchData], of[SearchResult], false, false},
	{DoBlob, of[BlobData], of[BlobResult], true, false},
	{DoCreate, of[CreateData], of[CreateResult], false, true},
	{DoRename, of[RenameData], of[Empty], true, true},
	{DoConfigure, of[ConfigureData], of[Empty], true, true},
	{DoClose, of[CloseData], of[Empty], true, true},
	{DoSend, of[SendData], of[SendResult], true, true},
	{DoInterrupt, of[InterruptData], of[InterruptResult], true, true},
	{DoQueueEdit, of[QueueEditData], of[Empty], true, true},
	{DoQueueRemove, of[QueueRemoveData], of[QueueRemoveResult], true, true},
	{DoQueueMove, of[QueueMoveData], of[Empty], true, true},
	{DoQueueHold, of[QueueHoldData], of[QueueHoldResult], true, true},
	{DoQueueRelease, of[QueueReleaseData], of[QueueReleaseResult], true, true},
	{DoApprove, of[ApproveData], of[ApproveResult], true, true},
	{DoRulesList, of[Empty], of[RulesResult], true, false},
	{DoRulesRevoke, of[RulesRevokeData], of[Empty], true, true},
	{DoTaskCancel, of[TaskIDData], of[Empty], true, true},
	{DoTaskRestart, of[TaskIDData], of[Empty], true, true},
	{DoPlanRun, of[PlanRunData], of[SendResult], true, true},
	{DoContext, of[Empty], of[ContextResult], true, false},
	{DoCompact, of[Empty], of[CompactResult], true, true},
	{DoExport, of[Empty], of[ExportResult], true, false},
	{DoRestore, of[RestoreData], of[CreateResult], false, true},
}

// CommandOf returns the type of a verb, or nil.
func CommandOf(v Verb) *CommandType {
	for i := range Commands {
		if Commands[i].Verb == v {
			return &Commands[i]
		}
	}
	return nil
}

// Empty is the data or result of commands that have none.
type Empty struct{}
