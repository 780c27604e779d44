package server

import (
	"fmt"
	"strings"
	"testing"

	"agentctl/internal/dev/codectest"
	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/multiagent/wire"
)

// MA-16: a conversation that cannot be started is reported with the document's codes.
func TestAConversationThatCannotBeStarted(t *testing.T) {
	for code, want := range map[protocol.Code]string{
		protocol.CodeNoAgent: wire.CodeNotConfigured, protocol.CodeInternal: wire.CodeStreamError, protocol.CodeTooMany: wire.CodeBadRequest,
	} {
		h := newServerTest(t, codec.ServerOptions{})
		h.Answer = func(out *codec.Output, c *protocol.Command) bool {
			if c.Command == protocol.DoCreate {
				h.Responder.Fail(out, c, protocol.Errorf(code, "no"))
			}
			return c.Command == protocol.DoCreate
		}
		h.Receive(`{"type":"start_conversation","payload":{"domainId":"x"}}`)
		h.WantSent(fmt.Sprintf(`{"type":"error","error":"no","payload":{"code":%q,"message":"no"}}`, want))
	}
}

// MA-15, MA-16: each refused message gets an error, in its conversation.
func TestEveryRefusalIsSent(t *testing.T) {
	for verb, c := range map[protocol.Verb]struct{ frame, code string }{
		protocol.DoSend: {
			`{"type":"send_message","conversationId":"uuid","payload":{"content":"x"}}`,
			wire.CodeStreamError,
		},
		protocol.DoInterrupt: {`{"type":"cancel_stream","conversationId":"uuid"}`, wire.CodeStreamError},
		protocol.DoApprove:   {`{"type":"approve_tool","conversationId":"uuid","requestId":"r","payload":{"approved":true}}`, wire.CodeExecuteFailed},
		protocol.DoSubscribe: {`{"type":"PING","conversationId":"uuid"}`, wire.CodeStreamError},
	} {
		h := newServerTest(t, codec.ServerOptions{})
		h.Answer = func(out *codec.Output, c *protocol.Command) bool {
			if c.Command == verb {
				h.Responder.Fail(out, c, protocol.Errorf(protocol.CodeInternal, "no"))
			}
			return c.Command == verb
		}
		h.Receive(c.frame)
		sent := h.TakeSent()
		const format = `{"type":"error","conversationId":"uuid","error":"no","payload":{"code":%q,"message":"no"}}`
		if len(sent) == 0 || sent[len(sent)-1] != fmt.Sprintf(format, c.code) {
			t.Errorf("%s: sent %s", verb, sent)
		}
	}
}

// Only the end of this connection's own subscription is reported.
func TestOnlyTheOwnSubscriptionEnds(t *testing.T) {
	h := newServerTest(t, codec.ServerOptions{})
	h.UseConversation()
	for client, want := range map[string]string{"else": "", "e1": `"code":"not_found"`} {
		gone := protocol.Event{
			Session: "uuid", Type: protocol.ClientDetached, Time: codectest.Start,
			Data: protocol.MustEncode(protocol.Client{Client: client, Reason: "no_session"}),
		}
		h.Deliver(h.Codec.Native(h.Now, gone.AppendJSON(nil)))
		if got := strings.Join(h.TakeSent(), ""); (got != "") != (want != "") || !strings.Contains(got, want) {
			t.Errorf("%s: %s", client, got)
		}
	}
}
