package myagent

// Events of the protocol.
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
	// agentctl's extension, with the capability "history"
	userRequestHistory = "user.request_history"

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
	agentLLMMessage     = "agent.llm_message"
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

// Capabilities in agentctl's system.connected.
const (
	capTurns     = "turns"     // announces every turn, and native events as notices
	capReconnect = "reconnect" // supports user.reconnect
	capHistory   = "history"   // answers user.request_history with finished turns
	capReply     = "reply"     // answers metadata.reply_to with exactly one notice or error
)

var capabilities = []string{
	"streaming", "confirm", "plan", "tasks", "ack", "replay", "state", "queue", capReconnect, capReply, capTurns,
	capHistory,
}

// Actions of a system.notice, besides the native event types.
const (
	actionReplay      = "replay"
	actionReconnected = "reconnected"
	actionReply       = "reply"
)
