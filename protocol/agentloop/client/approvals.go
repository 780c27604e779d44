package client

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/agentloop/wire"
	"agentctl/protocol/codec"
)

// A pendingDecision is a decision that was sent. The server does not confirm decisions, so it
// counts as accepted when no error follows.
type pendingDecision struct {
	cmd      *protocol.Command
	resolved protocol.ApprovalResolvedData
	due      time.Time
}

// A pendingExplanation is a request for an explanation. It ends when the server repeats the
// approval request.
type pendingExplanation struct {
	cmd     *protocol.Command
	request string
	text    string
	due     time.Time
}

// approvals sends the client's decisions on the approval requests of the session, and applies the
// accepted ones. The server has one request at a time.
type approvals struct {
	x           *codec.ClientBase
	log         *sessionLog
	turns       *turns
	decision    *pendingDecision    // nil: none
	explanation *pendingExplanation // nil: none
}

// request records an approval request, which replaces the pending one.
func (p *approvals) request(d *wire.ApprovalRequest) {
	a := decodeApproval(d)
	a.Asked = p.x.Now.UTC().Truncate(time.Millisecond)
	if len(p.log.State.Approvals) > 0 {
		if sameRequest(&p.log.State.Approvals[0], a) { // repeated
			p.finishExplanation()
			return
		}
		p.failExplanation(protocol.Errorf(protocol.CodeNotFound, "another request replaced it"))
		p.log.cancelApprovals()
	}
	id, known := p.turns.repeated.takeApproval(a)
	if !known {
		id = p.turns.newID("a")
	}
	a.Request = id
	p.log.add(protocol.ApprovalRequested, a)
}

// sameRequest reports whether two requests are the same. A request that is not known as a whole is
// like no other.
func sameRequest(a, b *protocol.Approval) bool {
	whole := !strings.HasSuffix(a.Command, notShown) && !strings.HasSuffix(a.Patch, notShown)
	return whole && a.Command == b.Command && a.Patch == b.Patch && bytes.Equal(a.Input, b.Input)
}

func decodeApproval(d *wire.ApprovalRequest) *protocol.Approval {
	a := &protocol.Approval{
		Kind: protocol.ApproveCommand, Title: "Run a command", Command: truncate(protocol.JoinCommand(d.Command)),
		Options: wire.ApprovalOptions(),
	}
	if input := protocol.MustEncode(wire.Action{Command: d.Command}); len(d.Command) > 0 && len(input) <= maxText {
		a.Input = input
	}
	if d.ApplyPatch == nil && (len(d.Command) == 0 || d.Command[0] != wire.PatchTool) {
		return a
	}
	a.Kind, a.Title, a.Name, a.Command, a.Input = protocol.ApprovePatch, "Change files", wire.PatchTool, "", nil
	if d.ApplyPatch != nil {
		a.Patch = d.ApplyPatch.Patch
	} else {
		a.Patch = strings.Join(d.Command[1:], "\n")
	}
	a.Paths = wire.PatchPaths(a.Patch)
	whole := a.Patch
	a.Patch = truncate(whole)
	a.Editable = d.ApplyPatch != nil && !d.ApplyPatch.ReadOnly && a.Patch == whole
	return a
}

// acceptsInput reports whether the protocol can carry the input of a decision: an edited patch of
// an editable request.
func acceptsInput(a *protocol.Approval, in *protocol.ApprovalInput) bool {
	return in == nil || len(in.Tasks) == 0 && len(in.Answers)+len(in.Secrets) == 0 && !in.Replan && in.Command == "" &&
		(a.Editable || in.Patch == "" || in.Patch == a.Patch)
}

// decide sends a decision on the pending request.
func (p *approvals) decide(cmd *protocol.Command) {
	var d protocol.ApproveData
	if !p.x.DecodeData(cmd, &d) {
		return
	}
	a, err := p.turns.decided.Find(p.log.State, &d)
	if err != nil {
		p.x.Fail(cmd, err)
		return
	}
	if d.Option != "" {
		d.Decision = ""
		if i := slices.IndexFunc(a.Options, func(o protocol.Option) bool { return o.ID == d.Option }); i >= 0 {
			d.Decision = a.Options[i].Kind
		}
	}
	review := wire.ReviewOf(d.Decision)
	switch {
	case review == "":
		p.x.Failf(cmd, protocol.CodeInvalidMessage, "approve: no such option or decision")
		return
	case !acceptsInput(a, d.Input):
		p.x.Failf(cmd, protocol.CodeUnsupported,
			"the dialect %s supports no input except an edited patch of an editable request: deny with a reason", wire.Name)
		return
	case p.decision != nil:
		p.x.Fail(cmd, codec.Conflict(codec.WinnerOf(p.x.User(), p.decision.resolved)))
		return
	}
	p.failExplanation(protocol.Errorf(protocol.CodeConflict, decidedMeanwhile))
	send(p.x, wire.ApprovalResponseType, encodeReview(a, &d, review))
	if d.Decision == protocol.Explain {
		p.explanation = &pendingExplanation{cmd: cmd, request: a.Request, due: p.x.Now.Add(explainTimeout)}
		return
	}
	resolved := protocol.ApprovalResolvedData{
		Request: a.Request, Outcome: protocol.Allowed, Decision: d.Decision, Option: review,
		Reason: truncate(d.Reason), Input: d.Input,
	}
	if denies(d.Decision) {
		resolved.Outcome = protocol.Denied
	}
	p.decision = &pendingDecision{cmd, resolved, p.x.Now.Add(rejectTimeout)}
}

// decidedMeanwhile is the error of an explanation that came too late.
const decidedMeanwhile = "the request was already decided"

func denies(d protocol.Decision) bool { return d == protocol.Deny || d == protocol.DenyStop }

// encodeReview returns the message for a decision.
func encodeReview(a *protocol.Approval, d *protocol.ApproveData, review string) wire.ApprovalResponse {
	r := wire.ApprovalResponse{Review: review}
	if a.Patch != "" && a.Kind == protocol.ApprovePatch {
		switch {
		case d.Input != nil && d.Input.Patch != "":
			r.ApplyPatch = &wire.ApplyPatch{Patch: d.Input.Patch}
		case !strings.HasSuffix(a.Patch, notShown):
			r.ApplyPatch = &wire.ApplyPatch{Patch: a.Patch}
		}
	}
	switch {
	case d.Reason == "":
	case denies(d.Decision):
		r.DenyMessage = &d.Reason
	default:
		r.Explanation = &d.Reason
	}
	return r
}

// confirm records the decision that was sent: the server accepted it.
func (p *approvals) confirm() {
	v := p.decision
	if v == nil {
		return
	}
	p.decision = nil
	if t := p.turns.current; t != nil && v.resolved.Outcome == protocol.Denied {
		t.denied = t.denied || v.resolved.Decision == protocol.DenyStop
		t.denial = v.resolved.Reason
	}
	p.log.record(p.turns.resolve(p.x.User(), v.resolved))
	p.x.Answer(v.cmd, protocol.ApproveResult{
		Request: v.resolved.Request, Outcome: v.resolved.Outcome, Decision: v.resolved.Decision,
	})
	p.log.record(p.turns.releaseItems()...)
}

// refuse handles an error about the decision or the explanation, and reports whether it is about one.
// If nothing is pending at the server, the request is over.
func (p *approvals) refuse(message string, err *protocol.Error) bool {
	about := strings.Contains(message, "pproval")
	switch v := p.decision; {
	case v != nil && (about || p.x.Now.Before(v.due)):
		p.decision = nil
		p.x.Fail(v.cmd, err)
		if strings.HasPrefix(message, wire.NothingPending) {
			p.log.cancelApprovals()
		}
		return true
	case p.explanation != nil && about:
		p.failExplanation(err)
		return true
	}
	return false
}

// decidedElsewhere ends the pending request, which another user decided.
func (p *approvals) decidedElsewhere(by *protocol.Actor, outcome protocol.Outcome) {
	p.failExplanation(protocol.Errorf(protocol.CodeConflict, decidedMeanwhile))
	over := protocol.ApprovalResolvedData{Request: p.log.State.Approvals[0].Request, Outcome: outcome}
	p.log.record(p.turns.resolve(by, over))
	p.log.record(p.turns.releaseItems()...)
}

// explain appends text of the agent to the explanation, and reports whether one was requested.
func (p *approvals) explain(text string) bool {
	if p.explanation != nil {
		p.explanation.text = truncate(p.explanation.text + text)
	}
	return p.explanation != nil
}

// finishExplanation records the explanation: the request was repeated.
func (p *approvals) finishExplanation() {
	w := p.explanation
	if w == nil {
		return
	}
	p.explanation = nil
	e := p.turns.event(protocol.ApprovalExplained, protocol.ApprovalExplainedData{Request: w.request, Text: w.text})
	e.By = p.x.User()
	p.log.record(e)
	p.x.Answer(w.cmd, protocol.ApproveResult{Request: w.request, Decision: protocol.Explain})
}

// failExplanation fails the request for an explanation. Text received for it is recorded as the
// agent's.
func (p *approvals) failExplanation(err *protocol.Error) {
	w := p.explanation
	if w == nil {
		return
	}
	p.explanation = nil
	if w.text != "" && p.turns.current != nil {
		p.log.record(p.turns.appendText("", w.text)...)
	}
	p.x.Fail(w.cmd, err)
}

// expire acts on the timeouts that passed.
func (p *approvals) expire() {
	if v := p.decision; v != nil && !p.x.Now.Before(v.due) {
		p.confirm()
	}
	if w := p.explanation; w != nil && !p.x.Now.Before(w.due) {
		p.failExplanation(protocol.Errorf(protocol.CodeTimeout, "the server did not explain"))
	}
}

// wakeBy schedules a Wake for the next timeout.
func (p *approvals) wakeBy() {
	if p.decision != nil {
		p.x.Out.WakeBy(p.decision.due)
	}
	if p.explanation != nil {
		p.x.Out.WakeBy(p.explanation.due)
	}
}
