package settings

import (
	"cmp"
	"slices"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/request"
	"agentctl/tui/sessionview/replica"
	"agentctl/tui/ui"
)

// Rules is the menu of rules. The user can revoke them.
type Rules struct {
	styles   *ui.Styles
	replica  *replica.Session
	commands *request.Sender
	revoking map[string]bool
}

// NewRules returns the menu of a session's rules.
func NewRules(s *ui.Styles, r *replica.Session, c *request.Sender) *Rules {
	return &Rules{styles: s, replica: r, commands: c, revoking: map[string]bool{}}
}

// Title implements [ui.Listing].
func (r *Rules) Title() string {
	return r.styles.Bold.Render("rules") + " · " + format.Count(len(r.replica.State.Rules), "rule")
}

// Empty implements [ui.Listing].
func (r *Rules) Empty() string { return "no rules: no request is always allowed" }

// Hint implements [ui.Listing].
func (r *Rules) Hint() string {
	return "↑↓ · " + r.styles.Keys.Hint(keymap.RevokeRule, "revoke: the agent asks again")
}

// Entries implements [ui.Listing].
func (r *Rules) Entries() []ui.Entry {
	list := r.replica.State.Rules
	out := make([]ui.Entry, len(list))
	for i := range list {
		rule := &list[i]
		text, scope := describe.Rule(rule), rule.Scope
		if text == "" {
			text, scope = scope, ""
		}
		details := rule.Kind + " · by " + remote.ActorName(&rule.By)
		if rule.By.Subject != "" {
			details += " (" + rule.By.Subject + ")"
		}
		details += " · " + r.styles.Date(rule.At)
		if scope != "" {
			details += " · " + scope
		}
		if r.revoking[rule.ID] {
			details += " · revoking …"
		}
		out[i] = ui.Entry{
			ID: rule.ID, Text: describe.Line(text, 0), Details: describe.Line(details, 0),
		}
	}
	return out
}

// Act implements [ui.Listing]. It asks before it revokes a rule.
func (r *Rules) Act(id, key string) ui.Response {
	if r.styles.Keys.At(keymap.Rules, key) != keymap.RevokeRule || r.revoking[id] {
		return ui.Response{}
	}
	i := slices.IndexFunc(r.replica.State.Rules, func(rule protocol.Rule) bool { return rule.ID == id })
	if i < 0 {
		return ui.Response{}
	}
	rule := &r.replica.State.Rules[i]
	title := "revoke the rule “" + describe.Line(cmp.Or(describe.Rule(rule), rule.Scope), 0) + "”? The agent asks again"
	return ui.Response{Push: ui.NewQuestion(r.styles, title, ui.Choice{Label: "Revoke", Run: func() tea.Cmd {
		r.revoking[id] = true
		data := protocol.RulesRevokeData{Rule: id}
		return r.commands.Send(protocol.DoRulesRevoke, data, nil, func(err error) tea.Cmd {
			delete(r.revoking, id)
			return r.commands.Report(err)
		})
	}})}
}
