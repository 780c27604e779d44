package client

import (
	"fmt"
	"testing"

	"agentctl/internal/dev/codectest"
	"agentctl/internal/dev/multiagenttest"
	"agentctl/protocol"
	"agentctl/protocol/multiagent/wire"
)

// An edit releases the hold of its message, and not the hold of the whole queue.
func TestAnEditEndsItsHoldAlone(t *testing.T) {
	c := newClientTest(t, nil)
	c.Subscribe()
	c.Send("x")
	c.Command(protocol.DoSend, "uuid", protocol.SendData{Text: "later"})
	message := c.State.Queue[0].MessageID
	c.Command(protocol.DoQueueHold, "uuid", protocol.QueueHoldData{MessageID: message})
	whole := codectest.Result[protocol.QueueHoldResult](&c.Client, c.Command(protocol.DoQueueHold, "uuid", protocol.QueueHoldData{}))
	if got := c.State.Holds; len(got) != 2 || got[0].Reason != protocol.HoldEdit || got[0].MessageID != message ||
		got[1].Reason != protocol.HoldUser {
		t.Fatalf("held: %+v", got)
	}
	c.Command(protocol.DoQueueEdit, "uuid", protocol.QueueEditData{MessageID: message, Text: "now"})
	if got := c.State.Holds; len(got) != 1 || got[0].ID != whole.Hold || c.State.Queue[0].Text != "now" {
		t.Errorf("after the edit: %+v", got)
	}
}

// MA-11: an interrupt without an answer fails, unless its turn has ended.
func TestAnInterruptWithoutAnAnswer(t *testing.T) {
	c := newClientTest(t, nil)
	c.Subscribe()
	c.Send("x")
	turn := c.State.Turn.Turn
	for _, of := range []string{turn, ""} {
		id := c.Command(protocol.DoInterrupt, "uuid", protocol.InterruptData{Turn: of})
		if c.Advance(); c.ErrorCode(id) != protocol.CodeTimeout {
			t.Errorf("during the turn %q: %+v", of, c.Answers[id])
		}
	}
	id := c.Command(protocol.DoInterrupt, "uuid", protocol.InterruptData{Turn: turn})
	c.Receive(multiagenttest.CompleteExample)
	c.Advance()
	if r := codectest.Result[protocol.InterruptResult](&c.Client, id); r == nil || r.Interrupted {
		t.Errorf("for a turn that completed: %+v", r)
	}
}

// An interrupt counts a message just sent as accepted. For a turn that has ended it cancels
// nothing.
func TestAnInterruptOfWhatWasJustSent(t *testing.T) {
	c := newClientTest(t, nil)
	c.Subscribe()
	none := c.Command(protocol.DoInterrupt, "uuid", protocol.InterruptData{Turn: "over"})
	if r := codectest.Result[protocol.InterruptResult](&c.Client, none); r == nil || r.Interrupted {
		t.Errorf("for a turn that has ended: %+v", c.Answers[none])
	}
	c.Frames = nil
	send := c.Command(protocol.DoSend, "uuid", protocol.SendData{Text: "x"})
	id := c.Command(protocol.DoInterrupt, "uuid", protocol.InterruptData{})
	c.WantSent(`{"type":"send_message","conversationId":"uuid","payload":{"content":"x"}}`, multiagenttest.CancelExample)
	if r := codectest.Result[protocol.SendResult](&c.Client, send); r == nil || r.Status != protocol.SendStarted {
		t.Errorf("sent: %+v", c.Answers[send])
	}
	c.Receive(multiagenttest.ErrorMessage(wire.CodeCancelled))
	if r := codectest.Result[protocol.InterruptResult](&c.Client, id); r == nil || !r.Interrupted ||
		c.State.Last.Reason != protocol.ReasonInterrupted {
		t.Errorf("interrupted: %+v, %+v", c.Answers[id], c.State.Last)
	}
}

// The client's own turn continues after a first tool until the server ends it.
func TestATurnGoesOnAfterAFirstTool(t *testing.T) {
	c := newClientTest(t, nil)
	c.Subscribe()
	c.Send("x")
	c.Receive(multiagenttest.ExecutedExample)
	if c.State.Turn == nil || !c.Wake.IsZero() {
		t.Errorf("the turn has ended or will: %v", c.Wake)
	}
}

// Saved answers are bounded.
func TestOnlyTheNewestKeysAreKept(t *testing.T) {
	c := newClientTest(t, nil)
	c.Subscribe()
	for i := range 2 * maxSavedAnswers {
		c.Do(protocol.DoQueueRelease, "uuid", fmt.Sprint("k", i), protocol.QueueReleaseData{})
	}
	if got := codecOf(c).resume.answers.Len(); got > maxSavedAnswers {
		t.Errorf("%d keys", got)
	}
}

// The queue belongs to the client: each change is answered and applied, and an unknown message is
// not_found.
func TestTheQueueIsChangedAsAsked(t *testing.T) {
	c := newClientTest(t, nil)
	c.Subscribe()
	c.Send("x")
	for _, text := range []string{"one", "two", "three"} {
		c.Command(protocol.DoSend, "uuid", protocol.SendData{Text: text})
	}
	order := func() (all string) {
		for _, m := range c.State.Queue {
			all += m.Text + " "
		}
		return all
	}
	id := c.Command(protocol.DoQueueMove, "uuid", protocol.QueueMoveData{MessageID: c.State.Queue[2].MessageID})
	if codectest.Result[protocol.Empty](&c.Client, id) == nil || order() != "three one two " {
		t.Errorf("moved: %+v, %s", c.Answers[id], order())
	}
	for _, at := range []int{0, 0} {
		c.Command(protocol.DoQueueHold, "uuid", protocol.QueueHoldData{MessageID: c.State.Queue[at].MessageID})
	}
	first, second := c.State.Holds[0].ID, c.State.Holds[1].ID
	id = c.Command(protocol.DoQueueRelease, "uuid", protocol.QueueReleaseData{Hold: first})
	if r := codectest.Result[protocol.QueueReleaseResult](&c.Client, id); r == nil || len(r.Released) != 1 || r.Released[0] != first ||
		len(c.State.Holds) != 1 || c.State.Holds[0].ID != second {
		t.Errorf("released: %+v, held %+v", c.Answers[id], c.State.Holds)
	}
	for verb, data := range map[protocol.Verb]any{
		protocol.DoQueueEdit: protocol.QueueEditData{MessageID: "nobody", Text: "x"},
		protocol.DoQueueMove: protocol.QueueMoveData{MessageID: "nobody"},
		protocol.DoQueueHold: protocol.QueueHoldData{MessageID: "nobody"},
	} {
		if id := c.Command(verb, "uuid", data); c.ErrorCode(id) != protocol.CodeNotFound {
			t.Errorf("%s of an unknown message: %+v", verb, c.Answers[id])
		}
	}
	if order() != "three one two " {
		t.Errorf("finally: %s", order())
	}
}

// State that a server can cause is bounded.
func TestTheClientsStateIsBounded(t *testing.T) {
	c := newClientTest(t, nil)
	var last string
	for i := range maxSessions + 1 {
		last = c.Command(protocol.DoCreate, "", protocol.CreateData{})
		c.Receive(fmt.Sprintf(`{"type":"conversation_started","payload":{"conversationId":"c%d","domainId":"d","activeAgent":"x"}}`, i))
	}
	if c.ErrorCode(last) != protocol.CodeTooMany || len(codecOf(c).resume.sessions) != maxSessions {
		t.Errorf("%d conversations, %+v", len(codecOf(c).resume.sessions), c.Answers[last])
	}

	c = newClientTest(t, nil)
	c.Subscribe()
	c.Send("x")
	const n = 512 // decisions, more than codec.Decisions keeps
	for i := range n {
		c.Receive(fmt.Sprintf(`{"type":"tool_approval_required","conversationId":"uuid","payload":{"requestId":"r%d","toolName":"n","toolArgs":{}}}`, i),
			fmt.Sprintf(`{"type":"tool_executed","conversationId":"uuid","payload":{"requestId":"r%d","toolName":"n","result":null,"success":false,"errorMessage":"no"}}`, i))
	}
	decisions := &codecOf(c).resume.sessions[0].turns.resolutions.winners
	if _, kept := decisions.Get("r0"); kept {
		t.Error("the oldest decision is kept")
	}
	if _, kept := decisions.Get(fmt.Sprint("r", n-1)); !kept {
		t.Error("the newest decision is not kept")
	}
}

// A tool command runs one tool only, so a failed decision ends its turn.
func TestAToolCommandThatCannotBeDecidedEndsItsTurn(t *testing.T) {
	c := newClientTest(t, nil)
	c.Subscribe()
	c.Send("/tool rm {}")
	c.Receive(multiagenttest.ApprovalExample)
	id := c.Command(protocol.DoApprove, "uuid", protocol.ApproveData{Decision: protocol.AllowOnce})
	c.Receive(multiagenttest.ErrorMessage(wire.CodeExecuteFailed))
	if c.ErrorCode(id) != protocol.CodeAgentFailed || c.State.Turn != nil ||
		c.State.Last.Reason != protocol.ReasonError {
		t.Errorf("%+v, %+v", c.Answers[id], c.State.Turn)
	}
}
