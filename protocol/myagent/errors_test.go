package myagent

import (
	"encoding/json"
	"testing"

	"agentctl/internal/dev/codectest"
	"agentctl/internal/dev/myagenttest"
	"agentctl/protocol"
	"agentctl/protocol/myagent/wire"
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
		b := myagenttest.OpenedServer(t, Dialect.Server)
		b.TakeEvents()
		b.ReceiveNative(b.Native.Append("s1", codectest.Event(tt.typ, "t1", tt.data))...)
		got := b.NextFrame(tt.event)
		if want := protocol.MustEncode(tt.content); !myagenttest.EqualJSON(got.Content, want) {
			t.Errorf("%s %s: content %s, want %s", tt.requirement, tt.event, got.Content, want)
		}
		metadata := wire.ParseObject(got.Metadata)
		for key, want := range wire.ParseObject(json.RawMessage(tt.metadata)) {
			if !myagenttest.EqualJSON(metadata[key], want) {
				t.Errorf("%s %s: metadata.%s is %s, want %s", tt.requirement, tt.event, key, metadata[key], want)
			}
		}
	}
}

// MY-28 to MY-32: the client reads every field back.
func TestErrorsAreReadWithTheirFields(t *testing.T) {
	for _, tt := range errorExamples {
		s := myagenttest.DocumentClient(t, Dialect.Client)
		content := string(protocol.MustEncode(tt.content))
		const session = `,"session_id":"sess_123"`
		s.Receive(`{"event":"` + tt.event + `"` + session + `,"content":` + content + `,"metadata":` + tt.metadata +
			`}`)
		it := s.LastItem()
		if want := protocol.MustEncode(tt.data); it.Type != tt.typ || !myagenttest.EqualJSON(it.Data, want) {
			t.Errorf("%s %s: read as %s %s, want %s", tt.requirement, tt.event, it.Type, it.Data, want)
		}
	}
}
