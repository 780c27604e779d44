package server

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/agentloop/wire"
)

// shownApproval is the request that the client sees. There is one at a time, since answers do not
// name a request.
type shownApproval struct {
	request  string
	patch    string // as sent
	shownAt  time.Time
	replaced bool // it follows a request that another user decided while the client saw it
	deciding bool // the client answered, agentctl's server has not
}

// minReviewTime is the time in which an answer may still be meant for the previous request.
const minReviewTime = time.Second

// showNextApproval shows the oldest pending request, unless one is shown.
func (v *view) showNextApproval() []message {
	st := v.sub.State
	if !v.sub.CaughtUp || st == nil || st.PendingApproval(v.shown.request) != nil {
		return nil
	}
	replaced := v.shown.replaced
	v.shown = shownApproval{}
	for i := range st.Approvals {
		if a := &st.Approvals[i]; !st.DecidedAtOnce(a) {
			v.shown = shownApproval{request: a.Request, replaced: replaced}
			return v.showApproval()
		}
	}
	return nil
}

// showApproval shows the request, again if the client answered it: clients hide a request once
// answered.
func (v *view) showApproval() []message {
	a := v.sub.State.PendingApproval(v.shown.request)
	if a == nil {
		return nil
	}
	patch := wire.PatchOf(a)
	more := ""
	if a.Kind == protocol.ApprovePatch && patch != "" {
		more = untoldByPatch(a, patch)
	}
	v.shown.shownAt, v.shown.deciding, v.shown.patch = v.x.Now, false, patch+more
	r := wire.ApprovalRequest{Command: wire.ApprovalCommand(a, v.shown.patch, v.sub.State.CWD)}
	if v.shown.patch != "" {
		r.ApplyPatch = &wire.ApplyPatch{Patch: v.shown.patch, ReadOnly: !a.Editable || more != ""}
	}
	v.turn.failed = false // the turn continues
	return []message{{wire.ApprovalRequestType, r}}
}

// untoldByPatch returns the files and arguments of a request that its patch does not name, as lines
// after it.
func untoldByPatch(a *protocol.Approval, patch string) (more string) {
	files, _ := a.Files()
	for _, file := range files {
		if !strings.Contains(patch, path.Base(file)) {
			more += "\nchanges " + file
		}
	}
	if rest, _ := a.RestArguments(); rest != "" {
		more += "\narguments: " + rest
	}
	return more
}

// handleReview sends the client's answer to the shown request, which came with an id.
func (v *view) handleReview(id string, r *wire.ApprovalResponse) {
	var a *protocol.Approval
	if v.sub.State != nil && v.shown.request != "" && !v.shown.deciding {
		a = v.sub.State.PendingApproval(v.shown.request)
	}
	if a == nil {
		v.x.fail(id, wire.NothingPending, nil)
		return
	}
	if v.shown.replaced && v.x.Now.Sub(v.shown.shownAt) < minReviewTime {
		v.shown.replaced = false
		v.x.fail(id, "Another user has decided that request; this is another one", nil)
		v.x.send(v.showApproval()...)
		return
	}
	d := decodeReview(a, r, v.shown.patch)
	v.shown.deciding = true
	v.x.Request(protocol.DoApprove, v.sub.Session, "", d, func(answer protocol.Answer) {
		if answer.Error == nil {
			return // the event follows
		}
		v.x.failWith(id, wire.ApprovalFailed, answer.Error)
		if v.shown.request == d.Request {
			v.x.send(v.showApproval()...)
		}
	})
}

func decodeReview(a *protocol.Approval, r *wire.ApprovalResponse, shown string) protocol.ApproveData {
	d := protocol.ApproveData{Request: a.Request, Decision: wire.DecisionOf(r.Review)}
	for _, words := range []*string{r.DenyMessage, r.Explanation} {
		if words != nil && *words != "" && d.Reason == "" {
			d.Reason = wire.StripControls(*words)
		}
	}
	allows := d.Decision == protocol.AllowOnce || d.Decision == protocol.AllowAlways
	if p := r.ApplyPatch; allows && a.Kind == protocol.ApprovePatch && p != nil && p.Patch != "" && p.Patch != shown {
		d.Input = &protocol.ApprovalInput{Patch: protocol.ValidText(p.Patch)}
	}
	if allows && a.Kind == protocol.ApproveQuestion && len(a.Questions) == 1 && d.Reason != "" {
		d.Input = &protocol.ApprovalInput{Answers: map[string][]string{a.Questions[0].ID: {d.Reason}}}
	}
	return d
}

// resolveApproval continues after a decision on a request.
func (v *view) resolveApproval(e *protocol.Event, d *protocol.ApprovalResolvedData) (out []message) {
	if d.Request == v.shown.request {
		v.shown.replaced = !v.shown.deciding
		if v.shown.replaced && d.ByRule == "" && d.ByPolicy == "" {
			out = append(out, v.turn.system(wire.EncodeDecision(e, d)))
		}
	}
	return slices.Concat(out, v.turn.releaseCall(d.Request), v.showNextApproval())
}

// explainApproval sends the agent's explanation and repeats the request.
func (v *view) explainApproval(e *protocol.Event, d *protocol.ApprovalExplainedData) []message {
	id := itemID(e, "explained"+strconv.FormatUint(e.Seq, 10))
	out := []message{v.turn.item(wire.NewMessageItem(id, wire.Assistant, d.Text))}
	if d.Request == v.shown.request && v.sub.CaughtUp {
		out = append(out, v.showApproval()...)
	}
	return out
}
