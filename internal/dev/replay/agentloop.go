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
		Opened:     openAgentLoop,
		Cause:      causeAgentLoop,
		SameClient: oneAtATime,
		Serve:      serveAgentLoop,
		Awaited:    agentloopAwaited,
		Exceptions: map[string]string{
			"error.payload.details: null, not [object]": "the document's form of AgentLoop not initialized",
		},
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

// oneAtATime reports whether no two connections are open at once, as those of one client that
// reconnects.
func oneAtATime(c *Conversation) bool {
	open := 0
	for _, s := range c.Steps {
		switch {
		case s.Open:
			open++
		case s.Close != nil:
			open--
		}
		if open > 1 {
			return false
		}
	}
	return true
}

// reviews are the decisions of an approval_response.
var reviews = map[string]protocol.Decision{
	"yes": protocol.AllowOnce, "always": protocol.AllowAlways, "no-continue": protocol.Deny,
	"no-exit": protocol.DenyStop, "explain": protocol.Explain,
}

func openAgentLoop(c *ClientConn) {
	c.Subscribe(cmp.Or(strings.TrimPrefix(c.Path, "/"), "agentloop"))
	c.Await()
	c.LoadHistory("")
}

// An agentloopInput is the payload of a client's message.
type agentloopInput struct {
	Payload struct {
		Input []struct {
			Content []struct{ Text string }
		}
		Review            string
		CustomDenyMessage string
		ApplyPatch        struct{ Patch string }
	}
}

func causeAgentLoop(c *ClientConn, m Message) bool {
	var p agentloopInput
	_ = json.Unmarshal(protocol.MustEncode(m.Value), &p)
	s := c.State("")
	switch m.Type {
	case "user_input":
		if len(p.Payload.Input) == 0 || len(p.Payload.Input[0].Content) == 0 {
			return false
		}
		d := protocol.SendData{Text: p.Payload.Input[0].Content[0].Text}
		if a := c.Do(protocol.DoSend, "", d); a != nil && a.Error != nil && len(s.Approvals) > 0 {
			d.Front = true // the user was warned, and insists
			c.Do(protocol.DoSend, "", d)
		}
	case "approval_response":
		if len(s.Approvals) == 0 || reviews[p.Payload.Review] == "" {
			return false
		}
		a := s.Approvals[0]
		d := protocol.ApproveData{
			Request: a.Request, Decision: reviews[p.Payload.Review], Reason: p.Payload.CustomDenyMessage,
		}
		if patch := p.Payload.ApplyPatch.Patch; patch != a.Patch && d.Decision == protocol.AllowOnce {
			d.Input = &protocol.ApprovalInput{Patch: patch}
		}
		c.Do(protocol.DoApprove, s.Session, d)
	case "get_context_info":
		c.Do(protocol.DoContext, "", nil)
	case "manual_compact":
		c.Do(protocol.DoCompact, "", nil)
	default:
		return false
	}
	return true
}
