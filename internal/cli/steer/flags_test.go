package steer

import (
	"testing"

	"agentctl/internal/cli/call"
	"agentctl/internal/cli/turn"
	"agentctl/internal/dev/verbtest"
	"agentctl/protocol"
)

func TestFlagsAndArgumentsBecomeOptions(t *testing.T) {
	verbtest.CheckOptions(t, newSend, "s hello", sendOptions{Session: "s", Text: []string{"hello"}})
	verbtest.CheckOptions(t, newSend, "s -f --key k --front -",
		sendOptions{Session: "s", Text: []string{"-"}, WaitFlags: turn.WaitFlags{Follow: true}, Key: "k", Front: true})
	verbtest.CheckOptions(t, newSend, "s --id k", sendOptions{Session: "s", Key: "k"})
	verbtest.CheckOptions(t, newSend, "s --wait", sendOptions{Session: "s", WaitFlags: turn.WaitFlags{Wait: true}})
	verbtest.CheckOptions(t, newPlanRun, "s tasks.json -w --key k", planRunOptions{
		Session: "s", File: "tasks.json", WaitFlags: turn.WaitFlags{Wait: true}, Key: "k",
	})
	verbtest.CheckOptions(t, newWait, "s", waitOptions{Session: "s", For: turn.ForIdle})
	verbtest.CheckOptions(t, newWait, "s --for turn", waitOptions{Session: "s", For: turn.ForTurn})
	verbtest.CheckOptions(t, calls.Row("interrupt").New, "s", sent(protocol.InterruptData{Queue: "keep"}))
	verbtest.CheckOptions(t, calls.Row("interrupt").New, "s --queue clear --turn t",
		sent(protocol.InterruptData{Queue: "clear", Turn: "t"}))
	verbtest.CheckOptions(t, newApprove, "s", decisionOptions{Session: "s", Decision: protocol.AllowOnce})
	verbtest.CheckOptions(t, newApprove, "s --yes", decisionOptions{
		Session: "s", Decision: protocol.AllowOnce, Yes: true,
	})
	verbtest.CheckOptions(t, newApprove, "s r --always --answer a=b --answer a=c", decisionOptions{
		Session: "s", Request: "r", Decision: protocol.AllowAlways, Always: true, Answers: []string{"a=b", "a=c"},
	})
	verbtest.CheckOptions(t, newDeny, "s r --reason no", decisionOptions{
		Session: "s", Request: "r", Decision: protocol.Deny,
		Reason: "no",
	})
	verbtest.CheckOptions(t, newDeny, "s --stop", decisionOptions{Session: "s", Decision: protocol.DenyStop, Stop: true})
	verbtest.CheckOptions(t, newExplain, "s", decisionOptions{Session: "s", Decision: protocol.Explain})
	verbtest.CheckOptions(t, calls.Row("set").New, "s mode plan", sent(protocol.ConfigureData{Setting: "mode", Value: "plan"}))
	verbtest.CheckOptions(t, calls.Row("queue mv").New, "s m 2", sent(protocol.QueueMoveData{MessageID: "m", Index: 2}))
	verbtest.CheckOptions(t, calls.Row("queue edit").New, "s m text", sent(protocol.QueueEditData{MessageID: "m", Text: "text"}))
	verbtest.CheckOptions(t, calls.Row("queue hold").New, "s m", sent(protocol.QueueHoldData{MessageID: "m"}))
	verbtest.CheckOptions(t, calls.Row("queue release").New, "s", sent(protocol.QueueReleaseData{}))
	verbtest.CheckOptions(t, calls.Row("queue rm").New, "s m1 m2",
		sent(protocol.QueueRemoveData{MessageID: "m1"}, protocol.QueueRemoveData{MessageID: "m2"}))
	verbtest.CheckOptions(t, calls.Row("queue edit").New, "s m -", call.Options{Session: "s"})
	verbtest.CheckOptions(t, calls.Row("queue edit").New, "s m", call.Options{Session: "s"})
	verbtest.CheckOptions(t, calls.Row("undo").New, "s --key k", call.Options{Session: "s", Key: "k", Data: []any{protocol.Empty{}}})
}

// sent are the options of a call of the session s.
func sent(data ...any) call.Options { return call.Options{Session: "s", Data: data} }
