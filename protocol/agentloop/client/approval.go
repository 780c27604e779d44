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

// handleApprovalRequest records an approval request. The server has one at a time: a new one
// replaces the old.
func (c *Conn) handleApprovalRequest(d *wire.ApprovalRequest) {
	a := c.decodeApproval(d)
	if len(c.log.State.Approvals) > 0 {
		old := &c.log.State.Approvals[0]
		if sameRequest(old, a) { // repeated
			c.finishExplanation()
			return
		}
		c.failExplanation(protocol.Errorf(protocol.CodeNotFound, "another request replaced it"))
		c.cancelApprovals()
	}
	same := func(old protocol.Approval) bool { return sameRequest(&old, a) }
	if i := slices.IndexFunc(c.earlierApprovals, same); i >= 0 {
		a.Request = c.earlierApprovals[i].Request
		c.earlierApprovals = slices.Delete(c.earlierApprovals, i, i+1)
	} else {
		a.Request = c.newID("a")
	}
	c.add(protocol.ApprovalRequested, a)
}

// sameRequest reports whether two requests are the same. A request that is not known as a whole is
// like no other.
func sameRequest(a, b *protocol.Approval) bool {
	whole := !strings.HasSuffix(a.Command, notShown) && !strings.HasSuffix(a.Patch, notShown)
	return whole && a.Command == b.Command && a.Patch == b.Patch && bytes.Equal(a.Input, b.Input)
}

func (c *Conn) decodeApproval(d *wire.ApprovalRequest) *protocol.Approval {
	a := &protocol.Approval{
		Kind: protocol.ApproveCommand, Title: "Run a command", Command: truncate(protocol.JoinCommand(d.Command)),
		Options: wire.ApprovalOptions(),
		Asked:   c.Now.UTC().Truncate(time.Millisecond),
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
	return in == nil || len(in.Tasks) == 0 && len(in.Answers) == 0 && !in.Replan && in.Command == "" &&
		(a.Editable || in.Patch == "" || in.Patch == a.Patch)
}

// approve sends a decision on the pending request.
func (c *Conn) approve(cmd *protocol.Command, d *protocol.ApproveData) {
	a, err := c.state.decided.Find(c.log.State, d)
	if err != nil {
		c.Fail(cmd, err)
		return
	}
	if d.Option != "" {
		if i := slices.IndexFunc(a.Options, func(o protocol.Option) bool { return o.ID == d.Option }); i >= 0 {
			d.Decision = a.Options[i].Kind
		} else {
			d.Decision = ""
		}
	}
	review := wire.ReviewOf(d.Decision)
	switch {
	case review == "":
		c.Failf(cmd, protocol.CodeInvalidMessage, "approve: no such option or decision")
		return
	case !acceptsInput(a, d.Input):
		c.Failf(cmd, protocol.CodeUnsupported,
			"the dialect %s supports no input except an edited patch of an editable request: deny with a reason", wire.Name)
		return
	case c.decision != nil:
		c.Fail(cmd, codec.Conflict(codec.WinnerOf(c.User(), c.decision.resolved)))
		return
	case c.explanation != nil:
		c.failExplanation(protocol.Errorf(protocol.CodeConflict, "the request was decided meanwhile"))
	}
	r := wire.ApprovalResponse{Review: review}
	if a.Patch != "" && a.Kind == protocol.ApprovePatch {
		r.ApplyPatch = &wire.ApplyPatch{Patch: a.Patch}
		if d.Input != nil && d.Input.Patch != "" {
			r.ApplyPatch.Patch = d.Input.Patch
		} else if strings.HasSuffix(a.Patch, notShown) {
			r.ApplyPatch = nil
		}
	}
	if d.Reason != "" {
		if d.Decision == protocol.Deny || d.Decision == protocol.DenyStop {
			r.DenyMessage = &d.Reason
		} else {
			r.Explanation = &d.Reason
		}
	}
	c.send(wire.ApprovalResponseType, r)
	if d.Decision == protocol.Explain {
		c.explanation = &pendingExplanation{cmd: cmd, request: a.Request, due: c.Now.Add(explainTimeout)}
		return
	}
	resolved := protocol.ApprovalResolvedData{
		Request: a.Request, Outcome: protocol.Allowed, Decision: d.Decision, Option: review,
		Reason: truncate(d.Reason), Input: d.Input,
	}
	if d.Decision == protocol.Deny || d.Decision == protocol.DenyStop {
		resolved.Outcome = protocol.Denied
	}
	c.decision = &pendingDecision{cmd, resolved, c.Now.Add(rejectTimeout)}
}

// confirmDecision records the decision that was sent: the server accepted it.
func (c *Conn) confirmDecision() {
	v := c.decision
	if v == nil {
		return
	}
	c.decision = nil
	if c.turn != nil && v.resolved.Outcome == protocol.Denied {
		c.turn.stopped = c.turn.stopped || v.resolved.Decision == protocol.DenyStop
		c.turn.told = v.resolved.Reason
	}
	c.resolveApproval(c.User(), v.resolved)
	c.Answer(v.cmd, protocol.ApproveResult{
		Request: v.resolved.Request, Outcome: v.resolved.Outcome, Decision: v.resolved.Decision,
	})
	c.releaseItems()
}

// rejectDecision fails the decision that the server refused. If nothing is pending at the server,
// the request is over.
func (c *Conn) rejectDecision(message string, err *protocol.Error) {
	v := c.decision
	c.decision = nil
	c.Fail(v.cmd, err)
	if strings.HasPrefix(message, wire.NothingPending) {
		c.cancelApprovals()
	}
}

// decidedElsewhere ends the pending request, which another user decided.
func (c *Conn) decidedElsewhere(by *protocol.Actor, outcome protocol.Outcome) {
	c.failExplanation(protocol.Errorf(protocol.CodeConflict, "the request was decided meanwhile"))
	c.resolveApproval(by, protocol.ApprovalResolvedData{Request: c.log.State.Approvals[0].Request, Outcome: outcome})
	c.releaseItems()
}

// resolveApproval records the end of a request.
func (c *Conn) resolveApproval(by *protocol.Actor, d protocol.ApprovalResolvedData) {
	c.state.decided.Put(by, d)
	c.addBy(protocol.ApprovalResolved, by, d)
}

// finishExplanation records the explanation: the request was repeated.
func (c *Conn) finishExplanation() {
	w := c.explanation
	if w == nil {
		return
	}
	c.explanation = nil
	c.addBy(protocol.ApprovalExplained, c.User(), protocol.ApprovalExplainedData{Request: w.request, Text: w.text})
	c.Answer(w.cmd, protocol.ApproveResult{Request: w.request, Decision: protocol.Explain})
}

// failExplanation fails the request for an explanation. Text received for it is recorded as the
// agent's.
func (c *Conn) failExplanation(err *protocol.Error) {
	w := c.explanation
	if w == nil {
		return
	}
	c.explanation = nil
	if w.text != "" && c.turn != nil {
		c.addText("", w.text)
	}
	c.Fail(w.cmd, err)
}
