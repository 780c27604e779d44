package session

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"time"

	"agentctl/protocol"
)

const (
	searchHits  = 50
	searchMost  = 200
	searchBytes = 2 << 20 // of folded events that one call looks through, but for the last turn, which is read whole
	searchCost  = 4 << 10 // what looking into a session counts for beside its events
	searchers   = 2       // searches that run at once
	searchTime  = 30 * time.Second
)

// A place is where a search goes on: with the turns of a session that begin below a seq, and before them with what one turn
// holds below an item. Sessions made before that one follow. As a cursor it is opaque to clients.
type place struct {
	Session string    `json:"s"`
	Created time.Time `json:"c"`
	Below   uint64    `json:"b"`
	Turn    uint64    `json:"t,omitempty"` // the first seq of the turn that is left in part; 0: none is
	Item    int       `json:"i,omitempty"`
}

func (p place) cursor() string { return base64.RawURLEncoding.EncodeToString(protocol.MustEncode(p)) }

func placeOf(cursor string) (place, error) {
	var p place
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err == nil {
		err = json.Unmarshal(raw, &p)
	}
	if err != nil || p.Session == "" {
		return p, protocol.Errorf(protocol.CodeInvalidMessage, "cursor: not one of this server's")
	}
	return p, nil
}

// search answers off the caller's goroutine: it reads the store, and no session hears of it. What it finds is durable.
func (h *Hub) search(name string, d *protocol.SearchData, reply func(json.RawMessage, error)) error {
	query, err := protocol.ParseQuery(d.Query)
	if err != nil {
		return err
	}
	s := &search{hub: h, query: query, limit: searchHits, left: searchBytes}
	s.result.Hits = []protocol.Hit{}
	if d.Limit > 0 {
		s.limit = min(d.Limit, searchMost)
	}
	if name != "" {
		if s.only, err = h.Resolve(name); err != nil {
			return err
		}
	}
	var from place
	if d.Cursor != "" {
		if from, err = placeOf(d.Cursor); err != nil {
			return err
		}
		if s.only != "" && from.Session != s.only {
			return protocol.Errorf(protocol.CodeInvalidMessage, "cursor: of another session")
		}
	}
	if !h.enter() {
		return stopping()
	}
	go func() {
		defer h.sessions.Done()
		ctx, cancel := context.WithTimeout(context.Background(), searchTime)
		defer cancel()
		if err := s.run(ctx, from); err != nil {
			reply(nil, err)
			return
		}
		reply(protocol.MustEncode(s.result), nil)
	}()
	return nil
}

// A search is one call under way.
type search struct {
	hub    *Hub
	query  *protocol.Query
	only   string // the one session; empty: all
	limit  int
	left   int // bytes
	result protocol.SearchResult
}

func (s *search) run(ctx context.Context, from place) error {
	select {
	case s.hub.searching <- struct{}{}:
		defer func() { <-s.hub.searching }()
	case <-s.hub.stop:
		return stopping()
	}
	for _, at := range s.hub.places(s.only) {
		if from.Session != "" && order(at, from) < 0 {
			continue
		}
		if at.Session == from.Session {
			at = from
		}
		if s.full() {
			s.result.Cursor = at.cursor()
			return nil
		}
		s.left -= searchCost
		err := s.session(ctx, at)
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return protocol.Errorf(protocol.CodeTimeout, "the search took more than %s", searchTime)
		case s.only != "":
			return s.hub.unreadable(at.Session, err)
		case !errors.Is(err, ErrNotFound): // removed meanwhile
			_ = s.hub.unreadable(at.Session, err) // logged
			s.result.Skipped = append(s.result.Skipped, at.Session)
		}
		if s.result.Cursor != "" {
			return nil
		}
	}
	return nil
}

// full reports whether the call has done its part.
func (s *search) full() bool { return s.left <= 0 || len(s.result.Hits) >= s.limit }

// places returns where sessions begin: all of them, those made last first, or only one.
func (h *Hub) places(only string) []place {
	h.mu.Lock()
	defer h.mu.Unlock()
	var list []place
	for id, r := range h.rows {
		if only == "" || only == id {
			list = append(list, place{Session: id, Created: r.summary.Created, Below: math.MaxUint64})
		}
	}
	slices.SortFunc(list, order)
	return list
}

func order(a, b place) int {
	return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(a.Session, b.Session))
}
