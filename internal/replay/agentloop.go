package replay

import (
	"cmp"
	"encoding/json"
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/agentloop"
)

// agentloopDialect describes AgentLoop.
func agentloopDialect() *Dialect {
	return &Dialect{
		Dialect: agentloop.Dialect,
		Grammar: Grammar{
			Split: splitAgentLoop, TypeFields: []string{"type", "role"}, IDs: []string{"id", "call_id"},
		},
		Opened: openAgentLoop,
		Cause:  causeAgentLoop,
		Serve:  serveAgentLoop,
	}
}

// splitAgentLoop tells messages by their type, and items by the item's type and role.
func splitAgentLoop() func(Direction, []any) []Message {
	return func(_ Direction, frame []any) (list []Message) {
		for _, v := range frame {
			m, _ := v.(map[string]any)
			typ, _ := m["type"].(string)
			payload, _ := m["payload"].(map[string]any)
			if item, ok := payload["type"].(string); ok && typ == "response_item" {
				typ += "/" + item
				if role, ok := payload["role"].(string); ok {
					typ += "/" + role
				}
			}
			list = append(list, Message{typ, v})
		}
		return list
	}
}

// reviews are the decisions of an approval_response.
var reviews = map[string]protocol.Decision{
	"yes": protocol.AllowOnce, "always": protocol.AllowAlways, "no-continue": protocol.Deny,
	"no-exit": protocol.DenyStop, "explain": protocol.Explain,
}

func openAgentLoop(c *ClientConn) {
	c.Subscribe(cmp.Or(strings.TrimPrefix(c.Path, "/"), "agentloop"))
	c.Advance(func() bool { return c.State("") != nil })
}

func causeAgentLoop(c *ClientConn, m Message) bool {
	var p struct {
		Payload struct {
			Input []struct {
				Content []struct{ Text string }
			}
			Review            string
			CustomDenyMessage string
		}
	}
	_ = json.Unmarshal(protocol.MustEncode(m.Value), &p)
	switch m.Type {
	case "user_input":
		if len(p.Payload.Input) == 0 || len(p.Payload.Input[0].Content) == 0 {
			return false
		}
		c.Do(protocol.DoSend, "", protocol.SendData{Text: p.Payload.Input[0].Content[0].Text})
	case "approval_response":
		s := c.State("")
		if len(s.Approvals) == 0 || reviews[p.Payload.Review] == "" {
			return false
		}
		c.Do(protocol.DoApprove, s.Session, protocol.ApproveData{
			Request: s.Approvals[0].Request, Decision: reviews[p.Payload.Review], Reason: p.Payload.CustomDenyMessage,
		})
	case "get_context_info":
		c.Do(protocol.DoContext, "", nil)
	case "manual_compact":
		c.Do(protocol.DoCompact, "", nil)
	default:
		return false
	}
	return true
}

func serveAgentLoop(s *ServerPlayer) {
	s.Start(`
{"window":200000}
{"on":"*"}
{"say":"You text: {message}"}
`)
}
