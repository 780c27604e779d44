package approval

import (
	"slices"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// decisionOption is an option of a request.
type decisionOption struct {
	protocol.Option
	asks   bool // the request asks questions
	page   bool // the request asks to open a page
	revise bool // denies and asks for a new plan
	row    formRow
}

// optionsOf returns the options of a request. A plan that can be denied has one more option: to
// revise it.
func optionsOf(r *protocol.Approval) decisionOptions {
	var out decisionOptions
	for _, o := range r.Offered() {
		out = append(out, decisionOption{Option: o, asks: len(r.Questions) > 0, page: r.Page != nil})
	}
	if r.Kind == protocol.ApprovePlan && r.Offers(protocol.Deny) {
		revise := protocol.Option{Kind: protocol.Deny, Label: "Revise with reason"}
		out = append(out, decisionOption{Option: revise, revise: true})
	}
	for i := range out {
		out[i].row = formRow{rowOption, 0, i}
	}
	return out
}

// allows reports whether the option allows the request.
func (o *decisionOption) allows() bool {
	return o.Kind == protocol.AllowOnce || o.Kind == protocol.AllowAlways
}

// name returns agentctl's name of the option. The agent's label is not a name: it may name another
// decision.
func (o *decisionOption) name() string {
	switch {
	case o.revise:
		return "Revise with reason"
	case o.page && o.Kind == protocol.AllowOnce:
		return "Opened"
	case o.asks && o.Kind == protocol.AllowOnce:
		return "Answer"
	case (o.asks || o.page) && o.Kind == protocol.Deny:
		return "Skip"
	case (o.asks || o.page) && o.Kind == protocol.DenyStop:
		return "Skip and stop the turn"
	}
	return map[protocol.Decision]string{
		protocol.AllowOnce:   "Allow once",
		protocol.AllowAlways: "Always allow",
		protocol.Deny:        "Deny",
		protocol.DenyStop:    "Deny and stop the turn",
		protocol.Explain:     "Explain first",
	}[o.Kind]
}

// agentLabel returns the agent's label on one line, or "" if it says no more than the name.
func (o *decisionOption) agentLabel() string {
	return format.JoinLines(transcript.Reveal(describe.Label(&o.Option)))
}

// details returns the agent's label and the scope of an option on one line.
func (o *decisionOption) details() string {
	scope := format.JoinLines(transcript.Reveal(o.Scope))
	return o.agentLabel() + ui.Prefixed(map[bool]string{true: " — "}[o.agentLabel() != ""], scope)
}

// decisionOptions are the options of a request.
type decisionOptions []decisionOption

// ofKind returns the first option of a kind, or nil.
func (l decisionOptions) ofKind(kind protocol.Decision) *decisionOption {
	if i := slices.IndexFunc(l, func(o decisionOption) bool { return o.Kind == kind }); i >= 0 {
		return &l[i]
	}
	return nil
}

// of returns the option of a row, or nil.
func (l decisionOptions) of(r formRow) *decisionOption {
	if r.kind != rowOption {
		return nil
	}
	return &l[r.index]
}

// labelled reports whether the agent gave an option a label that says more than agentctl's name.
func (l decisionOptions) labelled() bool {
	return slices.ContainsFunc(l, func(o decisionOption) bool { return o.agentLabel() != "" })
}
