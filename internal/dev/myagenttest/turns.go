package myagenttest

import (
	"fmt"

	"agentctl/protocol"
)

// CompletedTurn returns the events of a turn.
func CompletedTurn(n int) []protocol.Event {
	turn, message := fmt.Sprintf("t%d", n), fmt.Sprintf("m%d", n)
	return []protocol.Event{
		Event(protocol.MessageUser, turn, protocol.Message{MessageID: message, Text: "hi"}),
		Event(protocol.TurnStarted, turn, protocol.TurnStartedData{MessageID: message}),
		Event(protocol.TextStart, turn, protocol.PartStartData{Part: "p1"}),
		Event(protocol.TextDelta, turn, protocol.PartDeltaData{Part: "p1", Text: "Hello "}),
		Event(protocol.TextDelta, turn, protocol.PartDeltaData{Part: "p1", Text: "world"}),
		Event(protocol.TextEnd, turn, protocol.PartEndData{Part: "p1"}),
		Event(protocol.TurnEnded, turn, protocol.TurnEndedData{Reason: protocol.ReasonCompleted}),
	}
}

// PlanApprovalTurn returns the events of a turn with a pending plan approval.
func PlanApprovalTurn() []protocol.Event {
	tasks := []protocol.Task{{ID: "1", Title: "生成PPT"}, {ID: "2", Title: "优化样式"}, {ID: "3", Title: "导出文件"}}
	return []protocol.Event{
		Event(protocol.MessageUser, "t1", protocol.Message{MessageID: "m1", Text: "slides"}),
		Event(protocol.TurnStarted, "t1", protocol.TurnStartedData{MessageID: "m1"}),
		Event(protocol.PlanStarted, "t1", protocol.PlanStartedData{Question: "slides"}),
		Event(protocol.PlanUpdated, "t1", protocol.PlanTasksData{Tasks: tasks, Summary: "three slides"}),
		Event(protocol.ApprovalRequested, "t1", protocol.Approval{
			Request: "r1", Kind: protocol.ApprovePlan, Title: "Plan", Tasks: tasks, Asked: Start,
			Options: []protocol.Option{{ID: "allow_once", Kind: protocol.AllowOnce, Label: "Allow"}},
		}),
	}
}
