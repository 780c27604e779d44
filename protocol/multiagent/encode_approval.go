package multiagent

import (
	"encoding/json"
	"slices"
	"strings"

	"agentctl/protocol"
)

// encodeApproval sends an approval request.
func (s *server) encodeApproval(c *conversation, a *protocol.Approval) {
	r := &openApproval{id: a.Request, tool: a.Tool, name: a.Name, args: toolArgs(a), asked: a.Asked}
	if r.name == "" {
		r.name = a.Kind
	}
	agent := c.agent
	if c.turn != nil {
		agent = c.turn.agent
	}
	if len(c.approvals) < maxOpenItems {
		c.approvals = append(c.approvals, r)
	}
	s.send(frame{Type: typeAsk, Conversation: c.id, Payload: approvalRequest{
		Request: r.id, Tool: r.name, Args: r.args, Description: describeApproval(a), Agent: agent,
	}})
}

// toolArgs returns the arguments of a request. The protocol requires an object.
func toolArgs(a *protocol.Approval) json.RawMessage {
	if a.TellsInput() && a.Input[0] == '{' {
		return a.Input
	}
	return protocol.MustEncode(struct {
		Input     json.RawMessage     `json:"input,omitempty"`
		Command   string              `json:"command,omitempty"`
		CWD       string              `json:"cwd,omitempty"`
		Patch     string              `json:"patch,omitempty"`
		Content   []protocol.Content  `json:"content,omitempty"`
		Paths     []string            `json:"paths,omitempty"`
		Tasks     []protocol.Task     `json:"tasks,omitempty"`
		Questions []protocol.Question `json:"questions,omitempty"`
	}{a.Input, a.Command, a.CWD, a.Patch, a.Content, a.Paths, a.Tasks, a.Questions})
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
func (s *server) encodeResolution(c *conversation, d *protocol.ApprovalResolvedData) {
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
func (s *server) encodeToolEnded(c *conversation, d *protocol.ToolEndedData) {
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
func (s *server) sendToolExecuted(c *conversation, id, name string, result json.RawMessage, why string) {
	s.send(frame{Type: typeExecuted, Conversation: c.id, Payload: toolExecuted{
		Request: id, Tool: name, Result: result, Success: why == "", Error: why,
	}})
}

// confirmRejection reports to the client that its rejection counts, after the tool_executed of the
// request, as the real system does.
func (s *server) confirmRejection(c *conversation, request, message string) {
	i := slices.IndexFunc(c.approvals, func(r *openApproval) bool { return r.id == request })
	if i < 0 { // its end was sent before the answer came
		s.sendError(c.id, rejected, message)
		return
	}
	c.approvals[i].rejection = message
}

// sendRejection reports a rejection whose request has ended.
func (s *server) sendRejection(c *conversation, r *openApproval) {
	if r.rejection != "" {
		s.sendError(c.id, rejected, r.rejection)
	}
}
