package plain

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/remote"
	"agentctl/tui/ui"
)

const (
	findLines = 20 // places that /find tells
	findPages = 10 // and how often it asks for them: other commands wait meanwhile
)

// find tells where words are, the newest first.
func (p *plainSession) find(words string) {
	query, err := protocol.ParseQuery(words)
	if err != nil {
		p.renderer.line("/find WORDS: %s", remote.ErrorText(err))
		return
	}
	zone := p.renderer.zone
	p.enqueue(func(ctx context.Context) string {
		var places []string
		ask := protocol.SearchData{Query: query.String(), Limit: findLines}
		for range findPages {
			page := new(protocol.SearchResult)
			if err := p.session.Do(ctx, protocol.DoSearch, ask, page); err != nil {
				return errorLine(ctx, "find", err)
			}
			for i := range page.Hits {
				h := &page.Hits[i]
				places = append(places, fmt.Sprintf("%s %s, position %d: %s", h.Time.In(zone).Format("2006-01-02 15:04"), describe.HitKinds[h.Kind], h.Seq, ui.OneLine(strings.TrimSpace(h.Snippet))))
			}
			if ask.Cursor = page.Cursor; ask.Cursor == "" || len(places) >= findLines {
				break
			}
		}
		return foundText(places, words, ask.Cursor != "")
	})
}

// foundText is what came of looking for words; more tells that not all was looked through.
func foundText(places []string, words string, more bool) string {
	switch {
	case len(places) == 0 && more:
		return "“" + words + "” is not in what was said last"
	case len(places) == 0:
		return "“" + words + "” is not there"
	}
	said := ui.Count(len(places), "hit")
	if more || len(places) > findLines {
		places = places[:min(len(places), findLines)]
		said = "the newest " + ui.Count(len(places), "hit")
	}
	return said + " with “" + words + "”:\n" + strings.Join(places, "\n")
}

// rules tells what is allowed without asking, or takes one of it back.
func (p *plainSession) rules(verb, rest string) {
	n, rules := p.renderer, p.renderer.state.Rules
	if verb == "rules" {
		n.line("%s", ui.Count(len(rules), "rule"))
		for i := range rules {
			r := &rules[i]
			what := describe.Rule(r)
			if what == "" {
				what = r.Scope
			}
			n.line("%d: %s, %s, by %s", i+1, ui.OneLine(what), r.Kind, remote.ActorName(&r.By))
		}
		return
	}
	i, err := strconv.Atoi(rest)
	if err != nil || i < 1 || i > len(rules) {
		n.line("/revoke N: which one? /rules numbers them")
		return
	}
	rule, what := rules[i-1].ID, ui.OneLine(describe.Rule(&rules[i-1]))
	p.enqueue(func(ctx context.Context) string {
		if err := p.session.Do(ctx, protocol.DoRulesRevoke, protocol.RulesRevokeData{Rule: rule}, nil); err != nil {
			return errorLine(ctx, "revoke", err)
		}
		return "not allowed without asking any more: " + what
	})
}
