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
	ClientLook     Type = "client.look"
	ClientPointed  Type = "client.pointed"
	SummaryChanged Type = "session.summary"
	Heartbeat      Type = "heartbeat"
	CaughtUp       Type = "caught_up"
)

// An EventType describes one type of event. New returns a pointer to its data.
type EventType struct {
	Type      Type
	New       func() any
	Ephemeral bool
}

func of[T any]() any { return new(T) }

// EventTypes lists every event type of the protocol, in the order of the documentation.
var EventTypes = []EventType{
	{SessionCreated, of[SessionCreatedData], false},
	{SessionUpdated, of[SessionUpdatedData], false},
	{SessionClosed, of[SessionClosedData], false},
	{MessageUser, of[MessageUserData], false},
	{TurnStarted, of[TurnStartedData], false},
	{TurnEnded, of[TurnEndedData], false},
	{TextStart, of[PartStartData], false},
	{TextDelta, of[PartDeltaData], false},
	{TextEnd, of[PartEndData], false},
	{TextContent, of[TextContentData], false},
	{ReasoningStart, of[PartStartData], false},
	{ReasoningDelta, of[PartDeltaData], false},
	{ReasoningEnd, of[PartEndData], false},
	{JoinedDeltas, of[JoinedData], false},
	{ToolStarted, of[ToolStartedData], false},
	{ToolInput, of[ToolInputData], false},
	{ToolOutput, of[ToolOutputData], false},
	{ToolEnded, of[ToolEndedData], false},
	{ApprovalRequested, of[Approval], false},
	{ApprovalExplained, of[ApprovalExplainedData], false},
	{ApprovalResolved, of[ApprovalResolvedData], false},
	{QueueAdded, of[QueueAddedData], false},
	{QueueScheduled, of[QueueScheduledData], false},
	{QueueUpdated, of[QueueUpdatedData], false},
	{QueueRemoved, of[QueueRemovedData], false},
	{QueueMoved, of[QueueMovedData], false},
	{QueueHeld, of[Hold], false},
	{QueueReleased, of[QueueReleasedData], false},
	{PlanStarted, of[PlanStartedData], false},
	{PlanUpdated, of[PlanTasksData], false},
	{PlanCompleted, of[PlanTasksData], false},
	{PlanInvalid, of[PlanErrorData], false},
	{PlanCancelled, of[PlanErrorData], false},
	{PlanFailed, of[PlanErrorData], false},
	{TaskStarted, of[TaskData], false},
	{TaskProgress, of[TaskData], false},
	{TaskCompleted, of[TaskData], false},
	{TaskFailed, of[TaskData], false},
	{TaskCancelled, of[TaskData], false},
	{TaskRestarted, of[TaskData], false},
	{AggregateStarted, of[AggregateData], false},
	{AggregateCompleted, of[AggregateData], false},
	{PipelineCompleted, of[AggregateData], false},
	{ContextUpdated, of[ContextInfo], false},
	{ContextCompacted, of[ContextCompactedData], false},
	{UsageUpdated, of[Usage], false},
	{AgentOptions, of[Options], false},
	{ErrorRaised, of[ErrorData], false},
	{RetryScheduled, of[RetryData], false},
	{RecoveryStarted, of[RecoveryData], false},
	{RecoverySucceeded, of[RecoveryData], false},
	{RecoveryFailed, of[RecoveryData], false},
	{StateExported, of[StateExportedData], false},
	{StateRestored, of[StateRestoredData], false},
	{Notice, of[NoticeData], false},
	{Raw, of[RawData], false},
	{ClientAttached, of[Client], true},
	{ClientDetached, of[Client], true},
	{ClientLag, of[Client], true},
	{ClientLook, of[Client], true},
	{ClientPointed, of[PointedData], true},
	{SummaryChanged, of[Summary], true},
	{Heartbeat, of[HeartbeatData], true},
	{CaughtUp, of[CaughtUpData], true},
}
