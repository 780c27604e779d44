package agentloop

import (
	"slices"
	"strings"
	"time"

	"agentctl/protocol"
)

// A verdict is a decision that was sent. The server says nothing when it takes one, so it holds when nothing is said against it.
type verdict struct {
	cmd      *protocol.Command
	resolved protocol.ApprovalResolvedData
	due      time.Time
}

// An explanation was asked for; it ends with the request being asked again.
type explanation struct {
	cmd     *protocol.Command
	request string
	text    string
	due     time.Time
}

// A winner is how a request ended.
type winner struct {
	request string
	protocol.Winner
}

// maxDecided bounds the decisions that are remembered.
const maxDecided = 256

// requested takes a request. There is one at a time: another one takes its place.
func (c *Client) requested(d *approvalRequest) {
	a := c.approvalOf(d)
	if len(c.log.State.Approvals) > 0 {
		old := &c.log.State.Approvals[0]
		if old.Command == a.Command && old.Patch == a.Patch { // asked again
			c.explained()
			return
		}
		c.unexplained(protocol.Errorf(protocol.CodeNotFound, "another request took its place"))
		c.withdraw()
	}
	if i := slices.IndexFunc(c.asked, func(old protocol.Approval) bool { return old.Command == a.Command && old.Patch == a.Patch }); i >= 0 {
		a.Request = c.asked[i].Request
		c.asked = slices.Delete(c.asked, i, i+1)
	} else {
		a.Request = c.mint("a")
	}
	c.add(protocol.ApprovalRequested, a)
}

func (c *Client) approvalOf(d *approvalRequest) *protocol.Approval {
	a := &protocol.Approval{
		Kind: protocol.ApproveCommand, Title: "Run a command", Command: clip(join(d.Command)), Options: choices(),
		Asked: c.now.UTC().Truncate(time.Millisecond),
	}
	if input := protocol.MustEncode(action{Command: d.Command}); len(d.Command) > 0 && len(input) <= longText {
		a.Input = input
	}
	if d.ApplyPatch == nil && (len(d.Command) == 0 || d.Command[0] != "apply_patch") {
		return a
	}
	a.Kind, a.Title, a.Name, a.Command, a.Input = protocol.ApprovePatch, "Change files", "apply_patch", "", nil
	if d.ApplyPatch != nil {
		a.Patch = d.ApplyPatch.Patch
	} else {
		a.Patch = strings.Join(d.Command[1:], "\n")
	}
	for line := range strings.Lines(a.Patch) {
		for _, mark := range []string{patchUpdate, patchAdd, patchDelete} {
			if path, is := strings.CutPrefix(line, mark); is && len(a.Paths) < 64 && len(path) < 512 {
				a.Paths = append(a.Paths, strings.TrimSpace(path))
			}
		}
	}
	whole := a.Patch
	a.Patch = clip(whole)
	a.Editable = d.ApplyPatch != nil && !d.ApplyPatch.ReadOnly && a.Patch == whole
	return a
}

// takes reports whether an answer can carry what a decision brings: of an edited patch that is said, of all else nothing.
func takes(a *protocol.Approval, in *protocol.ApprovalInput) bool {
	return in == nil || len(in.Tasks) == 0 && len(in.Answers) == 0 && !in.Replan && (a.Editable || in.Patch == "" || in.Patch == a.Patch)
}

// approve decides the pending request.
func (c *Client) approve(cmd *protocol.Command, d *protocol.ApproveData) {
	st := c.log.State
	if d.Request == "" && len(st.Approvals) == 1 {
		d.Request = st.Approvals[0].Request
	}
	a := st.PendingApproval(d.Request)
	if a == nil {
		c.desk.Fail(c.out, cmd, c.over(d.Request))
		return
	}
	if d.Option != "" {
		if i := slices.IndexFunc(a.Options, func(o protocol.Option) bool { return o.ID == d.Option }); i >= 0 {
			d.Decision = a.Options[i].Kind
		} else {
			d.Decision = ""
		}
	}
	review := reviewOf(d.Decision)
	switch {
	case review == "":
		c.desk.Fail(c.out, cmd, protocol.Errorf(protocol.CodeInvalidMessage, "approve: no such option or decision"))
		return
	case !takes(a, d.Input):
		c.desk.Fail(c.out, cmd, protocol.Errorf(protocol.CodeUnsupported,
			"the dialect %s carries no input but an edited patch, of a request that takes one: deny it and say what to change", Name))
		return
	case c.verdict != nil:
		c.desk.Fail(c.out, cmd, &protocol.Error{Code: protocol.CodeConflict, Message: "it is being decided", Winner: c.verdict.winner(c.me())})
		return
	case c.why != nil:
		c.unexplained(protocol.Errorf(protocol.CodeConflict, "it was decided meanwhile"))
	}
	r := approvalResponse{Review: review}
	if a.Patch != "" && a.Kind == protocol.ApprovePatch {
		r.ApplyPatch = &applyPatch{Patch: a.Patch}
		if d.Input != nil && d.Input.Patch != "" {
			r.ApplyPatch.Patch = d.Input.Patch
		} else if strings.HasSuffix(a.Patch, "not shown") {
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
	c.say(approvalResponseType, r)
	if d.Decision == protocol.Explain {
		c.why = &explanation{cmd: cmd, request: a.Request, due: c.now.Add(explainWait)}
		return
	}
	resolved := protocol.ApprovalResolvedData{
		Request: a.Request, Outcome: protocol.Allowed, Decision: d.Decision, Option: review, Reason: clip(d.Reason), Input: d.Input,
	}
	if d.Decision == protocol.Deny || d.Decision == protocol.DenyStop {
		resolved.Outcome = protocol.Denied
	}
	c.verdict = &verdict{cmd, resolved, c.now.Add(refusalWait)}
}

func (v *verdict) winner(by *protocol.Actor) *protocol.Winner {
	r := &v.resolved
	return &protocol.Winner{By: *by, Outcome: r.Outcome, Decision: r.Decision, Option: r.Option}
}

// settle holds the decision that was sent: the server went on.
func (c *Client) settle() {
	v := c.verdict
	if v == nil {
		return
	}
	c.verdict = nil
	if c.turn != nil && v.resolved.Decision == protocol.DenyStop {
		c.turn.stopped = true
	}
	c.resolve(c.me(), v.resolved)
	c.desk.Answer(c.out, v.cmd, protocol.ApproveResult{
		Request: v.resolved.Request, Outcome: v.resolved.Outcome, Decision: v.resolved.Decision,
	})
	c.release()
}

// refused takes the server's word against a decision. When nothing is pending there, the request is over.
func (c *Client) refused(message string, err *protocol.Error) {
	v := c.verdict
	c.verdict = nil
	c.desk.Fail(c.out, v.cmd, err)
	if strings.HasPrefix(message, nothingPending) {
		c.withdraw()
	}
}

// lost ends the pending request, which somebody else decided.
func (c *Client) lost(by *protocol.Actor, outcome protocol.Outcome) {
	c.unexplained(protocol.Errorf(protocol.CodeConflict, "it was decided meanwhile"))
	c.resolve(by, protocol.ApprovalResolvedData{Request: c.log.State.Approvals[0].Request, Outcome: outcome})
	c.release()
}

// resolve records how a request ended.
func (c *Client) resolve(by *protocol.Actor, d protocol.ApprovalResolvedData) {
	w := winner{d.Request, protocol.Winner{Outcome: d.Outcome, Decision: d.Decision, Option: d.Option}}
	if by != nil {
		w.By = *by
	}
	if m := c.memory; len(m.decided) >= maxDecided {
		m.decided = m.decided[1:]
	}
	c.memory.decided = append(c.memory.decided, w)
	c.addBy(protocol.ApprovalResolved, by, d)
}

// over says why a request cannot be decided.
func (c *Client) over(request string) *protocol.Error {
	for i := range c.memory.decided {
		if w := c.memory.decided[i]; w.request == request {
			return &protocol.Error{Code: protocol.CodeConflict, Message: "the request is over: " + string(w.Outcome), Winner: &w.Winner}
		}
	}
	return protocol.Errorf(protocol.CodeNotFound, "no such request is pending")
}

// explained takes the explanation: the request was asked again.
func (c *Client) explained() {
	w := c.why
	if w == nil {
		return
	}
	c.why = nil
	c.addBy(protocol.ApprovalExplained, c.me(), protocol.ApprovalExplainedData{Request: w.request, Text: w.text})
	c.desk.Answer(c.out, w.cmd, protocol.ApproveResult{Request: w.request, Decision: protocol.Explain})
}

// unexplained gives up waiting for an explanation; what was said is kept as the agent's words.
func (c *Client) unexplained(err *protocol.Error) {
	w := c.why
	if w == nil {
		return
	}
	c.why = nil
	if w.text != "" && c.turn != nil {
		c.speak("", w.text)
	}
	c.desk.Fail(c.out, w.cmd, err)
}
