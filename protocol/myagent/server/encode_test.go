package server

import (
	_ "embed"
	"encoding/json"
	"slices"
	"testing"

	"agentctl/internal/dev/codectest"
	"agentctl/internal/dev/myagenttest"
	"agentctl/protocol"
	"agentctl/protocol/myagent/wire"
)

// MY-19, MY-22: the pipeline is encoded in order, and each frame of a task names it.
func TestAPipelineIsEncodedInOrder(t *testing.T) {
	b := openedServer(t)
	b.TakeEvents()
	in := func(task string, e protocol.Event) protocol.Event { e.Task = task; return e }
	tasks := []protocol.Task{{ID: "1", Title: "a"}}
	b.ReceiveNative(b.Native.Append("s1",
		codectest.Event(protocol.PlanStarted, "t1", protocol.PlanStartedData{Question: "q"}),
		codectest.Event(protocol.PlanCompleted, "t1", protocol.PlanTasksData{Tasks: tasks}),
		in("1", codectest.Event(protocol.TaskStarted, "t1", protocol.TaskData{Task: "1"})),
		in("1", codectest.Event(protocol.ReasoningDelta, "t1", protocol.PartDeltaData{Part: "p", Text: "hm"})),
		in("1", codectest.Event(protocol.ToolStarted, "t1", protocol.ToolStartedData{
			Tool: "c1", Name: "get_weather", Input: json.RawMessage(`{"city":"Paris"}`),
		})),
		in("1", codectest.Event(protocol.ToolOutput, "t1", protocol.ToolOutputData{Tool: "c1", Text: "sunny"})),
		in("1", codectest.Event(protocol.ToolEnded, "t1", protocol.ToolEndedData{Tool: "c1", Status: protocol.ToolCompleted})),
		in("1", codectest.Event(protocol.TaskCompleted, "t1", protocol.TaskData{Task: "1"})),
		codectest.Event(protocol.AggregateStarted, "t1", protocol.AggregateData{}),
		codectest.Event(protocol.AggregateCompleted, "t1", protocol.AggregateData{Text: "It is sunny."}),
		codectest.Event(protocol.PipelineCompleted, "t1", protocol.AggregateData{}),
		codectest.Event(protocol.TurnEnded, "t1", protocol.TurnEndedData{Reason: protocol.ReasonCompleted}),
	)...)
	for _, m := range b.Frames {
		inside := slices.Contains([]string{
			wire.AgentThinking, wire.AgentToolCall, wire.AgentToolResult, wire.SolverStart, wire.SolverCompleted,
		}, string(m.Event))
		if inside != (myagenttest.MetaOf(m).Str("task_id") == "1") {
			t.Errorf("%s: task_id %s", m.Event, myagenttest.MetaOf(m)["task_id"])
		}
		switch string(m.Event) {
		case wire.AgentToolCall:
			if o := myagenttest.MetaOf(m); m.Step != "c1" || o.Str("tool") != "get_weather" || o.Str("status") != "running" ||
				wire.ParseObject(o["args"]).Str("city") != "Paris" {
				t.Errorf("%s", m.Metadata)
			}
		case wire.AgentToolResult:
			if o := myagenttest.MetaOf(m); m.Step != "c1" || o.Str("status") != "success" || wire.Scalar(m.Content) != "sunny" {
				t.Errorf("%s %s", m.Content, m.Metadata)
			}
		case wire.SolverCompleted:
			if took := myagenttest.MetaOf(m).Int("execution_time_ms"); took != 5000 { // measured by event times
				t.Errorf("the task took %d ms", took)
			}
		case wire.AgentFinalAnswer:
			if wire.Scalar(m.Content) != "It is sunny." {
				t.Errorf("%s", m.Content)
			}
		}
	}
	want := []string{
		wire.PlanStart, wire.PlanCompleted, wire.SolverStart, wire.AgentThinking, wire.AgentToolCall, wire.AgentToolResult, wire.SolverCompleted,
		wire.AggregateStart, wire.AggregateCompleted,
		wire.PipelineCompleted, wire.AgentFinalAnswer,
	}
	if got := b.TakeEvents(); !slices.Equal(got, want) {
		t.Errorf("\n got %v\nwant %v", got, want)
	}
}

// MY-20, MY-24, MY-25: the end of a plan, task, turn, session and recovery, and each error, has its
// event.
func TestEveryEndHasItsEvent(t *testing.T) {
	for _, c := range []struct {
		event protocol.Event
		want  string
		check func(wire.Message) bool
	}{
		{
			codectest.Event(protocol.PlanCancelled, "t1", protocol.PlanErrorData{Message: "no"}), wire.PlanCancelled,
			func(m wire.Message) bool {
				return wire.ParseObject(m.Content).Str("reason") == "no" && myagenttest.MetaOf(m).Str("reason") == "no"
			},
		},
		{
			codectest.Event(protocol.PlanInvalid, "t1", protocol.PlanErrorData{Message: "bad", Details: []string{"2"}}),
			wire.PlanCoercion, func(m wire.Message) bool {
				return wire.Text(m.Content) == "bad" && myagenttest.MetaOf(m).Has("details")
			},
		},
		{
			codectest.Event(protocol.TaskCancelled, "t1", protocol.TaskData{Task: "1", Message: "no"}), wire.SolverCancelled,
			func(m wire.Message) bool { return myagenttest.MetaOf(m).Str("reason") == "no" },
		},
		{
			codectest.Event(protocol.TaskRestarted, "t1", protocol.TaskData{Task: "1", Attempt: 2, Message: "again"}),
			wire.SolverRestarted,
			func(m wire.Message) bool {
				return myagenttest.MetaOf(m).Int("retry_count") == 1 && myagenttest.MetaOf(m).Str("reason") == "again"
			},
		},
		{
			codectest.Event(protocol.TurnEnded, "t1", protocol.TurnEndedData{Reason: protocol.ReasonInterrupted}),
			wire.AgentInterrupted, func(m wire.Message) bool { return myagenttest.MetaOf(m).Str("reason") == "interrupted" },
		},
		{
			codectest.Event(protocol.TurnEnded, "t1", protocol.TurnEndedData{Reason: protocol.ReasonTimeout, DurationMS: 1500}),
			wire.AgentTimeout,
			func(m wire.Message) bool {
				return myagenttest.MetaOf(m).Num("duration_seconds") == 1.5 && myagenttest.MetaOf(m).Has("stage")
			},
		},
		{codectest.Event(protocol.TurnEnded, "t1", protocol.TurnEndedData{
			Reason: protocol.ReasonError, Code: protocol.CodeAgentFailed, Message: "gone",
		}), wire.AgentError, func(m wire.Message) bool {
			return wire.Scalar(m.Content) == "gone" && myagenttest.MetaOf(m).Str("error_type") == "agent_failed" &&
				myagenttest.MetaOf(m).Has("context")
		}},
		{
			codectest.Event(protocol.SessionClosed, "", protocol.SessionClosedData{Reason: "done"}), wire.AgentSessionEnd,
			func(m wire.Message) bool {
				return myagenttest.MetaOf(m).Has("duration_seconds") && myagenttest.MetaOf(m).Has("turns")
			},
		},
		{
			codectest.Event(protocol.ErrorRaised, "t1", protocol.ErrorData{
				Kind: "validation", Message: "x", Fields: map[string]string{"a": "b"},
			}),
			wire.ErrorValidation, func(m wire.Message) bool { return myagenttest.MetaOf(m).Has("errors") },
		},
		{
			codectest.Event(protocol.ErrorRaised, "t1", protocol.ErrorData{
				Kind: "execution", Code: "c", Message: "x", Details: map[string]string{"a": "b"},
			}),
			wire.ErrorExecution, func(m wire.Message) bool {
				return myagenttest.MetaOf(m).Has("recoverable") && myagenttest.MetaOf(m).Has("context")
			},
		},
		{codectest.Event(protocol.RecoveryStarted, "t1", protocol.RecoveryData{
			Action: "restart", EstimateMS: 2000,
		}), wire.ErrorRecoveryStarted, func(m wire.Message) bool {
			return myagenttest.MetaOf(m).Str("recovery_action") == "restart" && myagenttest.MetaOf(m).Num("estimated_duration_seconds") == 2
		}},
		{codectest.Event(protocol.RecoverySucceeded, "t1", protocol.RecoveryData{
			Action: "restart", Attempt: 2, DurationMS: 2000,
		}), wire.ErrorRecoverySuccess, func(m wire.Message) bool {
			return myagenttest.MetaOf(m).Int("attempt_count") == 2 && myagenttest.MetaOf(m).Num("recovery_time_seconds") == 2
		}},
		{codectest.Event(protocol.RecoveryFailed, "t1", protocol.RecoveryData{
			Code: "c", Cause: "x", Failure: "y",
		}), wire.ErrorRecoveryFailed, func(m wire.Message) bool {
			return myagenttest.MetaOf(m).Str("error_code") == "c" && myagenttest.MetaOf(m).Str("original_error") == "x" &&
				myagenttest.MetaOf(m).Str("recovery_error") == "y"
		}},
	} {
		b := openedServer(t)
		b.ReceiveNative(b.Native.Append("s1", c.event)...)
		if m := b.NextFrame(c.want); !c.check(m) || m.Show == "" {
			t.Errorf("%s: %s %s %s", c.want, m.Content, m.Metadata, m.Show)
		}
	}
}
