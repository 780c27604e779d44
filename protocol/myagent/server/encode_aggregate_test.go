package server

import (
	"strings"
	"testing"

	"agentctl/internal/dev/codectest"
	"agentctl/protocol"
	"agentctl/protocol/myagent/wire"
)

// The aggregation repeats the result of each task once, in the order of their ends. Texts above the
// bound are left out.
func TestTheAggregationRepeatsBoundedResults(t *testing.T) {
	b := openedServer(t)
	done := func(task, result string) protocol.Event {
		return codectest.Event(protocol.TaskCompleted, "t1", protocol.TaskData{Task: task, Title: "do " + task, Result: result})
	}
	b.ReceiveNative(b.Native.Append("s1",
		codectest.Event(protocol.MessageUser, "t1", protocol.Message{MessageID: "m1", Text: "slides"}),
		codectest.Event(protocol.TurnStarted, "t1", protocol.TurnStartedData{MessageID: "m1"}),
		done("2", `{"summary":"short","page":2}`), done("1", "first attempt"), done("1", "second attempt"),
		done("3", strings.Repeat("x", maxResults)),
		codectest.Event(protocol.AggregateStarted, "t1", protocol.AggregateData{Tasks: 3}),
	)...)
	var results []struct {
		Task    struct{ ID int }
		Summary string
	}
	if m := b.NextFrame(wire.AggregateStart); !wire.ParseObject(m.Content).Decode("solver_results", &results) {
		t.Fatalf("%.300s", m.Content)
	}
	if len(results) != 3 || results[0].Task.ID != 2 || results[0].Summary != "short" || results[1].Task.ID != 1 ||
		results[1].Summary != "second attempt" || results[2].Task.ID != 3 || results[2].Summary != "" {
		t.Errorf("%+v", results)
	}
}
