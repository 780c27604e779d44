package myagent

import (
	"strings"
	"testing"
)

// MY-2: event names match the document and the real system.
func TestTheEventsAreTheDocuments(t *testing.T) {
	got := []string{
		userMessage, userSolveTasks, userResponse, userCancel, userCancelTask, userRestartTask, userAck,
		userCreateSession, userReconnect,
		userReconnectState, userRequestState,
		planStart, planCompleted, planCancelled, planCoercion, solverStart, solverCompleted, solverCancelled,
		solverRestarted,
		aggregateStart, aggregateCompleted, pipelineCompleted,
		agentThinking, agentToolCall, agentToolResult, agentPartialAnswer, agentFinalAnswer, agentUserConfirm,
		agentError, agentTimeout,
		agentInterrupted, agentSessionCreated, agentSessionEnd, agentStateExported, agentStateRestored,
		systemConnected, systemNotice, systemHeartbeat, systemError,
		errorValidation, errorTimeout, errorExecution, errorRetry, errorRecoveryStarted, errorRecoverySuccess,
		errorRecoveryFailed,
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
