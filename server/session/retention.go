package session

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"agentctl/protocol"
)

// A Retention says which sessions are removed by themselves: those without activity for Age, those
// beyond the Sessions most recently active, and the oldest while the store holds more than Bytes.
// Zero fields remove nothing. A session whose turn runs, whose queue has messages or that a client
// watches is never removed.
type Retention struct {
	Age      time.Duration
	Sessions int
	Bytes    int64
}

// retentionInterval is the time between two looks for sessions to remove.
const retentionInterval = 10 * time.Second

// A Sizer is a Store that knows its size.
type Sizer interface {
	// Size returns the bytes of the store that hold rows.
	Size(ctx context.Context) (int64, error)
}

// retain removes sessions by the retention until the hub closes.
func (h *Hub) retain() {
	tick := time.NewTicker(retentionInterval)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			for _, id := range h.expired(now, h.cfg.Retention, h.cfg.Store) {
				h.removeUnused(id)
			}
		case <-h.stop:
			return
		}
	}
}

// expired returns the sessions to remove now. Of a store that is too large it returns one: the size
// is known again after its rows are gone.
func (h *Hub) expired(now time.Time, r Retention, store Store) []string {
	list := slices.DeleteFunc(h.list.List(true), func(s protocol.Summary) bool {
		return s.Turn != "" || s.Queue > 0 || s.Scheduled != nil || s.Clients > 0
	})
	var ids []string
	for i, s := range list {
		if r.Age > 0 && now.Sub(s.Updated) >= r.Age || r.Sessions > 0 && i >= r.Sessions {
			ids = append(ids, s.Session)
		}
	}
	if sizer, ok := store.(Sizer); ok && r.Bytes > 0 && len(ids) == 0 && len(list) > 0 {
		ctx, cancel := context.WithTimeout(context.Background(), retentionInterval)
		defer cancel()
		if size, err := sizer.Size(ctx); err != nil {
			h.log.Warn("size of the store", "err", err)
		} else if size > r.Bytes {
			ids = append(ids, list[len(list)-1].Session)
		}
	}
	return ids
}

// removeUnused removes a session, unless it is in use by now. It returns when that is done.
func (h *Hub) removeUnused(id string) {
	result := make(chan error, 1)
	cmd := &command{
		verb: protocol.DoClose, data: &protocol.CloseData{Delete: true, Reason: "retention"},
		by: protocol.Actor{Name: "retention"}, reply: func(_ json.RawMessage, err error) { result <- err },
	}
	err := h.ask(context.Background(), id, func(s *Session) {
		if sum := s.summarize(); sum.Turn != "" || sum.Queue > 0 || sum.Scheduled != nil || sum.Clients > 0 {
			result <- fmt.Errorf("it is in use")
			return
		}
		s.do(cmd)
	}, func(err error) { result <- err })
	if err == nil {
		select {
		case err = <-result:
		case <-h.stop:
			return
		}
	}
	if err != nil {
		h.log.Info("a session to be removed by retention stays", "session", id, "err", err)
		return
	}
	h.log.Info("removed by retention", "session", id)
}
