package client

import (
	"fmt"
	"strings"
	"testing"

	"agentctl/internal/dev/codectest"
	"agentctl/internal/dev/multiagenttest"
	"agentctl/protocol"
	"agentctl/protocol/multiagent/wire"
)

const bareError = `{"type":"error","error":"Unknown event type: bogus"}`

// MA-15: errors of the real system can omit the conversation. They concern the pending request, or
// else the only turn.
func TestAnErrorThatNamesNoConversation(t *testing.T) {
	c := newClientTest(t, nil)
	c.Subscribe()
	id := c.Command(protocol.DoSend, "uuid", protocol.SendData{Text: "x"})
	if c.Receive(bareError); c.ErrorCode(id) != protocol.CodeAgentFailed ||
		!strings.Contains(c.Answers[id].Error.Message, "bogus") {
		t.Errorf("during a send: %v", c.Answers[id])
	}
	c.Send("y")
	if c.Receive(bareError); c.State.Turn != nil || c.State.Last.Reason != protocol.ReasonError {
		t.Errorf("during a turn: %+v", c.State.Turn)
	}
	c.Receive(bareError)
	if last := c.Events[len(c.Events)-1]; last.Type != protocol.Notice {
		t.Errorf("without a turn or request: %s", last.Type)
	}
}

// An error without a conversation ends no turn if it could concern two.
func TestAnErrorThatCouldBeOfSeveralEndsNone(t *testing.T) {
	c := newClientTest(t, nil)
	c.Subscribe()
	c.Send("x")
	c.Command(protocol.DoSend, "other", protocol.SendData{Text: "y"})
	c.Advance()
	if c.Receive(bareError); c.State.Turn == nil {
		t.Errorf("the turn ended: %+v", c.State.Last)
	}
}

// MA-11: if the server knows of no stream, the turn has ended, and nothing was interrupted.
func TestNothingToCancelEndsTheKnownTurn(t *testing.T) {
	c := newClientTest(t, nil)
	c.Subscribe()
	c.Send("x")
	id := c.Command(protocol.DoInterrupt, "uuid", protocol.InterruptData{})
	c.Command(protocol.DoSend, "uuid", protocol.SendData{Text: "later"})
	c.Frames = nil
	c.Receive(multiagenttest.ErrorMessage(wire.CodeNotFound))
	c.WantSent(`{"type":"send_message","conversationId":"uuid","payload":{"content":"later"}}`)
	if r := codectest.Result[protocol.InterruptResult](&c.Client, id); r == nil || r.Interrupted {
		t.Errorf("answered %+v", r)
	}
	if c.State.Last == nil || c.State.Last.Reason != protocol.ReasonError {
		t.Errorf("%+v", c.State.Last)
	}
}

// MA-7: a conversation's domain is the agent, else the option, else the document's.
func TestASessionWithoutAnAgentHasADomain(t *testing.T) {
	for _, c := range []struct{ agent, option, want string }{
		{"", "", "software_development"}, {"", "law", "law"}, {"medicine", "law", "medicine"},
	} {
		g := newClientTest(t, map[string]string{"domain": c.option})
		g.Command(protocol.DoCreate, "", protocol.CreateData{Agent: c.agent})
		g.WantSent(fmt.Sprintf(`{"type":"start_conversation","payload":{"domainId":%q}}`, c.want))
	}
}
