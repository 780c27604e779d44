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
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/ui"
)

// rules is the state of the menu of rules. The user can revoke them.
type rules struct {
	panel.Base
	revoking map[string]bool
}

// NewRules returns the menu of a session's rules.
func NewRules(b panel.Base) *ui.Menu {
	r, s := &rules{b, map[string]bool{}}, b.Styles
	var m *ui.Menu
	m = ui.NewMenu(s, ui.List[ui.Entry]{
		Title: func(_, n, _ int) string { return s.Bold.Render("rules") + " · " + format.Count(n, "rule") },
		Empty: func(string) string { return " no rules: no request is always allowed" },
		Hint: func() string {
			return "↑↓ · " + s.Keys.Hint(keymap.Remove, "revoke: the agent asks again")
		},
		Status: func() string { return b.Commands.Status.Text },
		Rows:   func(string) []ui.Entry { return r.entries() },
		Press: func(key string) (ui.Response, bool) {
			rule, ok := m.Selected()
			if !ok || s.Keys.At(keymap.Lists, key) != keymap.Remove {
				return ui.Response{}, false
			}
			return r.revoke(rule.ID), true
		},
	})
	return m
}

// entries returns the rules.
func (r *rules) entries() []ui.Entry {
	list := r.Replica.State.Rules
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
		details += " · " + r.Styles.Date(rule.At)
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

// revoke asks before it revokes a rule.
func (r *rules) revoke(id string) ui.Response {
	i := slices.IndexFunc(r.Replica.State.Rules, func(rule protocol.Rule) bool { return rule.ID == id })
	if i < 0 || r.revoking[id] {
		return ui.Response{}
	}
	rule := &r.Replica.State.Rules[i]
	title := "revoke the rule “" + describe.Line(cmp.Or(describe.Rule(rule), rule.Scope), 0) + "”? The agent asks again"
	return ui.Response{Push: ui.NewQuestion(r.Styles, title, ui.Choice{Label: "Revoke", Run: func() tea.Cmd {
		r.revoking[id] = true
		data := protocol.RulesRevokeData{Rule: id}
		return r.Commands.Send(protocol.DoRulesRevoke, data, nil, func(err error) tea.Cmd {
			delete(r.revoking, id)
			return r.Commands.Report(err)
		})
	}})}
}
