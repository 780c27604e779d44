package multiagent

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"agentctl/protocol"
)

// maxDone bounds the decided requests that a thread remembers.
const maxDone = 256

// options are what the dialect lets people answer. To stop is to deny, and then to cancel the stream.
var options = []protocol.Option{
	{ID: string(protocol.AllowOnce), Kind: protocol.AllowOnce, Label: "Allow"},
	{ID: string(protocol.Deny), Kind: protocol.Deny, Label: "Deny"},
	{ID: string(protocol.DenyStop), Kind: protocol.DenyStop, Label: "Deny and stop"},
}

// asked takes a request for approval.
func (c *Client) asked(t *thread, h heard, data []byte) {
	id := h.word("requestId")
	if id == "" || t.log.State.PendingApproval(id) != nil || len(t.log.State.Approvals) >= maxOpen || len(t.tools) >= maxOpen {
		c.raw(t, typeAsk, data)
		return
	}
	c.listen(t)
	c.endPart(t)
	a := protocol.Approval{
		Request: id, Kind: protocol.ApproveTool, Title: clip(h.text("description")), Tool: id, Name: h.word("toolName"),
		Input: fit(h["toolArgs"]), Options: options, Asked: c.now.UTC(),
	}
	args := hear(h["toolArgs"])
	a.Command, a.CWD = clip(args.text("command")), args.word("cwd")
	a.Title, a.Why, _ = strings.Cut(a.Title, "\n")
	a.Why = strings.TrimPrefix(strings.TrimPrefix(a.Why, a.Command), "\n")
	if slices.Contains([]string{protocol.ApproveCommand, protocol.ApprovePatch, protocol.ApprovePlan, protocol.ApproveQuestion}, a.Name) {
		a.Kind = a.Name
	}
	if a.Title == "" {
		a.Title = a.Name
	}
	t.tools[id] = a.Name
	t.done = slices.DeleteFunc(t.done, func(o decided) bool { return o.request == id }) // asked anew
	c.add(t, protocol.ToolStarted, nil, protocol.ToolStartedData{Tool: id, Name: a.Name, Title: a.Title, Input: a.Input})
	c.add(t, protocol.ApprovalRequested, nil, a)
}

func (c *Client) approve(t *thread, cmd *protocol.Command) {
	d, ok := data[protocol.ApproveData](c, cmd)
	if !ok {
		return
	}
	pending := t.log.State.Approvals
	switch {
	case d.Request == "" && len(pending) == 1:
		d.Request = pending[0].Request
	case d.Request == "":
		c.fail(cmd, protocol.Errorf(protocol.CodeNotFound, "%d requests are pending: name one", len(pending)))
		return
	}
	if d.Option != "" {
		d.Decision = protocol.Decision(d.Option)
	}
	if d.Decision != protocol.AllowOnce && !denies(d.Decision) || !wordless(d.Input) {
		c.fail(cmd, protocol.Errorf(protocol.CodeUnsupported, "the dialect %s can only allow once, deny or stop, with a reason", Name))
		return
	}
	if i := slices.IndexFunc(t.done, func(o decided) bool { return o.request == d.Request && o.winner.Decision != "" }); i >= 0 {
		c.beaten(cmd, t.done[i].winner)
		return
	}
	for _, w := range t.waits {
		if w.verb == protocol.DoApprove && w.request == d.Request {
			c.beaten(cmd, winner(w, c.me()))
			return
		}
	}
	if len(t.waits) >= maxWaits {
		c.fail(cmd, protocol.Errorf(protocol.CodeTooMany, "too many requests under way"))
		return
	}
	c.say(frame{
		Type: typeApprove, Conversation: t.log.Session, Request: d.Request, Payload: verdict{d.Decision == protocol.AllowOnce, d.Reason},
	})
	c.wait(t, &wait{
		command: cmd, verb: protocol.DoApprove, deadline: c.now.Add(patience), request: d.Request, decision: d.Decision, reason: d.Reason,
	})
}

// wordless reports whether input says nothing that the dialect has no words for: that a plan is to be made again is in the reason.
func wordless(in *protocol.ApprovalInput) bool {
	return in == nil || in.Tasks == nil && in.Answers == nil && in.Patch == ""
}

func winner(w *wait, by *protocol.Actor) protocol.Winner {
	v := protocol.Winner{By: *by, Outcome: protocol.Allowed, Decision: w.decision, Option: string(w.decision)}
	if denies(w.decision) {
		v.Outcome = protocol.Denied
	}
	return v
}

func denies(d protocol.Decision) bool { return d == protocol.Deny || d == protocol.DenyStop }

// beaten answers who came too late.
func (c *Client) beaten(cmd *protocol.Command, by protocol.Winner) {
	name := by.By.Name
	if name == "" {
		name = "somebody else"
	}
	c.fail(cmd, &protocol.Error{Code: protocol.CodeConflict, Message: name + " has already decided", Winner: &by})
}

// decide takes a decision of ours that the server took.
func (c *Client) decide(t *thread, w *wait) {
	v := winner(w, c.me())
	c.resolve(t, w.request, c.me(), protocol.ApprovalResolvedData{
		Request: w.request, Outcome: v.Outcome, Decision: v.Decision, Option: v.Option, Reason: w.reason,
	})
	c.settle(w.command, protocol.ApproveResult{Request: w.request, Outcome: v.Outcome, Decision: v.Decision})
	if w.decision == protocol.DenyStop && t.turn != nil {
		t.turn.denied = true
		c.hold(t, protocol.HoldDenyStop)
		c.say(frame{Type: typeCancel, Conversation: t.log.Session})
		c.wait(t, &wait{verb: protocol.DoInterrupt, deadline: c.now.Add(longest), turn: t.turn.id})
	}
}

// unapproved takes an error about a decision of ours. The server says one about each rejection, too.
func (c *Client) unapproved(t *thread, w *wait, code, message string) {
	if code == rejected && denies(w.decision) {
		c.decide(t, w)
		return
	}
	c.fail(w.command, native(code, message, protocol.CodeNotFound))
	if t.turn != nil && t.turn.command {
		c.broken(t, code, message)
	}
}

// resolve ends a request in the log.
func (c *Client) resolve(t *thread, request string, by *protocol.Actor, d protocol.ApprovalResolvedData) {
	v := protocol.Winner{Outcome: d.Outcome, Decision: d.Decision, Option: d.Option}
	if by != nil {
		v.By = *by
	}
	if len(t.done) >= maxDone {
		t.done = t.done[1:]
	}
	t.done = append(t.done, decided{request, v})
	if t.log.State.PendingApproval(request) != nil {
		c.add(t, protocol.ApprovalResolved, by, d)
	}
}

// executed takes how a tool ended, and with it what became of the request for it.
func (c *Client) executed(t *thread, h heard) {
	c.listen(t)
	u := t.turn
	id, name := h.word("requestId"), h.word("toolName")
	if id == "" {
		id = c.call.ID("tool")
	}
	success, _ := h.flag("success")
	why := clip(h.text("errorMessage"))
	result := fit(h["result"])
	none := len(result) == 0 || string(result) == "null"
	c.judged(t, id, success || !none, why)
	status := protocol.ToolCompleted
	if !success {
		status, why = unsuccessful(why)
	}
	if i := slices.IndexFunc(t.done, func(o decided) bool { return o.request == id }); i >= 0 && !success && t.done[i].winner.Outcome != protocol.Allowed {
		status = protocol.ToolDenied
	}
	if _, known := t.tools[id]; !known {
		c.endPart(t)
		c.add(t, protocol.ToolStarted, nil, protocol.ToolStartedData{Tool: id, Name: name})
	}
	delete(t.tools, id)
	end := protocol.ToolEndedData{Tool: id, Status: status, Error: why}
	if plain, ok := plainResult(h["result"]); ok {
		for _, piece := range protocol.SplitText(plain.Output, protocol.MaxText) {
			if piece != "" {
				c.add(t, protocol.ToolOutput, nil, protocol.ToolOutputData{Tool: id, Text: piece})
			}
		}
		end.ExitCode = plain.ExitCode
	} else if !none {
		end.Output = result
	}
	c.add(t, protocol.ToolEnded, nil, end)
	if (u.theirs && !u.said || u.command && status == protocol.ToolDenied) && len(t.log.State.Approvals) == 0 && len(t.tools) == 0 {
		t.over = c.now.Add(linger)
	}
}

// judged takes what became of a request, if it is not known yet: its tool ran, or did not, for a reason.
func (c *Client) judged(t *thread, request string, ran bool, why string) {
	for _, w := range slices.Clone(t.waits) {
		if w.verb == protocol.DoApprove && w.request == request && (ran || denies(w.decision)) && t.unwait(w) {
			c.decide(t, w)
		}
	}
	if t.log.State.PendingApproval(request) == nil {
		return
	}
	d := protocol.ApprovalResolvedData{Request: request, Outcome: protocol.Allowed, Decision: protocol.AllowOnce}
	if !ran {
		d = ended(request, why)
	}
	c.resolve(t, request, nil, d)
}

// plainResult reads a result that is nothing but what a server of our kind makes of one that has no structure.
func plainResult(raw json.RawMessage) (r plain, ok bool) {
	if len(raw) == 0 || raw[0] != '{' {
		return r, false
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	ok = d.Decode(&r) == nil
	r.Output = protocol.ValidText(r.Output)
	return r, ok
}

// unsuccessful tells how a tool ended that did not succeed: servers of our kind say it in a word, where they know no more.
func unsuccessful(why string) (status protocol.ToolStatus, left string) {
	switch status = protocol.ToolStatus(why); status {
	case protocol.ToolFailed, protocol.ToolCancelled, protocol.ToolDenied, protocol.ToolUnknown:
		return status, ""
	}
	return protocol.ToolFailed, why
}

// ended tells from the words of a server how a request ended that it did not allow.
func ended(request, why string) protocol.ApprovalResolvedData {
	d := protocol.ApprovalResolvedData{Request: request, Outcome: protocol.Denied, Decision: protocol.Deny, Reason: why}
	switch o := protocol.Outcome(why); o {
	case protocol.Expired, protocol.Cancelled:
		return protocol.ApprovalResolvedData{Request: request, Outcome: o}
	case protocol.Denied:
		d.Reason = ""
	}
	return d
}
