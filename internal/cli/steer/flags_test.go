package steer

import (
	"testing"

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
	verbtest.CheckOptions(t, newInterrupt, "s", interruptOptions{Session: "s", Queue: "keep"})
	verbtest.CheckOptions(t, newInterrupt, "s --queue clear --turn t", interruptOptions{Session: "s", Queue: "clear", Turn: "t"})
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
	verbtest.CheckOptions(t, newSet, "s mode plan", setOptions{Session: "s", Setting: "mode", Value: "plan"})
	verbtest.CheckOptions(t, newQueueMove, "s m 2", queueMoveOptions{Session: "s", Message: "m", Index: 2})
	verbtest.CheckOptions(t, newQueueEdit, "s m text", queueEditOptions{Session: "s", Message: "m", Text: []string{"text"}})
	verbtest.CheckOptions(t, newQueueHold, "s m", queueHoldOptions{Session: "s", Message: "m"})
	verbtest.CheckOptions(t, newQueueRelease, "s", queueReleaseOptions{Session: "s"})
}
