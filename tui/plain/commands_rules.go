package plain

import (
	"context"
	"strconv"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/remote"
)

// runRuleCommand lists the rules that allow requests, or revokes one.
func (c *client) runRuleCommand(verb, rest string) {
	out, rules := c.renderer, c.renderer.state.Rules
	if verb == "rules" {
		out.linef("%s", format.Count(len(rules), "rule"))
		for i := range rules {
			r := &rules[i]
			what := describe.Rule(r)
			if what == "" {
				what = r.Scope
			}
			out.linef("%d: %s, %s, by %s: %s", i+1, describe.Line(what, 0), r.Kind, remote.ActorName(&r.By),
				describe.Line(r.Scope, 0))
		}
		return
	}
	i, err := strconv.Atoi(rest)
	if err != nil || i < 1 || i > len(rules) {
		out.linef("/revoke N: no such rule: /rules lists them")
		return
	}
	rule, what := rules[i-1].ID, describe.Line(describe.Rule(&rules[i-1]), 0)
	c.enqueue(func(ctx context.Context) string {
		if err := c.session.Do(ctx, protocol.DoRulesRevoke, protocol.RulesRevokeData{Rule: rule}, nil); err != nil {
			return errorLine(ctx, "/revoke", err)
		}
		return "rule revoked: " + what
	})
}
