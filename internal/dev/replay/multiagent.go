package replay

import (
	"encoding/json"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/multiagent"
	"agentctl/server/login"
)

// multiagentDialect describes Multi-Agent-Intelligence.
func multiagentDialect() *Dialect {
	return &Dialect{
		Dialect: multiagent.Dialect,
		Grammar: Grammar{
			Split: splitMultiAgent, TypeFields: []string{"type", "code"},
			IDs: []string{
				"conversationId", "requestId", "messageId", "conversation_id", "run_id", "id", "access_token",
			},
			OpenKeys: func(_, path string) bool {
				field := path[strings.LastIndex(path, ".")+1:]
				return field == "toolArgs" || field == "parameters" || field == "result"
			},
		},
		Opened:  func(*ClientConn) {},
		Reply:   replyMultiAgent,
		Cause:   causeMultiAgent,
		Serve:   serveMultiAgent,
		Awaited: awaitedMultiAgent,
		Own: map[string]string{
			"error/cancelled":      "code of the document: the recorded server could not be interrupted",
			"error/not_configured": "code of the document: agentctl runs no tools for clients",
			"workflow_thought":     "message of the system: the recorded server had one agent and no queue",
		},
		Exceptions: map[string]string{
			"upgrade /: 101, not 403": "agentctl serves a dialect at any path",
			"conversation.listed.conversations[].title: string, not [null]": "agentctl's sessions have titles",
		},
		Silent: map[string]string{
			"PONG":                      "it has no field but its type",
			"error/bad_request":         twice,
			"error/tool_execute_failed": twice,
			"error/tool_reject_failed":  twice,
			"error/tool_request_failed": twice,
		},
		NotServed: map[string]string{
			"GET /v1/domains":        "domains are in agentctl's configuration",
			"GET /v1/agents":         "agents are in agentctl's configuration",
			"GET /v1/conversations":  "agentctl lists its sessions at /api/sessions",
			"POST /v1/conversations": "agentctl creates sessions on the WebSocket",
		},
	}
}

// twice is why a change of an error's text or conversation may be silent.
const twice = "its text is in two fields, and without a conversation it answers the pending command"

// multiagentRequests are the types of a client's messages.
var multiagentRequests = []string{
	"PING", "start_conversation", "send_message", "cancel_stream", "approve_tool", "chat.send", "conversation.list",
	"conversation.messages", "tool_run.request", "tool_run.approve", "tool_run.execute", "tool_run.reject",
	"tool_run.list",
}

// splitMultiAgent tells messages by their type, and errors by their code too.
func splitMultiAgent() func(Direction, []any) []Message {
	return func(d Direction, frame []any) (list []Message) {
		for _, v := range frame {
			m, _ := v.(map[string]any)
			typ, _ := m["type"].(string)
			payload, _ := m["payload"].(map[string]any)
			if code, ok := payload["code"].(string); ok && typ == "error" {
				typ += "/" + code
			}
			if d == ToServer && !slices.Contains(multiagentRequests, typ) {
				typ = "unknown"
			}
			list = append(list, Message{typ, v})
		}
		return list
	}
}

// replyMultiAgent answers the PINGs with which agentctl's client begins and follows its messages.
func replyMultiAgent(m Message) string {
	if m.Type == "PING" {
		return `{"type":"PONG"}`
	}
	return ""
}

func causeMultiAgent(c *ClientConn, m Message) bool {
	var f struct {
		Conversation string `json:"conversationId"`
		Request      string `json:"requestId"`
		Payload      struct {
			Domain   string `json:"domainId"`
			Content  string
			Approved bool
			Reason   string
		}
	}
	_ = json.Unmarshal(protocol.MustEncode(m.Value), &f)
	if f.Conversation != "" && c.State(f.Conversation) == nil {
		c.Subscribe(f.Conversation)
		c.Advance(func() bool { return c.State(f.Conversation) != nil })
	}
	var answer *protocol.Answer
	switch {
	case m.Type == "PING":
		reply := c.reply
		c.reply = nil // the recording has the answer, if there was one
		answer = c.Do(protocol.DoPing, "", nil)
		c.reply = reply
	case m.Type == "start_conversation" && f.Payload.Domain != "":
		answer = c.Do(protocol.DoCreate, "", protocol.CreateData{Agent: f.Payload.Domain})
	case f.Conversation == "":
		return false
	case m.Type == "send_message" && f.Payload.Content != "":
		answer = c.Do(protocol.DoSend, f.Conversation, protocol.SendData{Text: f.Payload.Content})
	case m.Type == "cancel_stream":
		answer = c.Do(protocol.DoInterrupt, f.Conversation, nil)
	case m.Type == "approve_tool" && f.Request != "":
		d := protocol.ApproveData{Request: f.Request, Decision: protocol.AllowOnce, Reason: f.Payload.Reason}
		if !f.Payload.Approved {
			d.Decision = protocol.Deny
		}
		answer = c.Do(protocol.DoApprove, f.Conversation, d)
	default:
		return false
	}
	return answer == nil // else the client answered without the server
}

// awaitedMultiAgent excepts the parts of a text, whose number depends on the agent; tool runs,
// which agentctl refuses; refusals of other users' conversations, which are everyone's at agentctl;
// and the answer to cancel_stream while a tool waits for a decision, which agentctl carries out.
func awaitedMultiAgent(c *Conversation, m Message) bool {
	text, _ := m.Value.(map[string]any)["error"].(string)
	switch {
	case m.Type == "message_chunk", m.Type == "chat.delta", strings.HasPrefix(m.Type, "tool_run."):
		return false
	case c.Scenario == "other-user" && strings.HasPrefix(m.Type, "error"):
		return false
	case m.Type == "error/stream_error":
		return !strings.HasPrefix(text, "Not allowed")
	case m.Type == "error/not_found":
		return text != "No active stream" || !strings.Contains(c.Scenario, "tool")
	}
	return true
}

// multiagentUsers have the password "pw".
const multiagentUsers = `{
"alice": {"password": "pbkdf2-sha256$1$c2FsdHNhbHQ$Nh601R9GRp2c0ZHby39El/mJ839KkQPzpGJqks3ztFg", "role": "operator"},
"dev": {"password": "pbkdf2-sha256$1$c2FsdHNhbHQ$Nh601R9GRp2c0ZHby39El/mJ839KkQPzpGJqks3ztFg", "role": "approver"},
"root": {"password": "pbkdf2-sha256$1$c2FsdHNhbHQ$Nh601R9GRp2c0ZHby39El/mJ839KkQPzpGJqks3ztFg", "role": "admin"}
}`

func serveMultiAgent(s *ServerPlayer) {
	users, err := login.ReadUsers([]byte(multiagentUsers))
	if err != nil {
		s.T.Fatal(err)
	}
	domains := map[string]string{"software_development": "agent", "garden": "agent"}
	s.Options.Dialects.Agents = map[string]map[string]string{multiagent.Name: domains}
	s.Options.Token = "listener"
	s.Options.Authenticator = login.NewAuthenticator(users, login.KeysFromSecret([]byte("secret")))
	s.Start(`
{"on":"/tool save_file {\"path\"*"}
{"ask":"tool","name":"save_file","tool":"save","title":"Save a file","input":{"path":"notes.txt","content":"hi"},"then":[{"tool":"save_file","id":"save","result":{"ok":true,"path":"notes.txt"}},{"say":"saved"}],"else":[{"end":"denied"}]}
{"on":"/tool water*"}
{"ask":"tool","name":"water","tool":"water","title":"Water a bed","input":{"bed":"north"},"then":[{"tool":"water","id":"water","result":{"wet":true}},{"say":"done"}],"else":[{"end":"denied"}]}
{"on":"/tool *{*"}
{"fail":"unknown tool, or wrong parameters"}
{"on":"explode"}
{"say":"before "}
{"fail":"model exploded"}
{"on":"slow*"}
{"sleep":"1s"}
{"say":"one two three","words":1,"delay":"1s"}
{"on":"*"}
{"think":"What is it about?"}
{"say":"You wrote: {message}"}
`)
}
