package client

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/multiagent/wire"
)

// approvalOptions lists the decisions that the protocol carries. Deny and stop denies, then cancels
// the stream.
var approvalOptions = []protocol.Option{
	{ID: string(protocol.AllowOnce), Kind: protocol.AllowOnce, Label: "Allow"},
	{ID: string(protocol.Deny), Kind: protocol.Deny, Label: "Deny"},
	{ID: string(protocol.DenyStop), Kind: protocol.DenyStop, Label: "Deny and stop"},
}

// handleApprovalRequest handles tool_approval_required.
func (c *Conn) handleApprovalRequest(s *session, m wire.Message, data []byte) {
	id := m.Name("requestId")
	if id == "" || s.log.State.PendingApproval(id) != nil || len(s.log.State.Approvals) >= wire.MaxOpenItems ||
		len(s.tools) >= wire.MaxOpenItems {
		c.recordRaw(s, wire.TypeApprovalRequired, data)
		return
	}
	c.ensureTurn(s)
	c.endPart(s)
	a := protocol.Approval{
		Request: id, Kind: protocol.ApproveTool, Title: clipText(m.Text("description")), Tool: id,
		Name:  m.Name("toolName"),
		Input: fitJSON(m["toolArgs"]), Options: approvalOptions, Asked: c.Now.UTC(),
	}
	args := protocol.ReadArguments(a.Input)
	a.CWD = args.Dir()
	if p, ok := args.Command(); ok {
		a.Command = p.Line
	}
	a.Title, a.Why, _ = strings.Cut(a.Title, "\n")
	a.Why = strings.TrimPrefix(strings.TrimPrefix(a.Why, a.Command), "\n")
	tool := protocol.ToolStartedData{Tool: id, Name: a.Name, Title: cmp.Or(a.Title, a.Name), Input: a.Input}
	if !c.Options.PeerIsAgentctl && a.Name != "" { // the description is that of the tool in general
		a.Title, a.Why = a.Name, clipText(m.Text("description"))
	}
	switch a.Name {
	case protocol.ApproveCommand, protocol.ApprovePatch, protocol.ApprovePlan, protocol.ApproveQuestion:
		a.Kind = a.Name
	}
	if a.Title == "" {
		a.Title = a.Name
	}
	s.tools[id] = a.Name
	s.decisions.Delete(id) // requested again
	c.record(s, protocol.ToolStarted, nil, tool)
	c.record(s, protocol.ApprovalRequested, nil, a)
}

func (c *Conn) handleApprove(s *session, cmd *protocol.Command) {
	var d protocol.ApproveData
	if !c.DecodeData(cmd, &d) {
		return
	}
	pending := s.log.State.Approvals
	switch {
	case d.Request == "" && len(pending) == 1:
		d.Request = pending[0].Request
	case d.Request == "":
		c.Failf(cmd, protocol.CodeNotFound, "%d requests are pending: name one", len(pending))
		return
	}
	if d.Option != "" {
		d.Decision = protocol.Decision(d.Option)
	}
	if d.Decision != protocol.AllowOnce && !denies(d.Decision) || !inputFits(d.Input) {
		c.FailUnsupported(cmd, "this decision: only allow once, deny or stop, with a reason")
		return
	}
	if w, ok := s.decisions.Get(d.Request); ok && w.Decision != "" {
		c.Fail(cmd, codec.Conflict(w))
		return
	}
	for _, req := range s.requests {
		if req.verb == protocol.DoApprove && req.request == d.Request {
			c.Fail(cmd, codec.Conflict(codec.WinnerOf(c.User(), req.resolution())))
			return
		}
	}
	if len(s.requests) >= maxRequests {
		c.Fail(cmd, codec.TooMany(maxRequests))
		return
	}
	req := &request{
		command: cmd, verb: protocol.DoApprove, deadline: c.Now.Add(errorTimeout), request: d.Request,
		decision: d.Decision, reason: d.Reason,
	}
	f := wire.Frame{
		Type: wire.TypeApprove, Conversation: s.log.Session, Request: d.Request,
		Payload: wire.ApprovePayload{Approved: d.Decision == protocol.AllowOnce, Reason: d.Reason},
	}
	if c.Options.PeerIsAgentctl {
		req.key = cmp.Or(cmd.Key, c.Options.ID("k"))
		f.Note, req.deadline = &wire.Note{Key: req.key}, c.Now.Add(answerTimeout)
	}
	c.send(f)
	if c.unconfirmed(s, req) {
		req.deadline = c.Now.Add(decisionTimeout)
	}
	c.addRequest(s, req)
}

// unconfirmed reports whether the server reports only errors about a decision: the real system
// sends a tool's end only to connections that used the conversation, and those got the request.
func (c *Conn) unconfirmed(s *session, req *request) bool {
	return !c.Options.PeerIsAgentctl && s.log.State.PendingApproval(req.request) == nil
}

// completeDecision completes a decision that no error answered in time.
func (c *Conn) completeDecision(s *session, req *request) {
	if req.key != "" {
		c.fail(req.command, protocol.Errorf(
			protocol.CodeTimeout, "the server did not answer the decision about %q, which may have been taken",
			req.request,
		))
		return
	}
	if !c.unconfirmed(s, req) {
		c.applyDecision(s, req)
		return
	}
	c.fail(req.command, protocol.Errorf(
		protocol.CodeTimeout, "the server did not answer the decision about %q, which may have been taken: "+
			"it reports tools only to connections that sent a message in the conversation", req.request,
	))
}

// inputFits reports whether the protocol can carry an approval's input. The reason carries a
// request for another plan.
func inputFits(in *protocol.ApprovalInput) bool {
	return in == nil || in.Tasks == nil && in.Answers == nil && in.Patch == "" && in.Command == ""
}

// resolution returns the resolution by an approve command.
func (r *request) resolution() protocol.ApprovalResolvedData {
	d := protocol.ApprovalResolvedData{
		Request: r.request, Outcome: protocol.Allowed, Decision: r.decision, Option: string(r.decision),
		Reason: r.reason,
	}
	if denies(r.decision) {
		d.Outcome = protocol.Denied
	}
	return d
}

func denies(d protocol.Decision) bool { return d == protocol.Deny || d == protocol.DenyStop }

// applyDecision records a decision that the server accepted.
func (c *Conn) applyDecision(s *session, req *request) {
	d := req.resolution()
	c.recordResolution(s, c.User(), d)
	c.answerOnce(req.command, protocol.ApproveResult{Request: d.Request, Outcome: d.Outcome, Decision: d.Decision})
	if s.turn != nil && c.toolRequestDenied(s) {
		s.turnDeadline = c.Now.Add(quietTimeout) // for its tool_executed, which may be missing
	}
	if req.decision == protocol.DenyStop && s.turn != nil {
		s.turn.stopped = true
		c.holdQueue(s, protocol.HoldDenyStop)
		if s.turn.isToolRequest { // no stream to cancel: the denial ends it
			return
		}
		c.send(wire.Frame{Type: wire.TypeCancel, Conversation: s.log.Session})
		c.addRequest(s, &request{verb: protocol.DoInterrupt, deadline: c.Now.Add(answerTimeout), turn: s.turn.id})
	}
}

// handleApproveError handles an error about a decision. The server sends one for each rejection
// too.
func (c *Conn) handleApproveError(s *session, req *request, code, message string) {
	if code == wire.CodeRejected && denies(req.decision) {
		c.applyDecision(s, req)
		return
	}
	c.fail(req.command, nativeError(code, message, protocol.CodeNotFound))
	if s.turn != nil && s.turn.isToolRequest && code == wire.CodeExecuteFailed {
		c.failTurn(s, code, message)
	}
}

// recordResolution records the end of an approval request.
func (c *Conn) recordResolution(s *session, by *protocol.Actor, d protocol.ApprovalResolvedData) {
	s.decisions.Put(by, d)
	s.lastDecided = d.Request
	if s.log.State.PendingApproval(d.Request) != nil {
		c.record(s, protocol.ApprovalResolved, by, d)
	}
}

// handleToolExecuted handles the end of a tool, which also ends its approval request.
func (c *Conn) handleToolExecuted(s *session, m wire.Message) {
	id, name := m.Name("requestId"), m.Name("toolName")
	success, _ := m.Flag("success")
	if w, known := s.decisions.Get(id); known && s.turn == nil && !success && w.Outcome != protocol.Allowed {
		return // of a tool request that has ended
	}
	if id == "" {
		id = c.Options.ID("tool")
	}
	c.ensureTurn(s)
	t := s.turn
	why := clipText(m.Text("errorMessage"))
	result := fitJSON(m["result"])
	none := codec.IsNull(result)
	c.resolveByTool(s, id, success || !none, why)
	status := protocol.ToolCompleted
	if !success {
		status, why = failedStatus(why)
	}
	if w, ok := s.decisions.Get(id); ok && !success && w.Outcome != protocol.Allowed {
		status = protocol.ToolDenied
	}
	if _, known := s.tools[id]; !known {
		c.endPart(s)
		c.record(s, protocol.ToolStarted, nil, protocol.ToolStartedData{Tool: id, Name: name})
	}
	delete(s.tools, id)
	end := protocol.ToolEndedData{Tool: id, Status: status, Error: why}
	if plain, ok := decodePlainResult(m["result"]); ok {
		for _, piece := range protocol.SplitText(plain.Output, protocol.MaxText) {
			if piece != "" {
				c.record(s, protocol.ToolOutput, nil, protocol.ToolOutputData{Tool: id, Text: piece})
			}
		}
		end.ExitCode = plain.ExitCode
	} else if !none {
		end.Output = result
	}
	c.record(s, protocol.ToolEnded, nil, end)
	switch {
	case len(s.tools) > 0:
	case status == protocol.ToolDenied && c.toolRequestDenied(s):
		c.endDeniedTurn(s, why)
	case t.byOther && !t.hasText && len(s.log.State.Approvals) == 0:
		s.turnDeadline = c.Now.Add(quietTimeout)
	}
}

// resolveByTool ends a pending request whose tool ran, or did not run for a reason.
func (c *Conn) resolveByTool(s *session, request string, ran bool, why string) {
	for _, req := range slices.Clone(s.requests) {
		if req.verb != protocol.DoApprove || req.request != request || !ran && !denies(req.decision) {
			continue
		}
		if req.key != "" { // its answer follows
			c.recordResolution(s, c.User(), req.resolution())
		} else if s.removeRequest(req) {
			c.applyDecision(s, req)
		}
	}
	if s.log.State.PendingApproval(request) == nil {
		return
	}
	d := protocol.ApprovalResolvedData{Request: request, Outcome: protocol.Allowed, Decision: protocol.AllowOnce}
	if !ran {
		d = resolutionOf(request, why)
	}
	c.recordResolution(s, nil, d)
}

// decodePlainResult decodes a result that agentctl's server made from unstructured output.
func decodePlainResult(raw json.RawMessage) (r wire.PlainResult, ok bool) {
	if len(raw) == 0 || raw[0] != '{' {
		return r, false
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	ok = d.Decode(&r) == nil
	r.Output = protocol.ValidText(r.Output)
	return r, ok
}

// failedStatus returns the status of a failed tool. agentctl's server sends the status itself if it
// has no error text.
func failedStatus(why string) (status protocol.ToolStatus, left string) {
	switch status = protocol.ToolStatus(why); status {
	case protocol.ToolFailed, protocol.ToolCancelled, protocol.ToolDenied, protocol.ToolUnknown:
		return status, ""
	}
	return protocol.ToolFailed, why
}

// resolutionOf returns the resolution of a request that was not allowed, from the server's error
// text.
func resolutionOf(request, why string) protocol.ApprovalResolvedData {
	d := protocol.ApprovalResolvedData{Request: request, Outcome: protocol.Denied, Decision: protocol.Deny, Reason: why}
	switch o := protocol.Outcome(why); o {
	case protocol.Expired, protocol.Cancelled:
		return protocol.ApprovalResolvedData{Request: request, Outcome: o}
	case protocol.Denied:
		d.Reason = ""
	}
	return d
}
