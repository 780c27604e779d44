package server

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/coder/websocket"

	"agentctl/protocol"
	"agentctl/protocol/multiagent"
)

// A foreignClient is a client of Multi-Agent-Intelligence.
type foreignClient struct {
	t  *testing.T
	ws *websocket.Conn
}

type foreignFrame struct {
	Type           string
	ConversationID string
	Error          string
	Payload        struct {
		ConversationID, ActiveAgent, Chunk, Content, RequestID, Code string
		Success                                                      bool
	}
}

func dialForeign(t *testing.T, through *http.Client, query string) *foreignClient {
	t.Helper()
	return dialForeignAt(t, through, "ws://server"+dialectPath+multiagent.Name+query)
}

func dialForeignAt(t *testing.T, through *http.Client, url string) *foreignClient {
	t.Helper()
	ws, _, err := websocket.Dial(t.Context(), url, &websocket.DialOptions{HTTPClient: through})
	must(t, err)
	t.Cleanup(func() { _ = ws.CloseNow() })
	return &foreignClient{t, ws}
}

func (c *foreignClient) send(frame string) {
	c.t.Helper()
	must(c.t, c.ws.Write(c.t.Context(), websocket.MessageText, []byte(frame)))
}

// waitFor returns the next frame of a type, and the text of the chunks before it.
func (c *foreignClient) waitFor(typ string) (f foreignFrame, chunks string) {
	c.t.Helper()
	for f.Type != typ {
		_, b, err := c.ws.Read(c.t.Context())
		must(c.t, err)
		f = foreignFrame{}
		must(c.t, json.Unmarshal(b, &f))
		chunks += f.Payload.Chunk
	}
	return f, chunks
}

// MA-6 to MA-14: a complete conversation.
func TestAMultiAgentClientWorksWithASession(t *testing.T) {
	w := newTestServer(t)
	s := dialForeign(t, httpClient(w.pipe.Dial), "")
	s.send(`{"type":"PING"}`)
	s.waitFor("PONG")
	s.send(`{"type":"start_conversation","payload":{"domainId":"software_development"}}`)
	f, _ := s.waitFor("conversation_started")
	id := f.Payload.ConversationID
	if id == "" || f.Payload.ActiveAgent != "script" {
		t.Fatalf("%+v", f)
	}
	message := func(text string) string {
		return `{"type":"send_message","conversationId":"` + id + `","payload":{"content":"` + text + `"}}`
	}
	s.send(message("few"))
	if f, chunks := s.waitFor("message_complete"); chunks == "" || chunks != f.Payload.Content {
		t.Errorf("chunks %q, content %q", chunks, f.Payload.Content)
	}
	s.send(message("ask"))
	f, _ = s.waitFor("tool_approval_required")
	s.send(
		`{"type":"approve_tool","conversationId":"` + id + `","requestId":"` + f.Payload.RequestID +
			`","payload":{"approved":true}}`,
	)
	if done, _ := s.waitFor("tool_executed"); !done.Payload.Success || done.Payload.RequestID != f.Payload.RequestID {
		t.Errorf("%+v", done)
	}
	s.waitFor("message_complete")
	s.send(message("hang"))
	s.send(`{"type":"cancel_stream","conversationId":"` + id + `"}`)
	if f, _ := s.waitFor("error"); f.Payload.Code != "cancelled" {
		t.Errorf("%+v", f)
	}
	s.send(`{"type":"send_message","conversationId":"nobody","payload":{"content":"x"}}`)
	if f, _ := s.waitFor("error"); f.Payload.Code != "not_found" {
		t.Errorf("%+v", f)
	}
}

// MA-4, X-19: without a valid token the upgrade is refused with 403, or, with the option, accepted
// and closed with 1008.
func TestAMultiAgentClientWithoutATokenIsRefused(t *testing.T) {
	c := newProtectedServer(t)
	for _, query := range []string{"", "?token=", "?token=bad"} {
		c.server.dialects.Options = nil
		_, answer, err := websocket.Dial(t.Context(), "ws://server/dialect/multiagent"+query, &websocket.DialOptions{
			HTTPClient: c.http,
		})
		if err == nil || answer == nil || answer.StatusCode != http.StatusForbidden {
			t.Errorf("%q: %+v, %v", query, answer, err)
		}
		c.server.dialects.Options = map[string]map[string]string{"multiagent": {"unauthorized": "1008"}}
		_, _, err = dialForeign(t, c.http, query).ws.Read(t.Context())
		if websocket.CloseStatus(err) != protocol.ClosePolicy {
			t.Errorf("%q: %v", query, err)
		}
	}
}

// MA-17: a user sends a message, and an admin approves on another connection.
func TestAMultiAgentUserMayNotApproveAndAnAdminMay(t *testing.T) {
	c := newProtectedServer(t)
	login := func(name string) *foreignClient {
		_, reply := c.login(name, "open sesame")
		return dialForeign(t, c.http, "?token="+reply.Access_token)
	}
	user, admin := login("the operator"), login("the admin")
	user.send(`{"type":"start_conversation","payload":{"domainId":"d"}}`)
	f, _ := user.waitFor("conversation_started")
	id := f.Payload.ConversationID
	user.send(`{"type":"send_message","conversationId":"` + id + `","payload":{"content":"ask"}}`)
	f, _ = user.waitFor("tool_approval_required")
	approve := `{"type":"approve_tool","conversationId":"` + id + `","requestId":"` + f.Payload.RequestID +
		`","payload":{"approved":true}}`
	user.send(approve)
	if f, _ := user.waitFor("error"); f.Payload.Code != "forbidden" {
		t.Errorf("%+v", f)
	}
	admin.send(approve)
	for _, s := range []*foreignClient{admin, user} {
		if f, _ := s.waitFor("tool_executed"); !f.Payload.Success {
			t.Errorf("%+v", f)
		}
	}
}
