package multiagent

import (
	"fmt"
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

const bareError = `{"type":"error","error":"Unknown event type: bogus"}`

// MA-15: errors of the real system can omit the conversation. They concern the pending request, or
// else the only turn.
func TestAnErrorThatNamesNoConversation(t *testing.T) {
	c := newClientTest(t, nil)
	c.subscribe()
	id := c.command(protocol.DoSend, "uuid", protocol.SendData{Text: "x"})
	if c.receive(bareError); c.errorCode(id) != protocol.CodeAgentFailed ||
		!strings.Contains(c.answers[id].Error.Message, "bogus") {
		t.Errorf("during a send: %v", c.answers[id])
	}
	c.send("y")
	if c.receive(bareError); c.state.Turn != nil || c.state.Last.Reason != protocol.ReasonError {
		t.Errorf("during a turn: %+v", c.state.Turn)
	}
	c.receive(bareError)
	if last := c.events[len(c.events)-1]; last.Type != protocol.Notice {
		t.Errorf("without a turn or request: %s", last.Type)
	}
}

// An error without a conversation ends no turn if it could concern two.
func TestAnErrorThatCouldBeOfSeveralEndsNone(t *testing.T) {
	c := newClientTest(t, nil)
	c.subscribe()
	c.send("x")
	c.command(protocol.DoSend, "other", protocol.SendData{Text: "y"})
	c.advance()
	if c.receive(bareError); c.state.Turn == nil {
		t.Errorf("the turn ended: %+v", c.state.Last)
	}
}

// MA-11: if the server knows of no stream, the turn has ended, and nothing was interrupted.
func TestNothingToCancelEndsTheKnownTurn(t *testing.T) {
	c := newClientTest(t, nil)
	c.subscribe()
	c.send("x")
	id := c.command(protocol.DoInterrupt, "uuid", protocol.InterruptData{})
	c.command(protocol.DoSend, "uuid", protocol.SendData{Text: "later"})
	c.frames = nil
	c.receive(errorMessage(notFound))
	c.wantSent(`{"type":"send_message","conversationId":"uuid","payload":{"content":"later"}}`)
	if r := result[protocol.InterruptResult](c, id); r == nil || r.Interrupted {
		t.Errorf("answered %+v", r)
	}
	if c.state.Last == nil || c.state.Last.Reason != protocol.ReasonError {
		t.Errorf("%+v", c.state.Last)
	}
}

// MA-7: a conversation's domain is the agent, else the option, else the document's.
func TestASessionWithoutAnAgentHasADomain(t *testing.T) {
	for _, c := range []struct{ agent, option, want string }{
		{"", "", "software_development"}, {"", "law", "law"}, {"medicine", "law", "medicine"},
	} {
		g := newClientTest(t, map[string]string{"domain": c.option})
		g.command(protocol.DoCreate, "", protocol.CreateData{Agent: c.agent})
		g.wantSent(fmt.Sprintf(`{"type":"start_conversation","payload":{"domainId":%q}}`, c.want))
	}
}

// MA-16: a conversation that cannot be started is reported with the document's codes.
func TestAConversationThatCannotBeStarted(t *testing.T) {
	for code, want := range map[protocol.Code]string{
		protocol.CodeNoAgent: notConfigured, protocol.CodeInternal: streamError, protocol.CodeTooMany: badRequest,
	} {
		h := newServerTest(t, codec.ServerOptions{})
		h.answer = func(out *codec.Output, c *protocol.Command) bool {
			if c.Command == protocol.DoCreate {
				h.responder.Fail(out, c, protocol.Errorf(code, "no"))
			}
			return c.Command == protocol.DoCreate
		}
		h.receive(`{"type":"start_conversation","payload":{"domainId":"x"}}`)
		h.wantSent(fmt.Sprintf(`{"type":"error","error":"no","payload":{"code":%q,"message":"no"}}`, want))
	}
}

// MA-15, MA-16: each refused message gets an error, in its conversation.
func TestEveryRefusalIsSent(t *testing.T) {
	for verb, c := range map[protocol.Verb]struct{ frame, code string }{
		protocol.DoSend: {
			`{"type":"send_message","conversationId":"uuid","payload":{"content":"x"}}`,
			streamError,
		},
		protocol.DoInterrupt: {`{"type":"cancel_stream","conversationId":"uuid"}`, streamError},
		protocol.DoApprove:   {`{"type":"approve_tool","conversationId":"uuid","requestId":"r","payload":{"approved":true}}`, executeFailed},
		protocol.DoSubscribe: {`{"type":"PING","conversationId":"uuid"}`, streamError},
	} {
		h := newServerTest(t, codec.ServerOptions{})
		h.answer = func(out *codec.Output, c *protocol.Command) bool {
			if c.Command == verb {
				h.responder.Fail(out, c, protocol.Errorf(protocol.CodeInternal, "no"))
			}
			return c.Command == verb
		}
		h.receive(c.frame)
		sent := h.takeSent()
		const format = `{"type":"error","conversationId":"uuid","error":"no","payload":{"code":%q,"message":"no"}}`
		if len(sent) == 0 || sent[len(sent)-1] != fmt.Sprintf(format, c.code) {
			t.Errorf("%s: sent %s", verb, sent)
		}
	}
}

// Only the end of this connection's own subscription is reported.
func TestOnlyTheOwnSubscriptionEnds(t *testing.T) {
	h := newServerTest(t, codec.ServerOptions{})
	h.useConversation()
	for client, want := range map[string]string{"else": "", "e1": `"code":"not_found"`} {
		gone := protocol.Event{
			Session: "uuid", Type: protocol.ClientDetached, Time: start,
			Data: protocol.MustEncode(protocol.Client{Client: client, Reason: "no_session"}),
		}
		h.deliver(h.codec.Native(h.now, gone.AppendJSON(nil)))
		if got := strings.Join(h.takeSent(), ""); (got != "") != (want != "") || !strings.Contains(got, want) {
			t.Errorf("%s: %s", client, got)
		}
	}
}

// MA-16: the document's eight codes, and those of the real system.
func TestTheCodesAreTheDocuments(t *testing.T) {
	got := []string{
		badRequest, forbidden, notFound, notConfigured, streamError, cancelled, requestFailed, executeFailed,
		rejected, rejectFailed,
	}
	want := "bad_request forbidden not_found not_configured stream_error cancelled tool_request_failed " +
		"tool_execute_failed rejected tool_reject_failed"
	if strings.Join(got, " ") != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
