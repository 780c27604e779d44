package tui

import (
	"strings"

	"agentctl/tui/keymap"
	"agentctl/tui/remote"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/transcript"
)

// rules lists what is allowed without asking, and takes it back.
type rules struct {
	look     *look
	revoking map[string]bool
}

func (m *model) showRules() {
	m.menu = &menu{look: m.look, of: &rules{look: m.look, revoking: map[string]bool{}}}
}

func (r *rules) title(s *protocol.State) string {
	return r.look.bold.Render("rules") + " · " + count(len(s.Rules), "thing") + " allowed without asking"
}

func (r *rules) none() string { return "nothing is allowed without asking" }

func (r *rules) hint() string {
	return "↑↓ · " + r.look.keys.Hint(keymap.RevokeRule, "revokes: the agent asks again")
}

func (r *rules) entries(s *protocol.State) []entry {
	out := make([]entry, len(s.Rules))
	for i := range s.Rules {
		rule := &s.Rules[i]
		what, scope := matches(rule), rule.Scope
		if what == "" {
			what, scope = scope, ""
		}
		about := rule.Kind + " · by " + remote.ActorName(&rule.By)
		if rule.By.Subject != "" {
			about += " (" + rule.By.Subject + ")"
		}
		about += " · " + r.look.date(rule.At)
		if scope != "" {
			about += " · " + scope
		}
		if r.revoking[rule.ID] {
			about += " · revoking …"
		}
		out[i] = entry{rule.ID, oneLine(transcript.Reveal(what)), oneLine(transcript.Reveal(about))}
	}
	return out
}

// matches is what a rule matches, for people: a command without the directory
// before it, or the paths of a patch.
func matches(r *protocol.Rule) string {
	parts := strings.Split(r.Subject, "\x00")
	if r.Kind == protocol.ApproveCommand && len(parts) > 1 {
		return "$ " + strings.Join(parts[1:], " ")
	}
	return strings.Join(parts, ", ")
}

func (r *rules) act(m *model, id, key string) tea.Cmd {
	if r.look.keys.At(keymap.Rules, key) != keymap.RevokeRule || r.revoking[id] {
		return nil
	}
	r.revoking[id] = true
	return m.do(protocol.DoRulesRevoke, protocol.RulesRevokeData{Rule: id}, nil, func(err error) tea.Cmd {
		delete(r.revoking, id)
		return m.tell(err)
	})
}
