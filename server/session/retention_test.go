package session

import (
	"context"
	"slices"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/session/upkeep"
)

// sizedStore is a store of one byte per session.
type sizedStore struct{ Store }

func (s sizedStore) Size(ctx context.Context) (int64, error) {
	n := int64(0)
	for _, err := range s.Sessions(ctx) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

func TestRetentionRemovesUnusedSessionsAlone(t *testing.T) {
	for name, c := range map[string]struct {
		retention upkeep.Retention
		kept      []int // of five sessions, the oldest first; the first one has a running turn
	}{
		"none":     {upkeep.Retention{}, []int{0, 1, 2, 3, 4}},
		"age":      {upkeep.Retention{Age: 150 * time.Minute}, []int{0, 3, 4}},
		"sessions": {upkeep.Retention{Sessions: 1}, []int{0, 4}},
		"bytes":    {upkeep.Retention{Bytes: 3}, []int{0, 3, 4}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, Config{}, func(t *testing.T, r *testHub) {
				var ids []string
				for i := range 5 {
					ids = append(ids, r.create())
					if i == 0 {
						r.send(ids[0], "work")
						defer r.agents.run().finish(agent.End{}, nil)
					}
					time.Sleep(time.Hour)
				}
				unused := upkeep.Remover{
					Retention: c.retention, Store: sizedStore{r.store},
					Sessions: func() []protocol.Summary { return r.hub.list.List(true) },
				}
				for range 5 {
					for _, id := range unused.Expired(time.Now()) {
						r.hub.removeUnused(id)
					}
					r.waitIdle()
				}
				var kept []int
				for _, s := range r.hub.Sessions().List(true) {
					kept = append(kept, slices.Index(ids, s.Session))
				}
				slices.Sort(kept)
				if !slices.Equal(kept, c.kept) {
					t.Errorf("kept %v, want %v", kept, c.kept)
				}
				r.hub.removeUnused(ids[0])
				if st := r.state(ids[0]); st.Turn == nil || st.Closed {
					t.Error("a session at work was removed")
				}
			})
		})
	}
}

func TestRetentionRunsByItself(t *testing.T) {
	bubble(t, Config{Retention: upkeep.Retention{Age: time.Hour}}, func(t *testing.T, r *testHub) {
		r.create()
		time.Sleep(time.Hour + time.Minute)
		r.waitIdle()
		if list := r.hub.Sessions().List(true); len(list) > 0 {
			t.Errorf("kept %v", list[0].Session)
		}
	})
}
