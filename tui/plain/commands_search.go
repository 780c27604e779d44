package plain

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/remote"
)

const (
	maxHits        = 20 // hits printed by one /find
	maxSearchPages = 10 // requests of one /find; later commands wait for it
)

// search searches the session and prints the hits, newest first.
func (c *client) search(words string) {
	query, err := protocol.ParseQuery(words)
	if err != nil {
		c.renderer.linef("/find WORDS: %s", remote.ErrorText(err))
		return
	}
	zone := c.renderer.zone
	c.enqueue(func(ctx context.Context) string {
		var hits []string
		data := protocol.SearchData{Query: query.String(), Limit: maxHits}
		for range maxSearchPages {
			page := new(protocol.SearchResult)
			if err := c.session.Do(ctx, protocol.DoSearch, data, page); err != nil {
				return errorLine(ctx, "/find", err)
			}
			for i := range page.Hits {
				h := &page.Hits[i]
				at, kind := h.Time.In(zone).Format("2006-01-02 15:04"), describe.HitKinds[h.Kind]
				snippet := format.JoinLines(strings.TrimSpace(h.Snippet))
				hits = append(hits, fmt.Sprintf("%s %s, position %d: %s", at, kind, h.Seq, snippet))
			}
			if data.Cursor = page.Cursor; data.Cursor == "" || len(hits) >= maxHits {
				break
			}
		}
		return formatHits(hits, words, data.Cursor != "")
	})
}

// formatHits returns the output of a search. more reports that the search did not reach the start
// of the session.
func formatHits(hits []string, words string, more bool) string {
	switch {
	case len(hits) == 0 && more:
		return "“" + words + "” is not in the newest part of the session"
	case len(hits) == 0:
		return "no match for “" + words + "”"
	}
	title := format.Count(len(hits), "hit")
	if more || len(hits) > maxHits {
		hits = hits[:min(len(hits), maxHits)]
		title = "the newest " + format.Count(len(hits), "hit")
	}
	return title + " with “" + words + "”:\n" + strings.Join(hits, "\n")
}

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
