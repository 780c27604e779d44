package approval

import (
	"cmp"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/filechange"
	"agentctl/tui/keymap"
	"agentctl/tui/review"
	"agentctl/tui/ui"
)

// Record is a request and how it ended.
type Record struct {
	Request  *protocol.Approval
	Resolved *protocol.ApprovalResolvedData // nil: it waits for a decision
	By       *protocol.Actor                // decided it; nil: nobody
	Dir      string                         // of the session
}

// NewRecord returns a view of the whole request that decides nothing: what was asked, what was decided
// by whom and when, and what was edited.
func NewRecord(s *ui.Styles, r Record) ui.Overlay {
	request := *r.Request
	if in := r.input(); in != nil {
		request.Command, request.Patch = cmp.Or(in.Command, request.Command), cmp.Or(in.Patch, request.Patch)
	}
	f := NewForm(s, &request)
	f.options = nil
	f.card = card{requested: r.Request.Command, directory: r.Dir, readOnly: true, outcome: r.outcome(s), asked: r.asked()}
	part := &requestPart{form: f, request: &request}
	part.lines(minWidth)
	changes := f.card.changes.Changes
	if changes == nil {
		changes = filechange.New(nil)
	}
	title := KindName(request.Kind) + keymap.Separator + "waiting"
	if r.Resolved != nil {
		title = KindName(request.Kind) + keymap.Separator + "decided"
	}
	return review.New(s, title, review.Content{Changes: changes, Head: part})
}

// input returns what the user sent with the decision, or nil.
func (r *Record) input() *protocol.ApprovalInput {
	if r.Resolved == nil {
		return nil
	}
	return r.Resolved.Input
}

// outcome returns how the request ended, when it was asked, and the answers of the user.
func (r *Record) outcome(s *ui.Styles) []Section {
	out := []Section{{Label: "asked", Text: strings.TrimSpace(s.ShortDate(r.Request.Asked) + " " + describe.Asker(r.Request))}}
	if r.Resolved == nil {
		return out
	}
	when := ""
	if at := r.Resolved.At; at != nil {
		when = s.ShortDate(*at)
	}
	out = append(out, Section{Label: "decided", Text: describe.Outcome(r.Request, r.Resolved, r.By, when), Prose: true})
	in := r.input()
	if in == nil {
		return out
	}
	for i := range r.Request.Questions {
		q := &r.Request.Questions[i]
		given := slices.Clone(in.Answers[q.ID])
		for j, answer := range given {
			if at := slices.IndexFunc(q.Choices, func(c protocol.Choice) bool { return c.ID == answer }); at >= 0 {
				given[j] = cmp.Or(q.Choices[at].Label, answer)
			}
		}
		if len(given) > 0 {
			out = append(out, Section{Label: "answer", Text: strings.Join(given, "\n"), Prose: true})
		}
	}
	for i := range in.Tasks {
		out = append(out, Section{Label: "kept", Text: in.Tasks[i].Title, Prose: true})
	}
	return out
}

// asked returns what the agent asked for, where the user edited it.
func (r *Record) asked() (out []Section) {
	in := r.input()
	if in == nil {
		return nil
	}
	if in.Command != "" && in.Command != r.Request.Command {
		out = append(out, Section{Label: "was", Text: r.Request.Command, Exact: true})
	}
	if in.Patch != "" && in.Patch != r.Request.Patch {
		out = append(out, Section{Label: "was", Text: r.Request.Patch, Exact: true})
	}
	return out
}
