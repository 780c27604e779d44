package upkeep

import (
	"slices"
	"testing"
	"time"

	"agentctl/protocol"
)

// A session that its creator discards unused is removed a day after its last activity, unless it was used.
func TestUnusedSessionsAreRemovedWithoutARetention(t *testing.T) {
	start := time.Unix(1e9, 0)
	session := func(id string, change func(*protocol.Summary)) protocol.Summary {
		s := protocol.Summary{Session: id, Updated: start, Attributes: protocol.Attributes{DiscardUnused: true}}
		change(&s)
		return s
	}
	r := Remover{Sessions: func() []protocol.Summary {
		return []protocol.Summary{
			session("unused", func(*protocol.Summary) {}),
			session("kept", func(s *protocol.Summary) { s.DiscardUnused = false }),
			session("turn", func(s *protocol.Summary) { s.Turns = 1 }),
			session("queue", func(s *protocol.Summary) { s.Queue = 1 }),
			session("client", func(s *protocol.Summary) { s.Clients = 1 }),
			session("new", func(s *protocol.Summary) { s.Updated = start.Add(time.Hour) }),
		}
	}}
	for after, want := range map[time.Duration][]string{unusedAge - 1: nil, unusedAge: {"unused"}} {
		if got := r.Expired(t.Context(), start.Add(after)); !slices.Equal(got, want) {
			t.Errorf("after %s: removed %q, want %q", after, got, want)
		}
	}
}
