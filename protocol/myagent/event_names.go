package myagent

// Events of the foreign protocol.
const (
	userMessage        = "user.message"
	userSolveTasks     = "user.solve_tasks"
	userResponse       = "user.response"
	userCancel         = "user.cancel"
	userCancelTask     = "user.cancel_task"
	userRestartTask    = "user.restart_task"
	userRetryTask      = "user.retry_task"
	userCancelPlan     = "user.cancel_plan"
	userReplan         = "user.replan"
	userAck            = "user.ack"
	userCreateSession  = "user.create_session"
	userReconnect      = "user.reconnect"
	userReconnectState = "user.reconnect_with_state"
	userRequestState   = "user.request_state"
	userRequestHistory = "user.request_history" // our own: of a server with the capability "history"

	planStart       = "plan.start"
	planCompleted   = "plan.completed"
	planCancelled   = "plan.cancelled"
	planCoercion    = "plan.coercion_error"
	planInvalid     = "plan.validation_error"
	solverStart     = "solver.start"
	solverProgress  = "solver.progress"
	solverCompleted = "solver.completed"
	solverFailed    = "solver.step_failed"
	solverCancelled = "solver.cancelled"
	solverRestarted = "solver.restarted"

	aggregateStart     = "aggregate.start"
	aggregateCompleted = "aggregate.completed"
	pipelineCompleted  = "pipeline.completed"

	agentThinking       = "agent.thinking"
	agentToolCall       = "agent.tool_call"
	agentToolResult     = "agent.tool_result"
	agentPartialAnswer  = "agent.partial_answer"
	agentFinalAnswer    = "agent.final_answer"
	agentUserConfirm    = "agent.user_confirm"
	agentError          = "agent.error"
	agentTimeout        = "agent.timeout"
	agentInterrupted    = "agent.interrupted"
	agentSessionCreated = "agent.session_created"
	agentSessionEnd     = "agent.session_end"
	agentStateExported  = "agent.state_exported"
	agentStateRestored  = "agent.state_restored"

	systemConnected = "system.connected"
	systemNotice    = "system.notice"
	systemHeartbeat = "system.heartbeat"
	systemError     = "system.error"

	errorValidation      = "error.validation"
	errorTimeout         = "error.timeout"
	errorExecution       = "error.execution"
	errorRetry           = "error.retry"
	errorRetryAttempt    = "error.retry_attempt"
	errorRecoveryStarted = "error.recovery_started"
	errorRecoverySuccess = "error.recovery_success"
	errorRecoveryFailed  = "error.recovery_failed"
)

// Capabilities that our server tells of in system.connected.
const (
	capTurns     = "turns"     // every turn's start and end is told, and what MyAgent has no word for goes as notices
	capReconnect = "reconnect" // user.reconnect works
	capHistory   = "history"   // user.request_history is answered with finished turns
	capReply     = "reply"     // a frame with metadata.reply_to gets exactly one notice or error with the same
)

var capabilities = []string{
	"streaming", "confirm", "plan", "tasks", "ack", "replay", "state", "queue", capReconnect, capReply, capTurns, capHistory,
}

// Actions of a system.notice, beside the native event types.
const (
	actionReplay      = "replay"
	actionReconnected = "reconnected"
	actionReply       = "reply"
)
