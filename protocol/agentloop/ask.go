package agentloop

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"agentctl/protocol"
)

// asking is the request that the client is shown: one at a time, since its answers name none.
type asking struct {
	shown    string // request
	patch    string // as shown
	at       time.Time
	replaced bool // it follows one that somebody else decided while the client was looking at it
	deciding bool // the client answered, our server has not
}

// glance is how quick an answer must be to be taken for one to the request that was there before.
const glance = time.Second

// ask shows the oldest pending request, unless one is shown.
func (s *Server) ask() {
	if !s.caughtUp || s.state == nil || s.state.PendingApproval(s.asked.shown) != nil {
		return
	}
	replaced := s.asked.replaced
	s.asked = asking{}
	for i := range s.state.Approvals {
		if a := &s.state.Approvals[i]; s.state.RuleFor(a) == nil { // else it is decided as soon as it is asked
			s.asked = asking{shown: a.Request, replaced: replaced}
			s.askAgain()
			return
		}
	}
}

// askAgain shows the request once more: what a client has answered it shows no longer.
func (s *Server) askAgain() {
	a := s.state.PendingApproval(s.asked.shown)
	if a == nil {
		return
	}
	s.asked.at, s.asked.deciding, s.asked.patch = s.now, false, patchOf(a)
	r := approvalRequest{Command: commandOf(a, s.asked.patch)}
	if s.asked.patch != "" {
		r.ApplyPatch = &applyPatch{Patch: s.asked.patch, ReadOnly: !a.Editable}
	}
	s.turn.failed = false // it goes on
	s.say(approvalRequestType, r)
}

// commandOf is what an approval is about, in words.
func commandOf(a *protocol.Approval, patch string) []string {
	title := a.Title
	switch a.Kind {
	case protocol.ApproveCommand:
		if argv := argvOf(a.Input); argv != nil && (a.Command == "" || join(argv) == a.Command) {
			return argv
		}
		if a.Command != "" {
			return wordsOf(a.Command)
		}
	case protocol.ApprovePatch:
		if patch == "" {
			patch = strings.Join(append([]string{title}, a.Paths...), "\n")
		}
		return []string{"apply_patch", patch}
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
	words := []string{a.Name, title}
	if a.Command != "" {
		words = append(words, a.Command)
	}
	if len(a.Input) > 0 {
		words = append(words, string(a.Input))
	}
	return slices.DeleteFunc(words, func(w string) bool { return w == "" })
}

// argvOf is the command in a tool's arguments, where that is a list of words.
func argvOf(input json.RawMessage) []string {
	var in struct {
		Command []string `json:"command"`
	}
	if json.Unmarshal(input, &in) != nil || len(in.Command) == 0 {
		return nil
	}
	return in.Command
}

// decide takes the client's answer to the request that it is shown.
func (s *Server) decide(r *approvalResponse) {
	var a *protocol.Approval
	if s.state != nil && s.asked.shown != "" && !s.asked.deciding {
		a = s.state.PendingApproval(s.asked.shown)
	}
	if a == nil {
		s.fail(nothingPending, nil)
		return
	}
	if s.asked.replaced && s.now.Sub(s.asked.at) < glance {
		s.asked.replaced = false
		s.fail("Somebody else has decided that request; this is another one", nil)
		s.askAgain()
		return
	}
	d := decisionFrom(a, r, s.asked.patch)
	s.asked.deciding = true
	s.native.Do(s.out, protocol.DoApprove, s.session, "", d, func(answer protocol.Answer) {
		if answer.Error == nil {
			return // the event tells it
		}
		s.refused(approvalFailed, answer.Error)
		if s.asked.shown == d.Request {
			s.askAgain()
		}
	})
}

func decisionFrom(a *protocol.Approval, r *approvalResponse, shown string) protocol.ApproveData {
	d := protocol.ApproveData{Request: a.Request, Decision: decisionOf(r.Review)}
	for _, words := range []*string{r.DenyMessage, r.Explanation} {
		if words != nil && *words != "" && d.Reason == "" {
			d.Reason = clean(*words)
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

// resolved goes on after a request was decided, by whomever.
func (s *Server) resolved(e *protocol.Event, d *protocol.ApprovalResolvedData) {
	if d.Request == s.asked.shown {
		s.asked.replaced = !s.asked.deciding
		if s.asked.replaced && d.ByRule == "" {
			s.tell(said("", system, decidedText(e, d)))
		}
	}
	s.tellWaited(d.Request)
	s.ask()
}

// decidedText says in a system message how a request ended that somebody else decided; decidedBy reads it at the other end.
func decidedText(e *protocol.Event, d *protocol.ApprovalResolvedData) string {
	if e.By == nil {
		return requestOver + string(d.Outcome) + "."
	}
	return decidedIntro + e.By.Name + ": " + string(d.Outcome) + "."
}

const (
	requestOver  = "The request is over: "
	decidedIntro = "Decided by "
)

func decidedBy(text string) (by *protocol.Actor, outcome protocol.Outcome, ok bool) {
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

// explained shows why the agent wants it, and asks again.
func (s *Server) explained(e *protocol.Event, d *protocol.ApprovalExplainedData) {
	s.tell(said(s.id(e, "explained"+strconv.FormatUint(e.Seq, 10)), assistant, d.Text))
	if d.Request == s.asked.shown && s.caughtUp {
		s.askAgain()
	}
}
