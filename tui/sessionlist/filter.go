package sessionlist

import (
	"slices"
	"strings"

	"agentctl/protocol"
)

// Keys of the terms KEY:VALUE of a filter.
const (
	keyStatus = "status"
	keyAgent  = "agent"
	keyLabel  = "label"
	keyDir    = "dir"
	keyServer = "server"
)

// filterKeys lists the keys. The one of servers is the last.
var filterKeys = []string{keyStatus, keyAgent, keyLabel, keyDir, keyServer}

// term is a condition of a filter: a word of the searched text, or a key with a value. The value is
// in lower case.
type term struct {
	key   string // "": a word
	value string
}

// parseFilter returns the terms of a filter, which all must hold.
func parseFilter(text string) []term {
	var out []term
	for _, word := range strings.Fields(strings.ToLower(text)) {
		key, value, ok := strings.Cut(word, ":")
		if ok && slices.Contains(filterKeys, key) {
			if value != "" { // the value is not typed yet
				out = append(out, term{key, value})
			}
			continue
		}
		out = append(out, term{value: word})
	}
	return out
}

// matches reports whether the row is shown with a filter: it meets all terms and, unless one of them
// names archived sessions, is not archived or waits.
func (r *row) matches(filter []term) bool {
	hidden := r.Archived() && r.ownGroup() != NeedsYou
	return r.meetsAll(filter) && (!hidden || slices.ContainsFunc(filter, func(t term) bool {
		return t.key == keyLabel && strings.HasPrefix(t.value, protocol.LabelArchived)
	}))
}

// meetsAll reports whether the row meets all terms.
func (r *row) meetsAll(filter []term) bool {
	for i := range filter {
		if !r.meets(&filter[i]) {
			return false
		}
	}
	return true
}

// meets reports whether the row meets one term.
func (r *row) meets(t *term) bool {
	switch t.key {
	case keyStatus:
		return strings.HasPrefix(r.statusWord(), t.value)
	case keyAgent:
		return strings.Contains(strings.ToLower(r.Agent), t.value)
	case keyServer:
		return strings.HasPrefix(strings.ToLower(r.server), t.value)
	case keyDir:
		return strings.Contains(strings.ToLower(r.CWD), t.value)
	case keyLabel:
		key, value, hasValue := strings.Cut(t.value, "=")
		for k, v := range r.Labels {
			k, v = strings.ToLower(k), strings.ToLower(v)
			if hasValue && k == key && strings.HasPrefix(v, value) || !hasValue && strings.HasPrefix(k, key) {
				return true
			}
		}
		return false
	}
	return strings.Contains(r.searchText, t.value)
}

// statusWord returns the value of status: that the row has.
func (r *row) statusWord() string {
	switch g := r.ownGroup(); {
	case g == NeedsYou && r.Status != protocol.Waiting:
		return "held"
	case g == Failed:
		return "failed"
	case g == Unread:
		return "unread"
	}
	return string(r.Status)
}

// FilterKeys returns the keys that a filter may have, each with its colon: server: only if the
// sessions have servers.
func FilterKeys(servers bool) string {
	keys := filterKeys
	if !servers {
		keys = keys[:len(keys)-1]
	}
	return strings.Join(keys, ": ") + ":"
}
