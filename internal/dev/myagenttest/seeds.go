package myagenttest

import (
	"bytes"
	"fmt"
	"strings"

	"agentctl/internal/dev/codectest"
	"agentctl/protocol"
)

// Seeds are frames of both ends, and invalid ones.
var Seeds = []string{
	`{"event":"user.create_session","content":{"a":1}}`, `{"event":"user.message","session_id":"s1","content":"hi"}`,
	`{"event":"user.response","step_id":"confirm_r1","content":{"approved":true,"tasks":[{"id":1}]}}`,
	`{"event":"user.ack","content":{"last_seq":12}}`,
	`{"event":"user.reconnect","session_id":"s1","content":{"last_event_id":"conn_1-2"}}`,
	`{"event":"user.solve_tasks","content":{"tasks":[1,"a",{}]}}`,
	`{"event":"user.reconnect_with_state","signed_state":{"state":{},"timestamp":1,"signature":"x","version":"1.0","checksum":"y"}}`,
	`{"event":"user.request_state"}`, `{"event":"user.cancel"}`, `{"event":"user.cancel_task","content":{"task_id":1}}`,
	`{"event":"user.replan"}`,
	`{"event":"system.connected","content":{"server_version":"1","capabilities":["turns","reply","reconnect"]}}`,
	`{"event":"agent.session_created","session_id":"a","content":"x","metadata":{"agent_name":"z","connection_id":"c"},"seq":2}`,
	`{"event":"agent.thinking","session_id":"a","content":"x","metadata":{"streaming":true},"seq":3}`,
	`{"event":"agent.partial_answer","session_id":"a","content":"x","seq":4,"metadata":{"part":"p","turn_id":"t"}}`,
	`{"event":"agent.final_answer","session_id":"a","content":{"x":[1]},"seq":5}`,
	`{"event":"agent.tool_call","session_id":"a","step_id":"s","metadata":{"tool":"t","args":{"a":1}}}`,
	`{"event":"agent.tool_result","session_id":"a","step_id":"s","metadata":{"status":"failed","content":[{"type":"x"}],"data":[]}}`,
	`{"event":"agent.user_confirm","session_id":"a","step_id":"s","metadata":{"scope":"plan","tasks":[{"id":1,"title":2}],"options":7}}`,
	`{"event":"system.notice","session_id":"a","metadata":{"action":"message.user","data":{"message_id":"m"},"turn_id":"t"}}`,
	`{"event":"system.notice","session_id":"a","metadata":{"action":"reconnected","mode":"snapshot","state":{"approvals":[{}],"turn":null}}}`,
	`{"event":"system.notice","metadata":{"action":"reply","reply_to":"q_3","result":{"session":"a"}}}`,
	`{"event":"plan.completed","session_id":"a","content":{"tasks":[{"id":1,"after":[2,"x"]}]}}`,
	`{"event":"solver.completed","session_id":"a","content":{"result":{}}}`,
	`{"event":"error.timeout","session_id":"a","content":7,"metadata":{"timeout_seconds":1e300,"elapsed_seconds":-1,"errors":[1,{}]}}`,
	`{"event":"agent.state_restored","session_id":"b","metadata":{"original_session_id":"a","position":"x"}}`,
	`{"event":"agent.session_end","session_id":"a"}`,
	`{"event":"x.y","session_id":"a","seq":-1,"timestamp":5}`, `[]`, `{}`, ``, "\xff",
	`{"event":"user.message","content":` + string(bytes.Repeat([]byte("["), 9000)),
	`{"event":"user.message","session_id":"a","content":` + nested(9990) + `}`,
	`{"event":"agent.tool_call","session_id":"a","metadata":{"args":` + nested(9995) + `}}`,
	`{"event":"system.notice","content":[{"event":"agent.thinking","seq":4,"content":"x"},{"event":"system.notice","content":[{"event":"x"}]},7]}`,
	`{"event":"system.notice","session_id":"a","metadata":{"action":"replay","events":[{"event":"agent.user_confirm","step_id":"s","metadata":{"orig_seq":1}}]}}`,
	`{"event":"agent.state_restored","session_id":"b","metadata":{"pending_confirmations":["s",{"step_id":7},[]]}}`,
	`{"event":"solver.retry","session_id":"a","metadata":` + nested(120) + `}`,
}

func nested(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

// CompletedTurn returns the events of a turn.
func CompletedTurn(n int) []protocol.Event {
	turn, message := fmt.Sprintf("t%d", n), fmt.Sprintf("m%d", n)
	return []protocol.Event{
		codectest.Event(protocol.MessageUser, turn, protocol.Message{MessageID: message, Text: "hi"}),
		codectest.Event(protocol.TurnStarted, turn, protocol.TurnStartedData{MessageID: message}),
		codectest.Event(protocol.TextStart, turn, protocol.PartStartData{Part: "p1"}),
		codectest.Event(protocol.TextDelta, turn, protocol.PartDeltaData{Part: "p1", Text: "Hello "}),
		codectest.Event(protocol.TextDelta, turn, protocol.PartDeltaData{Part: "p1", Text: "world"}),
		codectest.Event(protocol.TextEnd, turn, protocol.PartEndData{Part: "p1"}),
		codectest.Event(protocol.TurnEnded, turn, protocol.TurnEndedData{Reason: protocol.ReasonCompleted}),
	}
}

// PlanApprovalTurn returns the events of a turn with a pending plan approval.
func PlanApprovalTurn() []protocol.Event {
	tasks := []protocol.Task{{ID: "1", Title: "生成PPT"}, {ID: "2", Title: "优化样式"}, {ID: "3", Title: "导出文件"}}
	return []protocol.Event{
		codectest.Event(protocol.MessageUser, "t1", protocol.Message{MessageID: "m1", Text: "slides"}),
		codectest.Event(protocol.TurnStarted, "t1", protocol.TurnStartedData{MessageID: "m1"}),
		codectest.Event(protocol.PlanStarted, "t1", protocol.PlanStartedData{Question: "slides"}),
		codectest.Event(protocol.PlanUpdated, "t1", protocol.PlanTasksData{Tasks: tasks, Summary: "three slides"}),
		codectest.Event(protocol.ApprovalRequested, "t1", protocol.Approval{
			Request: "r1", Kind: protocol.ApprovePlan, Title: "Plan", Tasks: tasks, Asked: codectest.Start,
			Options: []protocol.Option{{ID: "allow_once", Kind: protocol.AllowOnce, Label: "Allow"}},
		}),
	}
}
