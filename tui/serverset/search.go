package serverset

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"agentctl/protocol"
)

// searchTimeout bounds a page of hits of a server that is not home.
const searchTimeout = 10 * time.Second

// Search searches one server after another, home first. A server that fails or stays silent is
// skipped, unless it is home. The cursor names the next server and the cursor there.
func (s *Set) Search(ctx context.Context, d protocol.SearchData) (protocol.SearchResult, error) {
	i, there, err := s.parseCursor(d.Cursor)
	if err != nil {
		return protocol.SearchResult{}, err
	}
	d.Cursor = there
	r, err := s.searchMember(ctx, i, d)
	switch {
	case err != nil && (i == 0 || ctx.Err() != nil):
		return protocol.SearchResult{}, err
	case err != nil:
		r = protocol.SearchResult{Skipped: []string{s.members[i].Name}}
	}
	for k := range r.Hits {
		r.Hits[k].Session = s.idOf(i, r.Hits[k].Session)
	}
	switch {
	case r.Cursor != "":
		r.Cursor = strconv.Itoa(i) + separator + r.Cursor
	case i+1 < len(s.members):
		r.Cursor = strconv.Itoa(i+1) + separator
	}
	return r, nil
}

func (s *Set) searchMember(ctx context.Context, i int, d protocol.SearchData) (protocol.SearchResult, error) {
	if i > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, searchTimeout)
		defer cancel()
	}
	return s.members[i].Server.Search(ctx, d)
}

// parseCursor returns the server that a cursor names, and the cursor there.
func (s *Set) parseCursor(cursor string) (member int, there string, err error) {
	if cursor == "" {
		return 0, "", nil
	}
	number, there, ok := strings.Cut(cursor, separator)
	member, err = strconv.Atoi(number)
	if !ok || err != nil || member < 0 || member >= len(s.members) {
		return 0, "", fmt.Errorf("search: invalid cursor %q", cursor)
	}
	return member, there, nil
}
