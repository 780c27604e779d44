package server

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/coder/websocket"

	"agentctl/protocol"
	"agentctl/protocol/multiagent"
)

// A stranger is a client of Multi-Agent-Intelligence.
type stranger struct {
	t  *testing.T
	ws *websocket.Conn
}

type strangerFrame struct {
	Type           string
	ConversationID string
	Error          string
	Payload        struct {
		ConversationID, ActiveAgent, Chunk, Content, RequestID, Code string
		Success                                                      bool
	}
}

func meet(t *testing.T, through *http.Client, query string) *stranger {
	t.Helper()
	return meetAt(t, through, "ws://server"+dialectPath+multiagent.Name+query)
}

func meetAt(t *testing.T, through *http.Client, url string) *stranger {
	t.Helper()
	ws, _, err := websocket.Dial(t.Context(), url, &websocket.DialOptions{HTTPClient: through})
	must(t, err)
	t.Cleanup(func() { _ = ws.CloseNow() })
	return &stranger{t, ws}
}

func (s *stranger) says(frame string) {
	s.t.Helper()
	must(s.t, s.ws.Write(s.t.Context(), websocket.MessageText, []byte(frame)))
}

// hears returns the next frame of a type, and what the chunks before it say.
func (s *stranger) hears(typ string) (f strangerFrame, chunks string) {
	s.t.Helper()
	for f.Type != typ {
		_, b, err := s.ws.Read(s.t.Context())
		must(s.t, err)
		f = strangerFrame{}
		must(s.t, json.Unmarshal(b, &f))
		chunks += f.Payload.Chunk
	}
	return f, chunks
}

// MA-6 to MA-14: a client of that system from its first message to its last.
func TestAMultiAgentClientWorksWithASession(t *testing.T) {
	w := newWorld(t)
	s := meet(t, through(w.pipe.Dial), "")
	s.says(`{"type":"PING"}`)
	s.hears("PONG")
	s.says(`{"type":"start_conversation","payload":{"domainId":"software_development"}}`)
	f, _ := s.hears("conversation_started")
	id := f.Payload.ConversationID
	if id == "" || f.Payload.ActiveAgent != "script" {
		t.Fatalf("%+v", f)
	}
	message := func(text string) string {
		return `{"type":"send_message","conversationId":"` + id + `","payload":{"content":"` + text + `"}}`
	}
	s.says(message("few"))
	if f, chunks := s.hears("message_complete"); chunks == "" || chunks != f.Payload.Content {
		t.Errorf("chunks %q, content %q", chunks, f.Payload.Content)
	}
	s.says(message("ask"))
	f, _ = s.hears("tool_approval_required")
	s.says(`{"type":"approve_tool","conversationId":"` + id + `","requestId":"` + f.Payload.RequestID + `","payload":{"approved":true}}`)
	if done, _ := s.hears("tool_executed"); !done.Payload.Success || done.Payload.RequestID != f.Payload.RequestID {
		t.Errorf("%+v", done)
	}
	s.hears("message_complete")
	s.says(message("hang"))
	s.says(`{"type":"cancel_stream","conversationId":"` + id + `"}`)
	if f, _ := s.hears("error"); f.Payload.Code != "cancelled" {
		t.Errorf("%+v", f)
	}
	s.says(`{"type":"send_message","conversationId":"nobody","payload":{"content":"x"}}`)
	if f, _ := s.hears("error"); f.Payload.Code != "not_found" {
		t.Errorf("%+v", f)
	}
}

// MA-4, X-19: without a valid token the connection is accepted and closed with 1008.
func TestAMultiAgentClientWithoutATokenIsClosed(t *testing.T) {
	c := newClosed(t)
	for _, query := range []string{"", "?token=bad"} {
		_, _, err := meet(t, c.http, query).ws.Read(t.Context())
		if websocket.CloseStatus(err) != protocol.ClosePolicy {
			t.Errorf("%q: %v", query, err)
		}
	}
}

// MA-17: a user may ask, and another who may approve does so from a socket of their own.
func TestAMultiAgentUserMayNotApproveAndAnAdminMay(t *testing.T) {
	c := newClosed(t)
	login := func(name string) *stranger {
		_, said := c.login(name, "open sesame")
		return meet(t, c.http, "?token="+said.Access_token)
	}
	user, admin := login("the operator"), login("the admin")
	user.says(`{"type":"start_conversation","payload":{"domainId":"d"}}`)
	f, _ := user.hears("conversation_started")
	id := f.Payload.ConversationID
	user.says(`{"type":"send_message","conversationId":"` + id + `","payload":{"content":"ask"}}`)
	f, _ = user.hears("tool_approval_required")
	approve := `{"type":"approve_tool","conversationId":"` + id + `","requestId":"` + f.Payload.RequestID + `","payload":{"approved":true}}`
	user.says(approve)
	if f, _ := user.hears("error"); f.Payload.Code != "forbidden" {
		t.Errorf("%+v", f)
	}
	admin.says(approve)
	for _, s := range []*stranger{admin, user} {
		if f, _ := s.hears("tool_executed"); !f.Payload.Success {
			t.Errorf("%+v", f)
		}
	}
}
