package sessionlist

import (
	"cmp"
	"slices"
	"strings"

	"agentctl/protocol"
)

// Find returns the sessions that match words, best first and at most limit, whatever the filter is.
// Each word must occur in the name, title, labels, directory, agent or id. Sessions whose name
// begins with the first word come first, then those whose name contains it, then others; the latest
// activity decides. Without words it returns the sessions with the latest activity.
func (l *List) Find(text string, limit int) []protocol.Summary {
	words := strings.Fields(strings.ToLower(text))
	var filter []term
	for _, w := range words {
		filter = append(filter, term{value: w})
	}
	type hit struct {
		rank int
		row  *row
	}
	var hits []hit
	for _, r := range l.rows {
		if !r.meetsAll(filter) {
			continue
		}
		h := hit{2, r}
		if len(words) > 0 {
			switch i := strings.Index(r.lowerName, words[0]); {
			case i == 0:
				h.rank = 0
			case i > 0:
				h.rank = 1
			}
		}
		hits = append(hits, h)
	}
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), b.row.Updated.Compare(a.row.Updated), compareID(a.row, b.row))
	})
	out := make([]protocol.Summary, 0, min(limit, len(hits)))
	for _, h := range hits[:min(limit, len(hits))] {
		out = append(out, h.row.Summary)
	}
	return out
}
