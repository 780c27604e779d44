package multiagent

import (
	"fmt"
	"testing"

	"agentctl/protocol"
)

// An edit releases the hold of its message, and not the hold of the whole queue.
func TestAnEditEndsItsHoldAlone(t *testing.T) {
	c := newClientTest(t, nil)
	c.subscribe()
	c.send("x")
	c.command(protocol.DoSend, "uuid", protocol.SendData{Text: "later"})
	message := c.state.Queue[0].MessageID
	c.command(protocol.DoQueueHold, "uuid", protocol.QueueHoldData{MessageID: message})
	whole := result[protocol.QueueHoldResult](c, c.command(protocol.DoQueueHold, "uuid", protocol.QueueHoldData{}))
	if got := c.state.Holds; len(got) != 2 || got[0].Reason != protocol.HoldEdit || got[0].MessageID != message ||
		got[1].Reason != protocol.HoldUser {
		t.Fatalf("held: %+v", got)
	}
	c.command(protocol.DoQueueEdit, "uuid", protocol.QueueEditData{MessageID: message, Text: "now"})
	if got := c.state.Holds; len(got) != 1 || got[0].ID != whole.Hold || c.state.Queue[0].Text != "now" {
		t.Errorf("after the edit: %+v", got)
	}
}

// MA-11: an interrupt without an answer fails, unless its turn has ended.
func TestAnInterruptWithoutAnAnswer(t *testing.T) {
	c := newClientTest(t, nil)
	c.subscribe()
	c.send("x")
	turn := c.state.Turn.Turn
	for _, of := range []string{turn, ""} {
		id := c.command(protocol.DoInterrupt, "uuid", protocol.InterruptData{Turn: of})
		if c.advance(); c.errorCode(id) != protocol.CodeTimeout {
			t.Errorf("during the turn %q: %+v", of, c.answers[id])
		}
	}
	id := c.command(protocol.DoInterrupt, "uuid", protocol.InterruptData{Turn: turn})
	c.receive(completeExample)
	c.advance()
	if r := result[protocol.InterruptResult](c, id); r == nil || r.Interrupted {
		t.Errorf("for a turn that completed: %+v", r)
	}
}

// An interrupt counts a message just sent as accepted. For a turn that has ended it cancels
// nothing.
func TestAnInterruptOfWhatWasJustSent(t *testing.T) {
	c := newClientTest(t, nil)
	c.subscribe()
	none := c.command(protocol.DoInterrupt, "uuid", protocol.InterruptData{Turn: "over"})
	if r := result[protocol.InterruptResult](c, none); r == nil || r.Interrupted {
		t.Errorf("for a turn that has ended: %+v", c.answers[none])
	}
	c.frames = nil
	send := c.command(protocol.DoSend, "uuid", protocol.SendData{Text: "x"})
	id := c.command(protocol.DoInterrupt, "uuid", protocol.InterruptData{})
	c.wantSent(`{"type":"send_message","conversationId":"uuid","payload":{"content":"x"}}`, cancelExample)
	if r := result[protocol.SendResult](c, send); r == nil || r.Status != protocol.SendStarted {
		t.Errorf("sent: %+v", c.answers[send])
	}
	c.receive(errorMessage(cancelled))
	if r := result[protocol.InterruptResult](c, id); r == nil || !r.Interrupted ||
		c.state.Last.Reason != protocol.ReasonInterrupted {
		t.Errorf("interrupted: %+v, %+v", c.answers[id], c.state.Last)
	}
}

// The client's own turn goes on after a first tool until the server ends it.
func TestATurnGoesOnAfterAFirstTool(t *testing.T) {
	c := newClientTest(t, nil)
	c.subscribe()
	c.send("x")
	c.receive(executedExample)
	if c.state.Turn == nil || !c.wake.IsZero() {
		t.Errorf("the turn has ended or will: %v", c.wake)
	}
}

// Saved answers are bounded.
func TestOnlyTheNewestKeysAreKept(t *testing.T) {
	c := newClientTest(t, nil)
	c.subscribe()
	for i := range 2 * maxSavedAnswers {
		c.commandWithKey(protocol.DoQueueRelease, "uuid", fmt.Sprint("k", i), protocol.QueueReleaseData{})
	}
	if got := c.codec.resume.answers.Len(); got > maxSavedAnswers {
		t.Errorf("%d keys", got)
	}
}

// The queue belongs to the client: each change is answered and applied, and an unknown message is
// not_found.
func TestTheQueueIsChangedAsAsked(t *testing.T) {
	c := newClientTest(t, nil)
	c.subscribe()
	c.send("x")
	for _, text := range []string{"one", "two", "three"} {
		c.command(protocol.DoSend, "uuid", protocol.SendData{Text: text})
	}
	order := func() (all string) {
		for _, m := range c.state.Queue {
			all += m.Text + " "
		}
		return all
	}
	id := c.command(protocol.DoQueueMove, "uuid", protocol.QueueMoveData{MessageID: c.state.Queue[2].MessageID})
	if result[protocol.Empty](c, id) == nil || order() != "three one two " {
		t.Errorf("moved: %+v, %s", c.answers[id], order())
	}
	for _, at := range []int{0, 0} {
		c.command(protocol.DoQueueHold, "uuid", protocol.QueueHoldData{MessageID: c.state.Queue[at].MessageID})
	}
	first, second := c.state.Holds[0].ID, c.state.Holds[1].ID
	id = c.command(protocol.DoQueueRelease, "uuid", protocol.QueueReleaseData{Hold: first})
	if r := result[protocol.QueueReleaseResult](c, id); r == nil || len(r.Released) != 1 || r.Released[0] != first ||
		len(c.state.Holds) != 1 || c.state.Holds[0].ID != second {
		t.Errorf("released: %+v, held %+v", c.answers[id], c.state.Holds)
	}
	for verb, data := range map[protocol.Verb]any{
		protocol.DoQueueEdit: protocol.QueueEditData{MessageID: "nobody", Text: "x"},
		protocol.DoQueueMove: protocol.QueueMoveData{MessageID: "nobody"},
		protocol.DoQueueHold: protocol.QueueHoldData{MessageID: "nobody"},
	} {
		if id := c.command(verb, "uuid", data); c.errorCode(id) != protocol.CodeNotFound {
			t.Errorf("%s of an unknown message: %+v", verb, c.answers[id])
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
		last = c.command(protocol.DoCreate, "", protocol.CreateData{})
		c.receive(fmt.Sprintf(`{"type":"conversation_started","payload":{"conversationId":"c%d","domainId":"d","activeAgent":"x"}}`, i))
	}
	if c.errorCode(last) != protocol.CodeTooMany || len(c.codec.resume.sessions) != maxSessions {
		t.Errorf("%d conversations, %+v", len(c.codec.resume.sessions), c.answers[last])
	}

	c = newClientTest(t, nil)
	c.subscribe()
	c.send("x")
	const n = 512 // decisions, more than codec.Decisions keeps
	for i := range n {
		c.receive(fmt.Sprintf(`{"type":"tool_approval_required","conversationId":"uuid","payload":{"requestId":"r%d","toolName":"n","toolArgs":{}}}`, i),
			fmt.Sprintf(`{"type":"tool_executed","conversationId":"uuid","payload":{"requestId":"r%d","toolName":"n","result":null,"success":false,"errorMessage":"no"}}`, i))
	}
	decisions := &c.codec.resume.sessions[0].decisions
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
	c.subscribe()
	c.send("/tool rm {}")
	c.receive(askExample)
	id := c.command(protocol.DoApprove, "uuid", protocol.ApproveData{Decision: protocol.AllowOnce})
	c.receive(errorMessage(executeFailed))
	if c.errorCode(id) != protocol.CodeAgentFailed || c.state.Turn != nil ||
		c.state.Last.Reason != protocol.ReasonError {
		t.Errorf("%+v, %+v", c.answers[id], c.state.Turn)
	}
}
