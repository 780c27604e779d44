package replay

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/effectiveagent"
)

// effectiveagentDialect describes EffectiveAgent.
func effectiveagentDialect() *Dialect {
	unrecorded := "the system has no server: an activity in a form that its code or its document defines"
	never := "code of the document, not provoked by the recorded client"
	return &Dialect{
		Dialect: effectiveagent.Dialect,
		Grammar: Grammar{
			Split: splitEffectiveAgent, TypeFields: []string{"type", "code"}, NoServer: true,
			OpenKeys: func(_, path string) bool {
				return strings.HasPrefix(path, ".activity.payload") || strings.HasPrefix(path, ".payload.payload")
			},
		},
		Opened:  func(*ClientConn) {},
		Cause:   causeEffectiveAgent,
		Serve:   serveEffectiveAgent,
		Awaited: awaitedEffectiveAgent,
		Unrecorded: map[string]string{
			"activity/document": unrecorded, "activity/system": unrecorded, "activity/service": unrecorded,
			"send":                        "a mock server of the system relays the messages of other clients",
			"error/PARSE_ERROR":           never,
			"error/VALIDATION_ERROR":      never,
			"error/SERIALIZATION_ERROR":   never,
			"error/UNAUTHORIZED":          never,
			"error/INTERNAL_SERVER_ERROR": never,
			"error/UNKNOWN_ERROR":         never,
		},
	}
}

// An eaActivity is an activity in any form.
type eaActivity struct {
	Sequence  *json.Number
	Timestamp any
	Type      string
	Payload   any
	Metadata  struct{ Agentctl any }
}

// splitEffectiveAgent tells messages by their type, errors by their code, and activities by their
// form: agentctl's with its type, and those of the system's document, server code and service.
func splitEffectiveAgent() func(Direction, []any) []Message {
	return func(d Direction, frame []any) (list []Message) {
		for _, v := range frame {
			m, _ := v.(map[string]any)
			typ, _ := m["type"].(string)
			known := []string{"activity", "error", "send"}
			if d == ToServer {
				known = []string{"send", "subscribe", "unsubscribe"}
			}
			switch {
			case !slices.Contains(known, typ):
				typ = "unknown"
			case typ == "error":
				code, _ := m["code"].(string)
				typ += "/" + code
			case typ == "activity":
				typ += "/" + activityForm(m["activity"])
			}
			list = append(list, Message{typ, v})
		}
		return list
	}
}

func activityForm(v any) string {
	var a eaActivity
	_ = json.Unmarshal(protocol.MustEncode(v), &a)
	_, isText := a.Timestamp.(string)
	switch {
	case a.Metadata.Agentctl != nil:
		return "agentctl/" + a.Type
	case isText:
		return "document"
	case a.Sequence != nil:
		return "system"
	}
	return "service"
}

func causeEffectiveAgent(c *ClientConn, m Message) bool {
	var f struct {
		Runtime string `json:"agentRuntimeId"`
		Target  string `json:"targetAgentRuntimeId"`
		Payload eaActivity
	}
	_ = json.Unmarshal(protocol.MustEncode(m.Value), &f)
	switch {
	case m.Type == "subscribe" && f.Runtime != "":
		c.Subscribe(f.Runtime)
	case m.Type == "unsubscribe":
		c.Do(protocol.DoUnsubscribe, f.Runtime, nil)
	case m.Type == "send":
		text, _ := f.Payload.Payload.(string)
		if fields, ok := f.Payload.Payload.(map[string]any); ok {
			content, _ := fields["content"].(string)
			text, _ = fields["text"].(string)
			text = cmp.Or(text, content)
		}
		c.Do(protocol.DoSend, f.Target, protocol.SendData{Text: text})
	default:
		return false
	}
	return true
}

// awaitedEffectiveAgent selects the inputs, failures and errors that agentctl's server writes in
// the client's form. All other activities depend on the agent.
func awaitedEffectiveAgent(_ *Conversation, m Message) bool {
	switch m.Type {
	case "activity/agentctl/input", "activity/agentctl/COMMAND", "activity/agentctl/error", "activity/agentctl/ERROR",
		"error/AGENT_RUNTIME_SEND_FAILED", "error/AGENT_RUNTIME_SUBSCRIBE_FAILED", "error/UNKNOWN_MESSAGE_TYPE",
		"error/PARSE_ERROR", "error/VALIDATION_ERROR":
		return true
	}
	return false
}

func serveEffectiveAgent(s *ServerPlayer) {
	s.Start(`
{"on":"tool*"}
{"think":"Which one?"}
{"tool":"read","kind":"read","title":"Read a file","input":{"path":"notes.txt"},"output":"three lines","exit":0}
{"say":"It has three lines."}
{"on":"slow*"}
{"say":"one two three","words":1,"delay":"1s"}
{"on":"*fail*"}
{"say":"so far"}
{"fail":"it broke"}
{"on":"cmd"}
{"ask":"command","title":"Remove","command":"rm notes.txt","then":[{"say":"removed"}]}
{"on":"*"}
{"say":"You wrote: {message}"}
`)
	for _, name := range []string{"ea1", "ea2"} {
		s.Create(protocol.CreateData{Name: name})
	}
}
