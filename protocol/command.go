package protocol

import "encoding/json"

// A Command is a request of a client. ID pairs the answer with it on the connection and may be any
// string; without one, only an error is answered. Key makes a command that changes state
// idempotent: sent again with the same key, it returns the first answer and does nothing.
type Command struct {
	ID      string          `json:"id,omitempty"`
	Command Verb            `json:"command"`
	Session string          `json:"session,omitempty"` // id, exact name or unique id prefix
	Key     string          `json:"key,omitempty"`     // at most 128 bytes, never used twice
	Data    json.RawMessage `json:"data,omitempty"`
}

// An Answer is the result or the error of the command with the same id.
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
	DoLabel        Verb = "label"
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
	DoUndo         Verb = "undo"
	DoRetry        Verb = "retry"
	DoFork         Verb = "fork"
	DoExport       Verb = "export"
	DoRestore      Verb = "restore"
	DoImport       Verb = "import"
	DoPing         Verb = "ping"
)

// A CommandType describes a command. The role checks of the server, the schema, the documentation
// and the tests of every package that carries commands follow from it.
type CommandType struct {
	Verb       Verb
	Data       func() any // returns a pointer to the type of the data
	Result     func() any // returns a pointer to the type of the result
	Role       Role       // the weakest role that may send it
	Connection bool       // the connection carries it out, not the session or the list of sessions
	Session    bool       // Command.Session is required
	Changes    bool       // it changes state, so it takes a key
}

// Commands lists every command of the protocol, in the order of the documentation.
var Commands = []CommandType{
	{Verb: DoHello, Data: of[HelloData], Result: of[HelloResult], Role: RoleObserver, Connection: true},
	{Verb: DoPing, Data: of[Empty], Result: of[Empty], Role: RoleObserver, Connection: true},
	{
		Verb: DoSubscribe, Data: of[SubscribeData], Result: of[SubscribeResult], Role: RoleObserver,
		Connection: true, Session: true,
	},
	{Verb: DoUnsubscribe, Data: of[Empty], Result: of[Empty], Role: RoleObserver, Connection: true, Session: true},
	{Verb: DoAck, Data: of[AckData], Result: of[Empty], Role: RoleObserver, Connection: true, Session: true},
	{Verb: DoWatch, Data: of[WatchData], Result: of[ListResult], Role: RoleObserver, Connection: true},
	{Verb: DoList, Data: of[ListData], Result: of[ListResult], Role: RoleObserver},
	{Verb: DoSnapshot, Data: of[Empty], Result: of[SnapshotResult], Role: RoleObserver, Session: true},
	{Verb: DoHistory, Data: of[HistoryData], Result: of[HistoryResult], Role: RoleObserver, Session: true},
	{Verb: DoSearch, Data: of[SearchData], Result: of[SearchResult], Role: RoleObserver},
	{Verb: DoBlob, Data: of[BlobData], Result: of[BlobResult], Role: RoleObserver, Session: true},
	{Verb: DoCreate, Data: of[CreateData], Result: of[CreateResult], Role: RoleOperator, Changes: true},
	{Verb: DoRename, Data: of[RenameData], Result: of[Empty], Role: RoleOperator, Session: true, Changes: true},
	{Verb: DoLabel, Data: of[LabelData], Result: of[LabelResult], Role: RoleOperator, Session: true, Changes: true},
	{Verb: DoConfigure, Data: of[ConfigureData], Result: of[Empty], Role: RoleOperator, Session: true, Changes: true},
	{Verb: DoClose, Data: of[CloseData], Result: of[CloseResult], Role: RoleOperator, Session: true, Changes: true},
	{Verb: DoSend, Data: of[SendData], Result: of[SendResult], Role: RoleOperator, Session: true, Changes: true},
	{
		Verb: DoInterrupt, Data: of[InterruptData], Result: of[InterruptResult], Role: RoleOperator, Session: true,
		Changes: true,
	},
	{Verb: DoQueueEdit, Data: of[QueueEditData], Result: of[Empty], Role: RoleOperator, Session: true, Changes: true},
	{
		Verb: DoQueueRemove, Data: of[QueueRemoveData], Result: of[QueueRemoveResult], Role: RoleOperator,
		Session: true, Changes: true,
	},
	{Verb: DoQueueMove, Data: of[QueueMoveData], Result: of[Empty], Role: RoleOperator, Session: true, Changes: true},
	{
		Verb: DoQueueHold, Data: of[QueueHoldData], Result: of[QueueHoldResult], Role: RoleOperator, Session: true,
		Changes: true,
	},
	{
		Verb: DoQueueRelease, Data: of[QueueReleaseData], Result: of[QueueReleaseResult], Role: RoleOperator,
		Session: true, Changes: true,
	},
	{
		Verb: DoApprove, Data: of[ApproveData], Result: of[ApproveResult], Role: RoleApprover, Session: true,
		Changes: true,
	},
	{Verb: DoRulesList, Data: of[Empty], Result: of[RulesResult], Role: RoleObserver, Session: true},
	{
		Verb: DoRulesRevoke, Data: of[RulesRevokeData], Result: of[Empty], Role: RoleApprover, Session: true,
		Changes: true,
	},
	{Verb: DoTaskCancel, Data: of[TaskIDData], Result: of[Empty], Role: RoleOperator, Session: true, Changes: true},
	{Verb: DoTaskRestart, Data: of[TaskIDData], Result: of[Empty], Role: RoleOperator, Session: true, Changes: true},
	{Verb: DoPlanRun, Data: of[PlanRunData], Result: of[SendResult], Role: RoleOperator, Session: true, Changes: true},
	{Verb: DoContext, Data: of[Empty], Result: of[ContextResult], Role: RoleObserver, Session: true},
	{Verb: DoCompact, Data: of[Empty], Result: of[CompactResult], Role: RoleOperator, Session: true, Changes: true},
	{Verb: DoUndo, Data: of[Empty], Result: of[UndoResult], Role: RoleOperator, Session: true, Changes: true},
	{Verb: DoRetry, Data: of[Empty], Result: of[SendResult], Role: RoleOperator, Session: true, Changes: true},
	{Verb: DoFork, Data: of[ForkData], Result: of[CreateResult], Role: RoleOperator, Session: true, Changes: true},
	{Verb: DoExport, Data: of[Empty], Result: of[ExportResult], Role: RoleObserver, Session: true},
	{Verb: DoRestore, Data: of[RestoreData], Result: of[CreateResult], Role: RoleOperator, Changes: true},
	{Verb: DoImport, Data: of[ImportData], Result: of[CreateResult], Role: RoleOperator, Changes: true},
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
