package server

import (
	"cmp"
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/multiagent/wire"
)

// Types of the real system's older messages about tools. A run is a pending approval request here;
// its id is the request's.
const (
	typeRunRequest  = "tool_run.request"
	typeRunApprove  = "tool_run.approve"
	typeRunApproved = "tool_run.approved"
	typeRunReject   = "tool_run.reject"
	typeRunRejected = "tool_run.rejected"
	typeRunExecute  = "tool_run.execute"
	typeRunList     = "tool_run.list"
	typeRunListed   = "tool_run.listed"
)

// handleToolRun executes a message about tool runs. It returns false for any other type. Clients
// cannot request or execute a tool: agents call their tools themselves, once they are allowed.
func (s *Conn) handleToolRun(kind string, m wire.Message) bool {
	switch kind {
	case typeRunList:
		s.handleRunList()
	case typeRunApprove, typeRunReject:
		s.handleRunDecision(kind == typeRunApprove, m)
	case typeRunRequest, typeRunExecute:
		s.sendError("", wire.CodeNotConfigured, "clients run no tools: agents call them, once they are allowed")
	default:
		return false
	}
	return true
}

// handleRunList lists the pending requests of the conversations of this connection, the newest
// first.
func (s *Conn) handleRunList() {
	var pending []*openApproval
	conversations := map[*openApproval]string{}
	runs := []map[string]any{}
	for _, c := range s.conversations.bySession {
		for _, r := range c.approvals {
			if !r.allowed {
				pending = append(pending, r)
				conversations[r] = c.id
			}
		}
	}
	slices.SortFunc(pending, func(a, b *openApproval) int {
		return cmp.Or(b.asked.Compare(a.asked), cmp.Compare(a.id, b.id))
	})
	for _, r := range pending {
		runs = append(runs, r.run(conversations[r], "pending_approval"))
	}
	s.Send(legacyFrame(struct {
		Type string           `json:"type"`
		Runs []map[string]any `json:"runs"`
		Next *string          `json:"next_cursor"`
	}{typeRunListed, runs, nil}))
}

// handleRunDecision allows or denies a pending request of a conversation of this connection.
func (s *Conn) handleRunDecision(allow bool, m wire.Message) {
	id := m.Name("run_id")
	var run *openApproval
	var in *conversation
	for _, c := range s.conversations.bySession {
		if r := c.approvals.find(id); r != nil {
			run, in = r, c
		}
	}
	if run == nil {
		s.sendError("", wire.CodeNotFound, "Unknown run_id")
		return
	}
	if !s.checkRole(protocol.DoApprove, "") {
		return
	}
	data := protocol.ApproveData{Request: id, Decision: protocol.AllowOnce}
	failed, typ := wire.CodeExecuteFailed, typeRunApproved
	answer := run.run(in.id, "approved")
	by, at := "approved_by_role", "approved_at"
	if !allow {
		data.Decision, data.Reason = protocol.Deny, m.Text("reason")
		failed, typ = wire.CodeRejectFailed, typeRunRejected
		answer = run.run(in.id, "rejected")
		answer["rejection_reason"] = data.Reason
		by, at = "rejected_by_role", "rejected_at"
	}
	answer[by], answer[at] = string(s.Options.Role), s.Now.UTC()
	s.command(protocol.DoApprove, in.session, "", data, func(a protocol.Answer) {
		if a.Error != nil {
			s.sendError("", foreignCode(a.Error.Code, failed), a.Error.Message)
			return
		}
		s.Send(legacyFrame(struct {
			Type string         `json:"type"`
			Run  map[string]any `json:"run"`
		}{typ, answer}))
	})
}

// run returns the request in the form of a tool run. Who requested it is not known.
func (r *openApproval) run(conversation, status string) map[string]any {
	var never *time.Time
	return map[string]any{
		"id": r.id, "tool_id": r.name, "parameters": r.args, "conversation_id": conversation,
		"requested_by_role": "", "requested_by_sub": "", "requires_approval": true, "status": status,
		"approved_by_role": nil, "approved_at": never, "rejected_by_role": nil, "rejected_at": never,
		"rejection_reason": nil, "executed_by_role": nil, "executed_at": never, "result": struct{}{}, "error": nil,
		"created_at": r.asked.UTC(), "updated_at": r.asked.UTC(),
	}
}
