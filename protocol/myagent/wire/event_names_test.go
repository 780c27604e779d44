package wire

import (
	"strings"
	"testing"
)

// MY-2: event names match the document and the real system.
func TestTheEventsAreTheDocuments(t *testing.T) {
	got := []string{
		UserMessage, UserSolveTasks, UserResponse, UserCancel, UserCancelTask, UserRestartTask, UserAck,
		UserCreateSession, UserReconnect,
		UserReconnectState, UserRequestState,
		PlanStart, PlanCompleted, PlanCancelled, PlanCoercion, SolverStart, SolverCompleted, SolverCancelled,
		SolverRestarted,
		AggregateStart, AggregateCompleted, PipelineCompleted,
		AgentThinking, AgentToolCall, AgentToolResult, AgentPartialAnswer, AgentFinalAnswer, AgentUserConfirm,
		AgentError, AgentTimeout,
		AgentInterrupted, AgentSessionCreated, AgentSessionEnd, AgentStateExported, AgentStateRestored,
		SystemConnected, SystemNotice, SystemHeartbeat, SystemError,
		ErrorValidation, ErrorTimeout, ErrorExecution, ErrorRetry, ErrorRecoveryStarted, ErrorRecoverySuccess,
		ErrorRecoveryFailed,
	}
	const want = `user.message user.solve_tasks user.response user.cancel user.cancel_task user.restart_task user.ack user.create_session user.reconnect
		user.reconnect_with_state user.request_state
		plan.start plan.completed plan.cancelled plan.coercion_error solver.start solver.completed solver.cancelled solver.restarted
		aggregate.start aggregate.completed pipeline.completed
		agent.thinking agent.tool_call agent.tool_result agent.partial_answer agent.final_answer agent.user_confirm agent.error agent.timeout
		agent.interrupted agent.session_created agent.session_end agent.state_exported agent.state_restored
		system.connected system.notice system.heartbeat system.error
		error.validation error.timeout error.execution error.retry error.recovery_started error.recovery_success error.recovery_failed`
	if g, w := strings.Join(got, " "), strings.Join(strings.Fields(want), " "); g != w {
		t.Errorf("got  %s\nwant %s", g, w)
	}
}
