package replay

import (
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/multiagent"
	"agentctl/server/embedded"
	"agentctl/server/login"
)

func multiagentDialect() *Dialect {
	return &Dialect{
		Dialect: multiagent.Dialect,
		Grammar: Grammar{
			Split: oneMessage(multiagentType), TypeFields: []string{"type", "code"},
			IDs: []string{
				"conversationId", "requestId", "messageId", "conversation_id", "run_id", "id", "access_token",
			},
			OpenKeys: func(path string) bool {
				field := path[strings.LastIndex(path, ".")+1:]
				return field == "toolArgs" || field == "parameters" || field == "result"
			},
		},
		// agentctl's client begins and follows its messages with PINGs.
		Replies: map[string]string{"PING": `{"type":"PONG"}`},
		Session: `.conversationId // ""`,
		Join:    true,
		Commands: []Command{
			{Type: "PING", Verb: protocol.DoPing, Session: `""`, Expected: unanswered},
			{
				Type: "start_conversation", Verb: protocol.DoCreate, Expected: unanswered,
				Data: `.payload.domainId // "" | select(. != "") | {agent: .}`,
			},
			{
				Type: "send_message", Verb: protocol.DoSend, Expected: unanswered,
				Data: `select(.conversationId) | .payload.content // "" | select(. != "") | {text: .}`,
			},
			{
				Type: "cancel_stream", Verb: protocol.DoInterrupt, Expected: unanswered,
				Data: `select(.conversationId) | null`,
			},
			{
				Type: "approve_tool", Verb: protocol.DoApprove, Expected: unanswered,
				Data: `select(.conversationId and (.requestId // "") != "") | {request: .requestId,
					decision: (if .payload.approved then "allow_once" else "deny" end), reason: (.payload.reason // "")}`,
			},
		},
		Unsent: []Unsent{
			{"message_chunk", "", "the number of parts depends on the agent"},
			{"chat.delta", "", "the number of parts depends on the agent"},
			{"tool_run.", "", "agentctl refuses tool runs"},
			{"error", `$scenario == "other-user"`, "agentctl's sessions are everyone's"},
			{"error/stream_error", `.error // "" | startswith("Not allowed")`, "agentctl's sessions are everyone's"},
			{
				"error/not_found", `.error == "No active stream" and ($scenario | contains("tool"))`,
				"agentctl carries out a cancel_stream while a tool waits for a decision",
			},
		},
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
		Options: func(o *embedded.Options) error {
			users, err := login.ReadUsers([]byte(multiagentUsers))
			domains := map[string]string{"software_development": "agent", "garden": "agent"}
			o.Dialects.Agents = map[string]map[string]string{multiagent.Name: domains}
			o.Token = "listener"
			o.Authenticator = login.NewAuthenticator(users, login.KeysFromSecret([]byte("secret")))
			return err
		},
		Script: `
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
`,
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

// multiagentType returns the type of a message, with the code of an error.
func multiagentType(d Direction, v any) string {
	typ := textAt(v, "type")
	if code, ok := at(v, "payload", "code").(string); ok && typ == "error" {
		typ += "/" + code
	}
	if d == ToServer && !slices.Contains(multiagentRequests, typ) {
		return "unknown"
	}
	return typ
}

// multiagentUsers have the password "pw".
const multiagentUsers = `{
"alice": {"password": "pbkdf2-sha256$1$c2FsdHNhbHQ$Nh601R9GRp2c0ZHby39El/mJ839KkQPzpGJqks3ztFg", "role": "operator"},
"dev": {"password": "pbkdf2-sha256$1$c2FsdHNhbHQ$Nh601R9GRp2c0ZHby39El/mJ839KkQPzpGJqks3ztFg", "role": "approver"},
"root": {"password": "pbkdf2-sha256$1$c2FsdHNhbHQ$Nh601R9GRp2c0ZHby39El/mJ839KkQPzpGJqks3ztFg", "role": "admin"}
}`
