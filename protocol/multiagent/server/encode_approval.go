package server

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/multiagent/wire"
)

// An openApproval is an approval request whose end the client does not know.
type openApproval struct {
	id, tool, name string
	args           json.RawMessage
	asked          time.Time
	allowed        bool   // its tool has not ended
	rejection      string // message of the error for the client that rejected it, sent after its end
}

type openApprovals []*openApproval

// find returns the open approval with an id, or nil.
func (list openApprovals) find(id string) *openApproval {
	i := slices.IndexFunc(list, func(r *openApproval) bool { return r.id == id })
	if i < 0 {
		return nil
	}
	return list[i]
}

// close removes an approval whose end the client gets.
func (list *openApprovals) close(r *openApproval) {
	*list = slices.DeleteFunc(*list, func(o *openApproval) bool { return o == r })
}

// ask encodes an approval request.
func (c *conversation) ask(a *protocol.Approval) codec.Frame {
	r := &openApproval{
		id: a.Request, tool: a.Tool, name: cmp.Or(a.Name, a.Kind), args: wire.ApprovalArgs(a), asked: a.Asked,
	}
	agent := c.agent
	if c.turn != nil {
		agent = c.turn.agent
	}
	if len(c.approvals) < wire.MaxOpenItems {
		c.approvals = append(c.approvals, r)
	}
	return c.frame(wire.TypeApprovalRequired, wire.ApprovalRequest{
		Request: r.id, Tool: r.name, Args: r.args, Description: describeApproval(a), Agent: agent,
	})
}

func describeApproval(a *protocol.Approval) string {
	lines := []string{a.Title}
	for _, more := range []string{a.Command, a.Why} {
		if more != "" && !slices.Contains(lines, more) {
			lines = append(lines, more)
		}
	}
	for i := range a.Questions {
		lines = append(lines, a.Questions[i].Prompt())
	}
	if q := a.MustAnswer(); q != nil {
		lines = append(lines, "This can only be denied here: "+q.Text+" needs an answer, and an approval takes none.")
	}
	if a.Page != nil {
		lines = append(lines, a.Page.Prompt())
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// resolve encodes the end of an approval request, unless the end of its tool will.
func (c *conversation) resolve(d *protocol.ApprovalResolvedData) []codec.Frame {
	r := c.approvals.find(d.Request)
	if r == nil {
		return nil
	}
	allowed := d.Outcome == protocol.Allowed
	if allowed && r.tool != "" {
		r.allowed = true
		return nil
	}
	c.approvals.close(r)
	var result json.RawMessage
	why := ""
	if allowed {
		result = protocol.MustEncode(map[string]protocol.Decision{"decision": d.Decision})
	} else {
		why = cmp.Or(d.Reason, string(d.Outcome))
		if c.turn != nil && r.tool != "" {
			c.turn.tool(r.tool).denialSent = true
		}
	}
	return append([]codec.Frame{c.executed(r.id, r.name, result, why)}, c.rejection(r)...)
}

// encodeToolEnded encodes the end of a tool, under the id of its approval request if it has one.
func (c *conversation) encodeToolEnded(d *protocol.ToolEndedData) []codec.Frame {
	call := c.turn.tool(d.Tool)
	delete(c.turn.tools, d.Tool)
	if call.denialSent {
		return nil
	}
	id, name := d.Tool, call.displayName()
	i := slices.IndexFunc(c.approvals, func(r *openApproval) bool { return r.tool == d.Tool && r.allowed })
	if i >= 0 {
		id, name = c.approvals[i].id, c.approvals[i].name
		c.approvals.close(c.approvals[i])
	}
	why := ""
	if d.Status != protocol.ToolCompleted {
		why = cmp.Or(d.Error, string(d.Status))
	}
	return []codec.Frame{c.executed(id, name, call.resultJSON(d), why)}
}

// executed returns the result of a tool. A non-empty why means failure.
func (c *conversation) executed(id, name string, result json.RawMessage, why string) codec.Frame {
	return c.frame(wire.TypeExecuted, wire.ToolExecuted{
		Request: id, Tool: name, Result: result, Success: why == "", Error: why,
	})
}

// confirmRejection reports to the client that its rejection counts, after the tool_executed of the
// request, as the real system does.
func (c *conversation) confirmRejection(request, message string) []codec.Frame {
	if r := c.approvals.find(request); r != nil {
		r.rejection = message
		return nil
	}
	return []codec.Frame{c.failure(wire.CodeRejected, message)} // its end was sent before the answer came
}

// rejection returns the error of a rejection whose request has ended, if the client rejected it.
func (c *conversation) rejection(r *openApproval) []codec.Frame {
	if r.rejection == "" {
		return nil
	}
	return []codec.Frame{c.failure(wire.CodeRejected, r.rejection)}
}
