package myagent

import (
	"encoding/json"
	"testing"
	"time"

	"agentctl/protocol"
)

// errorExamples pairs the events of MY-28 to MY-32 with their frames. Each frame has the fields
// that the protocol's document lists for it.
var errorExamples = []struct {
	requirement string
	typ         protocol.Type
	data        any
	event       string
	content     string
	metadata    string
}{
	{
		"MY-28", protocol.ErrorRaised,
		protocol.ErrorData{
			Kind: protocol.ErrorKindValidation, Message: "Invalid input",
			Fields: map[string]string{"tasks": "at most 20", "title": "required"},
		},
		"error.validation", "Invalid input", `{"errors":{"tasks":"at most 20","title":"required"},"recoverable":false}`,
	},
	{
		"MY-29", protocol.ErrorRaised,
		protocol.ErrorData{
			Kind: protocol.ErrorKindTimeout, Message: "Too slow", Stage: "solve",
			LimitMS: 30000, ElapsedMS: 31500, Action: "retry", Recoverable: true,
		},
		"error.timeout", "Too slow",
		`{"timeout_seconds":30,"elapsed_seconds":31.5,"stage":"solve","recovery_action":"retry","recoverable":true}`,
	},
	{
		"MY-30", protocol.ErrorRaised,
		protocol.ErrorData{
			Kind: protocol.ErrorKindExecution, Message: "No such tool", Code: "tool_missing", Recoverable: true,
			Details: map[string]string{"tool": "convert"},
		},
		"error.execution", "No such tool",
		`{"error_type":"tool_missing","context":{"tool":"convert"},"recoverable":true}`,
	},
	{
		"MY-31", protocol.RetryScheduled,
		protocol.RetryData{Attempt: 2, Limit: 3, DelayMS: 1500, Cause: "HTTP 503"},
		"error.retry", "Retry 2 of 3: HTTP 503",
		`{"attempt":2,"max_retries":3,"delay_seconds":1.5,"original_error":"HTTP 503"}`,
	},
	{
		"MY-32", protocol.RecoveryStarted,
		protocol.RecoveryData{Action: "reload", EstimateMS: 4000, Cause: "crash"},
		"error.recovery_started", "Recovery started: reload",
		`{"recovery_action":"reload","estimated_duration_seconds":4,"original_error":"crash"}`,
	},
	{
		"MY-32", protocol.RecoverySucceeded,
		protocol.RecoveryData{Action: "reload", Attempt: 2, DurationMS: 2500},
		"error.recovery_success", "Recovery succeeded: reload",
		`{"recovery_action":"reload","attempt_count":2,"recovery_time_seconds":2.5}`,
	},
	{
		"MY-32", protocol.RecoveryFailed,
		protocol.RecoveryData{Action: "reload", Attempt: 3, Code: "agent_failed", Cause: "crash", Failure: "no memory"},
		"error.recovery_failed", "Recovery failed: reload",
		`{"recovery_action":"reload","attempt_count":3,"error_code":"agent_failed","original_error":"crash","recovery_error":"no memory"}`,
	},
}

// MY-28 to MY-32: the server writes each error event with the fields of the protocol's document.
func TestErrorsAreWrittenWithTheirFields(t *testing.T) {
	for _, tt := range errorExamples {
		b := openedServer(t)
		b.takeEvents()
		b.receiveNative(b.native.append("s1", event(tt.typ, "t1", tt.data))...)
		got := b.nextFrame(tt.event)
		if want := protocol.MustEncode(tt.content); !equalJSON(got.Content, want) {
			t.Errorf("%s %s: content %s, want %s", tt.requirement, tt.event, got.Content, want)
		}
		metadata := parseObject(got.Metadata)
		for key, want := range parseObject(json.RawMessage(tt.metadata)) {
			if !equalJSON(metadata[key], want) {
				t.Errorf("%s %s: metadata.%s is %s, want %s", tt.requirement, tt.event, key, metadata[key], want)
			}
		}
	}
}

// MY-28 to MY-32: the client reads every field back.
func TestErrorsAreReadWithTheirFields(t *testing.T) {
	for _, tt := range errorExamples {
		s := documentClient(t)
		content := string(protocol.MustEncode(tt.content))
		const session = `,"session_id":"sess_123"`
		s.receive(`{"event":"` + tt.event + `"` + session + `,"content":` + content + `,"metadata":` + tt.metadata +
			`}`)
		it := s.lastItem()
		if want := protocol.MustEncode(tt.data); it.Type != tt.typ || !equalJSON(it.Data, want) {
			t.Errorf("%s %s: read as %s %s, want %s", tt.requirement, tt.event, it.Type, it.Data, want)
		}
	}
}

// MY-13: yes continues, no cancels, and so does the end of the waiting time.
func TestAConfirmationIsAllowedOrDenied(t *testing.T) {
	answer := func(step, content string) string {
		return `{"event":"user.response","step_id":"` + step + `","content":` + content + `}`
	}
	for _, tt := range []struct {
		name string
		act  func(b *serverTest, step string)
		want protocol.Decision
	}{
		{
			"approved", func(b *serverTest, step string) { b.receive(answer(step, `{"approved":true}`)) },
			protocol.AllowOnce,
		},
		{"denied", func(b *serverTest, step string) { b.receive(answer(step, `{"approved":false}`)) }, protocol.Deny},
		{"no answer", func(b *serverTest, _ string) { b.wake(5 * time.Minute) }, protocol.Deny},
	} {
		b := openedServer(t)
		b.receive(`{"event":"user.message","content":"slides"}`)
		b.receiveNative(b.native.append("s1", planApprovalTurn()...)...)
		tt.act(b, string(b.nextFrame(agentUserConfirm).Step))
		var d protocol.ApproveData
		if b.lastCommand(protocol.DoApprove, &d); d.Decision != tt.want {
			t.Errorf("%s: decided %q, want %q", tt.name, d.Decision, tt.want)
		}
	}
	b := openedServer(t)
	b.takeEvents()
	b.receiveNative(b.native.append("s1",
		event(protocol.PlanCancelled, "t1", protocol.PlanErrorData{Message: "too expensive"}))...)
	if m := b.nextFrame(planCancelled); !equalJSON(m.Content, []byte(`{"reason":"too expensive"}`)) ||
		metaOf(m).str("reason") != "too expensive" {
		t.Errorf("plan.cancelled: content %s, metadata %s", m.Content, m.Metadata)
	}
}
