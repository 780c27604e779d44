package steer

import (
	"testing"

	"agentctl/internal/cli/call"
	"agentctl/internal/cli/turn"
	"agentctl/internal/dev/verbtest"
	"agentctl/protocol"
)

func TestFlagsAndArgumentsBecomeOptions(t *testing.T) {
	verbtest.CheckOptions(t, &sendVerb, "s hello", sendOptions{Session: "s", Text: []string{"hello"}})
	verbtest.CheckOptions(t, &sendVerb, "s -f --key k --front -",
		sendOptions{Session: "s", Text: []string{"-"}, WaitFlags: turn.WaitFlags{Follow: true}, Key: "k", Front: true})
	verbtest.CheckOptions(t, &sendVerb, "s --id k", sendOptions{Session: "s", Key: "k"})
	verbtest.CheckOptions(t, &sendVerb, "s --wait", sendOptions{Session: "s", WaitFlags: turn.WaitFlags{Wait: true}})
	verbtest.CheckOptions(t, &planRunVerb, "s tasks.json -w --key k", planRunOptions{
		Session: "s", File: "tasks.json", WaitFlags: turn.WaitFlags{Wait: true}, Key: "k",
	})
	verbtest.CheckOptions(t, &waitVerb, "s", waitOptions{Session: "s", For: turn.ForIdle})
	verbtest.CheckOptions(t, &waitVerb, "s --for turn", waitOptions{Session: "s", For: turn.ForTurn})
	verbtest.CheckOptions(t, &interruptVerb, "s", sent(protocol.InterruptData{Queue: "keep"}))
	verbtest.CheckOptions(t, &interruptVerb, "s --queue clear --turn t",
		sent(protocol.InterruptData{Queue: "clear", Turn: "t"}))
	verbtest.CheckOptions(t, &approveVerb, "s", decisionOptions{Session: "s", Decision: protocol.AllowOnce})
	verbtest.CheckOptions(t, &approveVerb, "s --yes", decisionOptions{
		Session: "s", Decision: protocol.AllowOnce, Yes: true,
	})
	verbtest.CheckOptions(t, &approveVerb, "s r --always --answer a=b --answer a=c", decisionOptions{
		Session: "s", Request: "r", Decision: protocol.AllowAlways, Always: true, Answers: []string{"a=b", "a=c"},
	})
	verbtest.CheckOptions(t, &denyVerb, "s r --reason no", decisionOptions{
		Session: "s", Request: "r", Decision: protocol.Deny,
		Reason: "no",
	})
	verbtest.CheckOptions(t, &denyVerb, "s --stop", decisionOptions{Session: "s", Decision: protocol.DenyStop, Stop: true})
	verbtest.CheckOptions(t, &explainVerb, "s", decisionOptions{Session: "s", Decision: protocol.Explain})
	verbtest.CheckOptions(t, &setVerb, "s mode plan", sent(protocol.ConfigureData{Setting: "mode", Value: "plan"}))
	verbtest.CheckOptions(t, &queueMvVerb, "s m 2", sent(protocol.QueueMoveData{MessageID: "m", Index: 2}))
	verbtest.CheckOptions(t, &queueEditVerb, "s m text", sent(protocol.QueueEditData{MessageID: "m", Text: "text"}))
	verbtest.CheckOptions(t, &queueHoldVerb, "s m", sent(protocol.QueueHoldData{MessageID: "m"}))
	verbtest.CheckOptions(t, &queueReleaseVerb, "s", sent(protocol.QueueReleaseData{}))
	verbtest.CheckOptions(t, &queueRmVerb, "s m1 m2",
		sent(protocol.QueueRemoveData{MessageID: "m1"}, protocol.QueueRemoveData{MessageID: "m2"}))
	verbtest.CheckOptions(t, &queueEditVerb, "s m -", call.Options{Session: "s"})
	verbtest.CheckOptions(t, &queueEditVerb, "s m", call.Options{Session: "s"})
	verbtest.CheckOptions(t, &undoVerb, "s --key k", call.Options{Session: "s", Key: "k", Data: []any{protocol.Empty{}}})
}

// sent are the options of a call of the session s.
func sent(data ...any) call.Options { return call.Options{Session: "s", Data: data} }
