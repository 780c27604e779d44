//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/coder/websocket"
	"github.com/rogpeppe/go-internal/testscript"

	"agentctl/protocol/agentloop"
	"agentctl/protocol/multiagent"
	"agentctl/protocol/myagent"
)

// foreignReplies are the frames of servers other than agentctl: greeting for a new connection, and
// the frames that answer a message with a text. The texts fail and ask are a failed turn and one
// that waits for a decision.
var foreignReplies = map[string]struct {
	greeting string
	reply    func(typ, text string) []string
}{
	agentloop.Name: {reply: func(typ, text string) []string {
		const loading = `{"id":"1","type":"loading_state","payload":{"loading":%t}}`
		frames := []string{fmt.Sprintf(loading, true)}
		switch {
		case typ != "user_input":
			return nil
		case text == "fail":
			frames = append(frames, `{"id":"2","type":"error","payload":{"message":"Failed to process user input"}}`)
		case text == "ask":
			return append(frames, `{"id":"2","type":"approval_request","payload":{"command":["rm","-rf","build"]}}`)
		default:
			frames = append(frames, `{"id":"2","type":"response_item","payload":{"type":"message",`+
				`"role":"assistant","id":"r1","content":[{"type":"output_text","text":"You said: `+text+`"}]}}`)
		}
		return append(frames, fmt.Sprintf(loading, false),
			`{"id":"3","type":"agent_finished","payload":{"responseId":"r1"}}`)
	}},
	myagent.Name: {
		greeting: `{"event":"system.connected"}`,
		reply: func(typ, text string) []string {
			switch {
			case typ == "user.create_session":
				return []string{`{"event":"agent.session_created","session_id":"s1"}`}
			case typ != "user.message":
				return []string{`{"event":"system.error","content":"Unknown event type: ` + typ + `"}`}
			case text == "fail":
				return []string{`{"event":"agent.error","session_id":"s1","content":"no model"}`}
			case text == "ask":
				return []string{`{"event":"agent.user_confirm","session_id":"s1","step_id":"confirm_1",` +
					`"metadata":{"tool_name":"shell","requires_confirmation":true}}`}
			}
			return []string{`{"event":"agent.final_answer","session_id":"s1","content":"You said: ` + text + `"}`}
		},
	},
	multiagent.Name: {reply: func(typ, text string) []string {
		switch typ {
		case "PING":
			return []string{`{"type":"PONG"}`}
		case "start_conversation":
			return []string{`{"type":"conversation_started","payload":{"conversationId":"c7","activeAgent":"coder"}}`}
		}
		return nil
	}},
}

// cmdForeign serves a dialect as a server other than agentctl does, and sets a variable to its URL:
// foreign DIALECT VAR
func cmdForeign(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 || foreignReplies[args[0]].reply == nil {
		ts.Fatalf("usage: foreign DIALECT VAR")
	}
	replies := foreignReplies[args[0]]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer ws.CloseNow()
		frames := []string{replies.greeting}
		for {
			for _, f := range frames {
				if f != "" && ws.Write(r.Context(), websocket.MessageText, []byte(f)) != nil {
					return
				}
			}
			_, b, err := ws.Read(r.Context())
			if err != nil {
				return
			}
			frames = replies.reply(foreignMessage(b))
		}
	}))
	ts.Defer(server.Close)
	ts.Setenv(args[1], "ws"+strings.TrimPrefix(server.URL, "http"))
}

// foreignMessage returns the type and the text of a client's message.
func foreignMessage(b []byte) (typ, text string) {
	var m struct {
		Type, Event string
		Content     any
		Payload     struct {
			Input []struct{ Content []struct{ Text string } }
		}
	}
	_ = json.Unmarshal(b, &m)
	for _, in := range m.Payload.Input {
		for _, part := range in.Content {
			text += part.Text
		}
	}
	if s, ok := m.Content.(string); ok {
		text = s
	}
	return m.Type + m.Event, text
}
