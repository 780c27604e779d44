package wire

// Events of the protocol.
const (
	UserMessage        = "user.message"
	UserSolveTasks     = "user.solve_tasks"
	UserResponse       = "user.response"
	UserCancel         = "user.cancel"
	UserCancelTask     = "user.cancel_task"
	UserRestartTask    = "user.restart_task"
	UserRetryTask      = "user.retry_task"
	UserCancelPlan     = "user.cancel_plan"
	UserReplan         = "user.replan"
	UserAck            = "user.ack"
	UserCreateSession  = "user.create_session"
	UserReconnect      = "user.reconnect"
	UserReconnectState = "user.reconnect_with_state"
	UserRequestState   = "user.request_state"
	// agentctl's extension, with the capability "history"
	UserRequestHistory = "user.request_history"

	PlanStart       = "plan.start"
	PlanCompleted   = "plan.completed"
	PlanCancelled   = "plan.cancelled"
	PlanCoercion    = "plan.coercion_error"
	PlanInvalid     = "plan.validation_error"
	SolverStart     = "solver.start"
	SolverProgress  = "solver.progress"
	SolverCompleted = "solver.completed"
	SolverFailed    = "solver.step_failed"
	SolverCancelled = "solver.cancelled"
	SolverRestarted = "solver.restarted"

	AggregateStart     = "aggregate.start"
	AggregateCompleted = "aggregate.completed"
	PipelineCompleted  = "pipeline.completed"

	AgentThinking       = "agent.thinking"
	AgentLLMMessage     = "agent.llm_message"
	AgentToolCall       = "agent.tool_call"
	AgentToolResult     = "agent.tool_result"
	AgentPartialAnswer  = "agent.partial_answer"
	AgentFinalAnswer    = "agent.final_answer"
	AgentUserConfirm    = "agent.user_confirm"
	AgentError          = "agent.error"
	AgentTimeout        = "agent.timeout"
	AgentInterrupted    = "agent.interrupted"
	AgentSessionCreated = "agent.session_created"
	AgentSessionEnd     = "agent.session_end"
	AgentStateExported  = "agent.state_exported"
	AgentStateRestored  = "agent.state_restored"

	SystemConnected = "system.connected"
	SystemNotice    = "system.notice"
	SystemHeartbeat = "system.heartbeat"
	SystemError     = "system.error"

	ErrorValidation      = "error.validation"
	ErrorTimeout         = "error.timeout"
	ErrorExecution       = "error.execution"
	ErrorRetry           = "error.retry"
	ErrorRetryAttempt    = "error.retry_attempt"
	ErrorRecoveryStarted = "error.recovery_started"
	ErrorRecoverySuccess = "error.recovery_success"
	ErrorRecoveryFailed  = "error.recovery_failed"
)

// Capabilities in agentctl's system.connected.
const (
	CapTurns     = "turns"     // announces every turn, and native events as notices
	CapReconnect = "reconnect" // supports user.reconnect
	CapHistory   = "history"   // answers user.request_history with finished turns
	CapReply     = "reply"     // answers metadata.reply_to with exactly one notice or error
)

// Capabilities lists the capabilities that agentctl's server announces.
var Capabilities = []string{
	"streaming", "confirm", "plan", "tasks", "ack", "replay", "state", "queue", CapReconnect, CapReply, CapTurns,
	CapHistory,
}

// Actions of a system.notice, in addition to the native event types.
const (
	ActionReplay      = "replay"
	ActionReconnected = "reconnected"
	ActionReply       = "reply"
)
