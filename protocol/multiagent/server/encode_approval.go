package server

import (
	"encoding/json"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/multiagent/wire"
)

// encodeApproval sends an approval request.
func (s *Conn) encodeApproval(c *conversation, a *protocol.Approval) {
	r := &openApproval{id: a.Request, tool: a.Tool, name: a.Name, args: wire.ApprovalArgs(a), asked: a.Asked}
	if r.name == "" {
		r.name = a.Kind
	}
	agent := c.agent
	if c.turn != nil {
		agent = c.turn.agent
	}
	if len(c.approvals) < wire.MaxOpenItems {
		c.approvals = append(c.approvals, r)
	}
	s.send(wire.Frame{Type: wire.TypeApprovalRequired, Conversation: c.id, Payload: wire.ApprovalRequest{
		Request: r.id, Tool: r.name, Args: r.args, Description: describeApproval(a), Agent: agent,
	}})
}

func describeApproval(a *protocol.Approval) string {
	lines := []string{a.Title}
	for _, more := range []string{a.Command, a.Why} {
		if more != "" && !slices.Contains(lines, more) {
			lines = append(lines, more)
		}
	}
	for _, q := range a.Questions {
		lines = append(lines, q.Text)
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// encodeResolution sends the end of an approval request, unless the end of its tool will.
func (s *Conn) encodeResolution(c *conversation, d *protocol.ApprovalResolvedData) {
	i := slices.IndexFunc(c.approvals, func(r *openApproval) bool { return r.id == d.Request })
	if i < 0 {
		return
	}
	r := c.approvals[i]
	if d.Outcome == protocol.Allowed && r.tool != "" {
		r.allowed = true
		return
	}
	c.approvals = slices.Delete(c.approvals, i, i+1)
	defer s.sendRejection(c, r)
	if d.Outcome == protocol.Allowed {
		result := protocol.MustEncode(map[string]protocol.Decision{"decision": d.Decision})
		s.sendToolExecuted(c, r.id, r.name, result, "")
		return
	}
	if c.turn != nil && r.tool != "" {
		c.turn.tool(r.tool).denialSent = true
	}
	why := d.Reason
	if why == "" {
		why = string(d.Outcome)
	}
	s.sendToolExecuted(c, r.id, r.name, nil, why)
}

// encodeToolEnded sends the end of a tool, under the id of its approval request if it has one.
func (s *Conn) encodeToolEnded(c *conversation, d *protocol.ToolEndedData) {
	call := c.turn.tool(d.Tool)
	delete(c.turn.tools, d.Tool)
	if call.denialSent {
		return
	}
	id, name := d.Tool, call.displayName()
	if i := slices.IndexFunc(c.approvals, func(r *openApproval) bool { return r.tool == d.Tool && r.allowed }); i >= 0 {
		id, name = c.approvals[i].id, c.approvals[i].name
		c.approvals = slices.Delete(c.approvals, i, i+1)
	}
	why := d.Error
	if why == "" && d.Status != protocol.ToolCompleted {
		why = string(d.Status)
	}
	if d.Status == protocol.ToolCompleted {
		why = ""
	}
	s.sendToolExecuted(c, id, name, call.resultJSON(d), why)
}

// sendToolExecuted sends the result of a tool. A non-empty why means failure.
func (s *Conn) sendToolExecuted(c *conversation, id, name string, result json.RawMessage, why string) {
	s.send(wire.Frame{Type: wire.TypeExecuted, Conversation: c.id, Payload: wire.ToolExecuted{
		Request: id, Tool: name, Result: result, Success: why == "", Error: why,
	}})
}

// confirmRejection reports to the client that its rejection counts, after the tool_executed of the
// request, as the real system does.
func (s *Conn) confirmRejection(c *conversation, request, message string) {
	i := slices.IndexFunc(c.approvals, func(r *openApproval) bool { return r.id == request })
	if i < 0 { // its end was sent before the answer came
		s.sendError(c.id, wire.CodeRejected, message)
		return
	}
	c.approvals[i].rejection = message
}

// sendRejection reports a rejection whose request has ended.
func (s *Conn) sendRejection(c *conversation, r *openApproval) {
	if r.rejection != "" {
		s.sendError(c.id, wire.CodeRejected, r.rejection)
	}
}
