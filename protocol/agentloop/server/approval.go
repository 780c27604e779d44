package server

import (
	"path"
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

// showNextApproval sends the oldest pending request, unless one is shown.
func (s *Conn) showNextApproval() {
	if !s.sub.CaughtUp || s.sub.State == nil || s.sub.State.PendingApproval(s.shown.request) != nil {
		return
	}
	replaced := s.shown.replaced
	s.shown = shownApproval{}
	for i := range s.sub.State.Approvals {
		if a := &s.sub.State.Approvals[i]; !s.sub.State.DecidedAtOnce(a) {
			s.shown = shownApproval{request: a.Request, replaced: replaced}
			s.showApproval()
			return
		}
	}
}

// showApproval sends the shown request, again if the client answered it: clients hide a request
// once answered.
func (s *Conn) showApproval() {
	a := s.sub.State.PendingApproval(s.shown.request)
	if a == nil {
		return
	}
	patch := wire.PatchOf(a)
	more := ""
	if a.Kind == protocol.ApprovePatch && patch != "" {
		more = untoldByPatch(a, patch)
	}
	s.shown.shownAt, s.shown.deciding, s.shown.patch = s.Now, false, patch+more
	r := wire.ApprovalRequest{Command: wire.ApprovalCommand(a, s.shown.patch, s.sub.State.CWD)}
	if s.shown.patch != "" {
		r.ApplyPatch = &wire.ApplyPatch{Patch: s.shown.patch, ReadOnly: !a.Editable || more != ""}
	}
	s.turn.failed = false // the turn continues
	s.send(wire.ApprovalRequestType, r)
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
func (s *Conn) handleReview(id string, r *wire.ApprovalResponse) {
	var a *protocol.Approval
	if s.sub.State != nil && s.shown.request != "" && !s.shown.deciding {
		a = s.sub.State.PendingApproval(s.shown.request)
	}
	if a == nil {
		s.failReply(id, wire.NothingPending, nil)
		return
	}
	if s.shown.replaced && s.Now.Sub(s.shown.shownAt) < minReviewTime {
		s.shown.replaced = false
		s.failReply(id, "Another user has decided that request; this is another one", nil)
		s.showApproval()
		return
	}
	d := decodeReview(a, r, s.shown.patch)
	s.shown.deciding = true
	s.Request(protocol.DoApprove, s.sub.Session, "", d, func(answer protocol.Answer) {
		if answer.Error == nil {
			return // the event follows
		}
		s.failWith(id, wire.ApprovalFailed, answer.Error)
		if s.shown.request == d.Request {
			s.showApproval()
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

// approvalResolved continues after a decision on a request.
func (s *Conn) approvalResolved(e *protocol.Event, d *protocol.ApprovalResolvedData) {
	if d.Request == s.shown.request {
		s.shown.replaced = !s.shown.deciding
		if s.shown.replaced && d.ByRule == "" && d.ByPolicy == "" {
			s.sendSystem(wire.EncodeDecision(e, d))
		}
	}
	s.releaseCall(d.Request)
	s.showNextApproval()
}

// approvalExplained sends the agent's explanation and repeats the request.
func (s *Conn) approvalExplained(e *protocol.Event, d *protocol.ApprovalExplainedData) {
	s.sendItem(wire.NewMessageItem(s.itemID(e, "explained"+strconv.FormatUint(e.Seq, 10)), wire.Assistant, d.Text))
	if d.Request == s.shown.request && s.sub.CaughtUp {
		s.showApproval()
	}
}
