package protocol

// A Type is the type of an event: a family, and what happened.
type Type string

// Durable event types.
const (
	SessionCreated Type = "session.created"
	SessionUpdated Type = "session.updated"
	SessionClosed  Type = "session.closed"

	MessageUser Type = "message.user"
	TurnStarted Type = "turn.started"
	TurnEnded   Type = "turn.ended"

	TextStart      Type = "text.start"
	TextDelta      Type = "text.delta"
	TextEnd        Type = "text.end"
	TextContent    Type = "text.content"
	ReasoningStart Type = "reasoning.start"
	ReasoningDelta Type = "reasoning.delta"
	ReasoningEnd   Type = "reasoning.end"
	JoinedDeltas   Type = "fold"

	ToolStarted Type = "tool.started"
	ToolInput   Type = "tool.input"
	ToolOutput  Type = "tool.output"
	ToolEnded   Type = "tool.ended"

	ApprovalRequested Type = "approval.requested"
	ApprovalExplained Type = "approval.explained"
	ApprovalResolved  Type = "approval.resolved"

	QueueAdded     Type = "queue.added"
	QueueScheduled Type = "queue.scheduled"
	QueueUpdated   Type = "queue.updated"
	QueueRemoved   Type = "queue.removed"
	QueueMoved     Type = "queue.moved"
	QueueHeld      Type = "queue.held"
	QueueReleased  Type = "queue.released"

	PlanStarted   Type = "plan.started"
	PlanUpdated   Type = "plan.updated"
	PlanCompleted Type = "plan.completed"
	PlanInvalid   Type = "plan.invalid"
	PlanCancelled Type = "plan.cancelled"
	PlanFailed    Type = "plan.failed"

	TaskStarted   Type = "task.started"
	TaskProgress  Type = "task.progress"
	TaskCompleted Type = "task.completed"
	TaskFailed    Type = "task.failed"
	TaskCancelled Type = "task.cancelled"
	TaskRestarted Type = "task.restarted"

	AggregateStarted   Type = "aggregate.started"
	AggregateCompleted Type = "aggregate.completed"
	PipelineCompleted  Type = "pipeline.completed"

	ContextUpdated   Type = "context.updated"
	ContextCompacted Type = "context.compacted"
	UsageUpdated     Type = "usage.updated"
	AgentOptions     Type = "agent.options"

	ErrorRaised       Type = "error"
	RetryScheduled    Type = "retry.scheduled"
	RecoveryStarted   Type = "recovery.started"
	RecoverySucceeded Type = "recovery.succeeded"
	RecoveryFailed    Type = "recovery.failed"

	StateExported Type = "state.exported"
	StateRestored Type = "state.restored"
	Notice        Type = "notice"
	Raw           Type = "raw"
)

// Ephemeral event types: no seq, never stored, never replayed.
const (
	ClientAttached Type = "client.attached"
	ClientDetached Type = "client.detached"
	ClientLag      Type = "client.lag"
	SummaryChanged Type = "session.summary"
	Heartbeat      Type = "heartbeat"
	CaughtUp       Type = "caught_up"
)

// An EventType describes one type of event. What the rest of the module needs to know of a type
// stands in its row: the sanitizer of agents' events, exports, imports, pages of history and
// documents ask it.
type EventType struct {
	Type      Type
	New       func() any // returns a pointer to the type of the data
	Ephemeral bool       // it has no seq and is not stored
	AgentMay  bool       // an agent may emit it; only the session emits the others
	Exported  bool       // an exported state carries it
	Outside   bool       // outside of turns it is a part of the conversation: history and exports have it
}

func of[T any]() any { return new(T) }

// EventTypes lists every event type of the protocol, in the order of the documentation.
var EventTypes = []EventType{
	{Type: SessionCreated, New: of[SessionCreatedData]},
	{Type: SessionUpdated, New: of[SessionUpdatedData]},
	{Type: SessionClosed, New: of[SessionClosedData]},
	{Type: MessageUser, New: of[MessageUserData], Exported: true},
	{Type: TurnStarted, New: of[TurnStartedData], Exported: true},
	{Type: TurnEnded, New: of[TurnEndedData], Exported: true},
	{Type: TextStart, New: of[PartStartData], AgentMay: true, Exported: true},
	{Type: TextDelta, New: of[PartDeltaData], AgentMay: true, Exported: true},
	{Type: TextEnd, New: of[PartEndData], AgentMay: true, Exported: true},
	{Type: TextContent, New: of[TextContentData], AgentMay: true, Exported: true},
	{Type: ReasoningStart, New: of[PartStartData], AgentMay: true, Exported: true},
	{Type: ReasoningDelta, New: of[PartDeltaData], AgentMay: true, Exported: true},
	{Type: ReasoningEnd, New: of[PartEndData], AgentMay: true, Exported: true},
	{Type: JoinedDeltas, New: of[JoinedData], Exported: true},
	{Type: ToolStarted, New: of[ToolStartedData], AgentMay: true, Exported: true},
	{Type: ToolInput, New: of[ToolInputData], AgentMay: true, Exported: true},
	{Type: ToolOutput, New: of[ToolOutputData], AgentMay: true, Exported: true},
	{Type: ToolEnded, New: of[ToolEndedData], AgentMay: true, Exported: true},
	{Type: ApprovalRequested, New: of[Approval], Exported: true},
	{Type: ApprovalExplained, New: of[ApprovalExplainedData], Exported: true},
	{Type: ApprovalResolved, New: of[ApprovalResolvedData], Exported: true},
	{Type: QueueAdded, New: of[QueueAddedData]},
	{Type: QueueScheduled, New: of[QueueScheduledData]},
	{Type: QueueUpdated, New: of[QueueUpdatedData]},
	{Type: QueueRemoved, New: of[QueueRemovedData]},
	{Type: QueueMoved, New: of[QueueMovedData]},
	{Type: QueueHeld, New: of[Hold]},
	{Type: QueueReleased, New: of[QueueReleasedData]},
	{Type: PlanStarted, New: of[PlanStartedData], AgentMay: true, Exported: true},
	{Type: PlanUpdated, New: of[PlanTasksData], AgentMay: true, Exported: true},
	{Type: PlanCompleted, New: of[PlanTasksData], AgentMay: true, Exported: true},
	{Type: PlanInvalid, New: of[PlanErrorData], AgentMay: true, Exported: true},
	{Type: PlanCancelled, New: of[PlanErrorData], AgentMay: true, Exported: true},
	{Type: PlanFailed, New: of[PlanErrorData], AgentMay: true, Exported: true},
	{Type: TaskStarted, New: of[TaskData], AgentMay: true, Exported: true},
	{Type: TaskProgress, New: of[TaskData], AgentMay: true, Exported: true},
	{Type: TaskCompleted, New: of[TaskData], AgentMay: true, Exported: true},
	{Type: TaskFailed, New: of[TaskData], AgentMay: true, Exported: true},
	{Type: TaskCancelled, New: of[TaskData], AgentMay: true, Exported: true},
	{Type: TaskRestarted, New: of[TaskData], AgentMay: true, Exported: true},
	{Type: AggregateStarted, New: of[AggregateData], AgentMay: true, Exported: true},
	{Type: AggregateCompleted, New: of[AggregateData], AgentMay: true, Exported: true},
	{Type: PipelineCompleted, New: of[AggregateData], AgentMay: true, Exported: true},
	{Type: ContextUpdated, New: of[ContextInfo], AgentMay: true},
	{Type: ContextCompacted, New: of[ContextCompactedData], AgentMay: true},
	{Type: UsageUpdated, New: of[Usage], AgentMay: true},
	{Type: AgentOptions, New: of[Options], AgentMay: true},
	{Type: ErrorRaised, New: of[ErrorData], AgentMay: true, Exported: true},
	{Type: RetryScheduled, New: of[RetryData], AgentMay: true},
	{Type: RecoveryStarted, New: of[RecoveryData], AgentMay: true},
	{Type: RecoverySucceeded, New: of[RecoveryData], AgentMay: true},
	{Type: RecoveryFailed, New: of[RecoveryData], AgentMay: true},
	{Type: StateExported, New: of[StateExportedData]},
	{Type: StateRestored, New: of[StateRestoredData]},
	{Type: Notice, New: of[NoticeData], AgentMay: true, Exported: true, Outside: true},
	{Type: Raw, New: of[RawData], AgentMay: true},
	{Type: ClientAttached, New: of[Client], Ephemeral: true},
	{Type: ClientDetached, New: of[Client], Ephemeral: true},
	{Type: ClientLag, New: of[Client], Ephemeral: true},
	{Type: SummaryChanged, New: of[Summary], Ephemeral: true},
	{Type: Heartbeat, New: of[HeartbeatData], Ephemeral: true},
	{Type: CaughtUp, New: of[CaughtUpData], Ephemeral: true},
}

var eventTypes = func() map[Type]*EventType {
	byType := make(map[Type]*EventType, len(EventTypes))
	for i := range EventTypes {
		byType[EventTypes[i].Type] = &EventTypes[i]
	}
	return byType
}()

// EventTypeOf returns the row of a type, or nil if the protocol has no such type.
func EventTypeOf(t Type) *EventType { return eventTypes[t] }

// OutsideOfTurns reports whether an event of type t in a turn, "" if it is in no turn, is a part of
// the conversation that belongs to no turn.
func OutsideOfTurns(t Type, turn string) bool {
	row := eventTypes[t]
	return turn == "" && row != nil && row.Outside
}
