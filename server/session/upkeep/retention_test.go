package upkeep

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"agentctl/protocol"
)

// A store has one byte per session, the most recently active one first.
type store []protocol.Summary

func (s *store) Size(context.Context) (int64, error) { return int64(len(*s)), nil }

func (s *store) remove(id string) {
	*s = slices.DeleteFunc(*s, func(sum protocol.Summary) bool { return sum.Session == id })
}

func TestRetentionRemovesUnusedSessionsAlone(t *testing.T) {
	start := time.Unix(1e9, 0)
	now := start.Add(5 * time.Hour)
	for name, c := range map[string]struct {
		retention Retention
		kept      []string // of five sessions, the oldest first; the first one is in use
	}{
		"none":     {Retention{}, []string{"0", "1", "2", "3", "4"}},
		"age":      {Retention{Age: 150 * time.Minute}, []string{"0", "3", "4"}},
		"sessions": {Retention{Sessions: 1}, []string{"0", "4"}},
		"bytes":    {Retention{Bytes: 3}, []string{"0", "3", "4"}},
	} {
		for use, set := range map[string]func(*protocol.Summary){
			"turn":      func(s *protocol.Summary) { s.Turn = "t" },
			"queue":     func(s *protocol.Summary) { s.Queue = 1 },
			"scheduled": func(s *protocol.Summary) { s.Scheduled = &now },
			"client":    func(s *protocol.Summary) { s.Clients = 1 },
		} {
			var s store
			for i := range 5 {
				sum := protocol.Summary{Session: fmt.Sprint(i), Updated: start.Add(time.Duration(i) * time.Hour)}
				if i == 0 {
					set(&sum)
				}
				s = append(store{sum}, s...)
			}
			unused := Remover{
				Retention: c.retention, Store: &s, Sessions: func() []protocol.Summary { return slices.Clone(s) },
			}
			for range 5 {
				for _, id := range unused.Expired(t.Context(), now) {
					s.remove(id)
				}
			}
			var kept []string
			for _, sum := range s {
				kept = append(kept, sum.Session)
			}
			slices.Sort(kept)
			if !slices.Equal(kept, c.kept) {
				t.Errorf("%s, with a %s: kept %q, want %q", name, use, kept, c.kept)
			}
		}
	}
}
