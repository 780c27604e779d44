package agentloop

import (
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"agentctl/protocol"
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
func (s *server) showNextApproval() {
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
func (s *server) showApproval() {
	a := s.sub.State.PendingApproval(s.shown.request)
	if a == nil {
		return
	}
	patch := patchOf(a)
	more := ""
	if a.Kind == protocol.ApprovePatch && patch != "" {
		more = untoldByPatch(a, patch)
	}
	s.shown.shownAt, s.shown.deciding, s.shown.patch = s.Now, false, patch+more
	r := approvalRequest{Command: approvalCommand(a, s.shown.patch, s.sub.State.CWD)}
	if s.shown.patch != "" {
		r.ApplyPatch = &applyPatch{Patch: s.shown.patch, ReadOnly: !a.Editable || more != ""}
	}
	s.turn.failed = false // the turn continues
	s.send(approvalRequestType, r)
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

// approvalCommand returns the command, or other text, of an approval.
func approvalCommand(a *protocol.Approval, patch, cwd string) []string {
	title := a.Title
	switch a.Kind {
	case protocol.ApproveCommand:
		if words := plainWords(a, cwd); words != nil {
			return words
		}
	case protocol.ApprovePatch:
		if patch == "" {
			patch = strings.Join(append([]string{title}, a.Paths...), "\n")
		}
		return []string{patchTool, patch}
	case protocol.ApprovePlan:
		words := []string{"plan", title}
		for _, t := range a.Tasks {
			words = append(words, t.ID+". "+t.Title)
		}
		return words
	case protocol.ApproveQuestion:
		words := []string{"question", title}
		for _, q := range a.Questions {
			text := q.Text
			for _, c := range q.Choices {
				text += "\n- " + c.Label
			}
			words = append(words, text)
		}
		return words
	}
	words := []string{a.Name, a.Command}
	rest, _ := a.RestArguments()
	words = append(append(words, a.CommandSettings()...), rest)
	if elsewhere(a, cwd) && a.Kind == protocol.ApproveCommand {
		words = append(words, "in "+a.CWD)
	}
	if title != a.Command {
		words = append(words, title)
	}
	return slices.DeleteFunc(words, func(w string) bool { return w == "" })
}

// plainWords returns a command without settings in the session's directory as words, or nil.
func plainWords(a *protocol.Approval, cwd string) []string {
	rest, _ := a.RestArguments()
	if a.Command == "" || rest != "" || elsewhere(a, cwd) || len(a.CommandSettings()) > 0 {
		return nil
	}
	if argv := argvOf(a.Input); argv != nil {
		return argv
	}
	return splitCommand(a.Command)
}

// elsewhere reports whether a request is for another directory than the session's, if that is
// known.
func elsewhere(a *protocol.Approval, cwd string) bool {
	return cwd != "" && a.CWD != "" && a.CWD != cwd
}

// argvOf returns the command in a tool's arguments, if it is a list of words.
func argvOf(input json.RawMessage) []string {
	var in struct {
		Command []string `json:"command"`
	}
	if json.Unmarshal(input, &in) != nil || len(in.Command) == 0 {
		return nil
	}
	return in.Command
}

// handleReview sends the client's answer to the shown request, which came with an id.
func (s *server) handleReview(id string, r *approvalResponse) {
	var a *protocol.Approval
	if s.sub.State != nil && s.shown.request != "" && !s.shown.deciding {
		a = s.sub.State.PendingApproval(s.shown.request)
	}
	if a == nil {
		s.failReply(id, nothingPending, nil)
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
		s.failWith(id, approvalFailed, answer.Error)
		if s.shown.request == d.Request {
			s.showApproval()
		}
	})
}

func decodeReview(a *protocol.Approval, r *approvalResponse, shown string) protocol.ApproveData {
	d := protocol.ApproveData{Request: a.Request, Decision: decisionOf(r.Review)}
	for _, words := range []*string{r.DenyMessage, r.Explanation} {
		if words != nil && *words != "" && d.Reason == "" {
			d.Reason = stripControls(*words)
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
func (s *server) approvalResolved(e *protocol.Event, d *protocol.ApprovalResolvedData) {
	if d.Request == s.shown.request {
		s.shown.replaced = !s.shown.deciding
		if s.shown.replaced && d.ByRule == "" && d.ByPolicy == "" {
			s.sendSystem(encodeDecision(e, d))
		}
	}
	s.releaseCall(d.Request)
	s.showNextApproval()
}

// encodeDecision returns the system message for another user's decision. decodeDecision is its
// inverse.
func encodeDecision(e *protocol.Event, d *protocol.ApprovalResolvedData) string {
	if e.By == nil {
		return requestOver + string(d.Outcome) + "."
	}
	return decidedIntro + e.By.Name + ": " + string(d.Outcome) + "."
}

const (
	requestOver  = "The request is over: "
	decidedIntro = "Decided by "
)

func decodeDecision(text string) (by *protocol.Actor, outcome protocol.Outcome, ok bool) {
	text, ok = strings.CutSuffix(text, ".")
	var name string
	if over, is := strings.CutPrefix(text, requestOver); is {
		outcome = protocol.Outcome(over)
	} else if decided, is := strings.CutPrefix(text, decidedIntro); is {
		at := max(0, strings.LastIndex(decided, ": "))
		name, outcome = decided[:at], protocol.Outcome(strings.TrimPrefix(decided[at:], ": "))
		by = &protocol.Actor{Name: name}
	}
	switch outcome {
	case protocol.Allowed, protocol.Denied, protocol.Expired, protocol.Cancelled:
		return by, outcome, ok
	}
	return nil, "", false
}

// approvalExplained sends the agent's explanation and repeats the request.
func (s *server) approvalExplained(e *protocol.Event, d *protocol.ApprovalExplainedData) {
	s.sendItem(newMessageItem(s.itemID(e, "explained"+strconv.FormatUint(e.Seq, 10)), assistant, d.Text))
	if d.Request == s.shown.request && s.sub.CaughtUp {
		s.showApproval()
	}
}
