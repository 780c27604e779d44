package client

import (
	"cmp"
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

// decodeApproval decodes tool_approval_required. title is the title of its tool.
func decodeApproval(m wire.Message, peerIsAgentctl bool) (a protocol.Approval, title string) {
	id, description := m.Name("requestId"), clipText(m.Text("description"))
	a = protocol.Approval{
		Request: id, Kind: protocol.ApproveTool, Tool: id, Name: m.Name("toolName"), Input: fitJSON(m["toolArgs"]),
		Options: approvalOptions,
	}
	args := protocol.ReadArguments(a.Input)
	a.CWD = args.Dir()
	if p, ok := args.Command(); ok {
		a.Command = p.Line
	}
	a.Title, a.Why, _ = strings.Cut(description, "\n")
	a.Why = strings.TrimPrefix(strings.TrimPrefix(a.Why, a.Command), "\n")
	title = cmp.Or(a.Title, a.Name)
	if !peerIsAgentctl && a.Name != "" { // the description is the tool's in general
		a.Title, a.Why = a.Name, description
	}
	switch a.Name {
	case protocol.ApproveCommand, protocol.ApprovePatch, protocol.ApprovePlan, protocol.ApproveQuestion:
		a.Kind = a.Name
	}
	a.Title = cmp.Or(a.Title, a.Name)
	return a, title
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

// resolutions remembers how the newest approval requests of a session ended.
type resolutions struct {
	winners codec.Decisions
	last    string // newest request in winners
}

// put notes the end of an approval request.
func (r *resolutions) put(by *protocol.Actor, d protocol.ApprovalResolvedData) {
	r.winners.Put(by, d)
	r.last = d.Request
}

// lastDenied reports whether the newest resolution is a denial.
func (r *resolutions) lastDenied() bool {
	w, ok := r.winners.Get(r.last)
	return ok && w.Outcome == protocol.Denied
}

// refused reports whether a request ended without permission.
func (r *resolutions) refused(request string) bool {
	w, ok := r.winners.Get(request)
	return ok && w.Outcome != protocol.Allowed
}

// inputFits reports whether the protocol can carry an approval's input. The reason carries a
// request for another plan.
func inputFits(in *protocol.ApprovalInput) bool {
	return in == nil || in.Tasks == nil && in.Answers == nil && in.Secrets == nil && in.Patch == "" && in.Command == ""
}

// approvals sends the client's decisions on the approval requests of a session, and applies those
// that the server accepted.
type approvals struct {
	x        *exchange
	log      *sessionLog
	requests *requests
	turns    *turns
}

// decide sends the decision of an approve command.
func (a *approvals) decide(cmd *protocol.Command) {
	var d protocol.ApproveData
	if !a.x.DecodeData(cmd, &d) {
		return
	}
	pending := a.log.State.Approvals
	switch {
	case d.Request == "" && len(pending) == 1:
		d.Request = pending[0].Request
	case d.Request == "":
		a.x.Failf(cmd, protocol.CodeNotFound, "%d requests are pending: name one", len(pending))
		return
	}
	if d.Option != "" {
		d.Decision = protocol.Decision(d.Option)
	}
	if d.Decision != protocol.AllowOnce && !denies(d.Decision) || !inputFits(d.Input) {
		a.x.FailUnsupported(cmd, "this decision: only allow once, deny or stop, with a reason")
		return
	}
	if w, ok := a.turns.resolutions.winners.Get(d.Request); ok && w.Decision != "" {
		a.x.Fail(cmd, codec.Conflict(w))
		return
	}
	if others := a.requests.decisionsOn(d.Request); len(others) > 0 {
		a.x.Fail(cmd, codec.Conflict(codec.WinnerOf(a.x.User(), others[0].resolution())))
		return
	}
	if a.requests.full() {
		a.x.Fail(cmd, codec.TooMany(maxRequests))
		return
	}
	req := &request{
		command: cmd, verb: protocol.DoApprove, deadline: a.x.Now.Add(errorTimeout), request: d.Request,
		decision: d.Decision, reason: d.Reason,
	}
	f := wire.Frame{
		Type: wire.TypeApprove, Conversation: a.log.Session, Request: d.Request,
		Payload: wire.ApprovePayload{Approved: d.Decision == protocol.AllowOnce, Reason: d.Reason},
	}
	if a.x.Options.PeerIsAgentctl {
		req.key = cmp.Or(cmd.Key, a.x.Options.ID("k"))
		f.Note, req.deadline = &wire.Note{Key: req.key}, a.x.Now.Add(answerTimeout)
	}
	a.x.send(f)
	if a.isUnconfirmed(req) {
		req.deadline = a.x.Now.Add(decisionTimeout)
	}
	a.requests.add(req)
}

// isUnconfirmed reports whether the server reports only errors about a decision: the real system
// sends a tool's end only to connections that used the conversation, and these got the request.
func (a *approvals) isUnconfirmed(req *request) bool {
	return !a.x.Options.PeerIsAgentctl && a.log.State.PendingApproval(req.request) == nil
}

// expire completes a decision that no error answered in time.
func (a *approvals) expire(req *request) {
	const taken = "the server did not answer the decision about %q, which may have been taken"
	switch {
	case req.key != "":
		a.x.fail(req.command, protocol.Errorf(protocol.CodeTimeout, taken, req.request))
	case a.isUnconfirmed(req):
		a.x.fail(req.command, protocol.Errorf(protocol.CodeTimeout,
			taken+": it reports tools only to connections that sent a message in the conversation", req.request))
	default:
		a.apply(req)
	}
}

// apply records a decision that the server accepted.
func (a *approvals) apply(req *request) {
	d := req.resolution()
	a.resolve(a.x.User(), d)
	a.x.answerOnce(req.command, protocol.ApproveResult{Request: d.Request, Outcome: d.Outcome, Decision: d.Decision})
	turn := a.turns.current
	if turn == nil {
		return
	}
	if a.turns.toolRequestDenied(a.log.State) {
		a.turns.quietAt = a.x.Now.Add(quietTimeout) // for its tool_executed, which may be missing
	}
	if req.decision != protocol.DenyStop {
		return
	}
	turn.stopped = true
	a.log.record(queueOf(a.log.State, a.x).holdAll(protocol.HoldDenyStop)...)
	if turn.isToolRequest { // no stream to cancel: the denial ends it
		return
	}
	a.x.send(wire.Frame{Type: wire.TypeCancel, Conversation: a.log.Session})
	a.requests.add(&request{verb: protocol.DoInterrupt, deadline: a.x.Now.Add(answerTimeout), turn: turn.id})
}

// refuse handles an error about a decision. The server sends one for each rejection too. failed
// means that it ends the turn.
func (a *approvals) refuse(req *request, code, message string) (failed bool) {
	if code == wire.CodeRejected && denies(req.decision) {
		a.apply(req)
		return false
	}
	a.x.fail(req.command, nativeError(code, message, protocol.CodeNotFound))
	turn := a.turns.current
	return turn != nil && turn.isToolRequest && code == wire.CodeExecuteFailed
}

// resolve records the end of an approval request. by is nil if it is not known.
func (a *approvals) resolve(by *protocol.Actor, d protocol.ApprovalResolvedData) {
	a.log.record(a.turns.resolve(a.log.State, by, d)...)
}

// resolveByTool ends a pending request whose tool ran, or did not run for a reason.
func (a *approvals) resolveByTool(request string, ran bool, why string) {
	for _, req := range a.requests.decisionsOn(request) {
		switch {
		case !ran && !denies(req.decision):
		case req.key != "": // its answer follows
			a.resolve(a.x.User(), req.resolution())
		case a.requests.remove(req):
			a.apply(req)
		}
	}
	if a.log.State.PendingApproval(request) == nil {
		return
	}
	d := protocol.ApprovalResolvedData{Request: request, Outcome: protocol.Allowed, Decision: protocol.AllowOnce}
	if !ran {
		d = resolutionOf(request, why)
	}
	a.resolve(nil, d)
}
