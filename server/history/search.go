package history

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"agentctl/protocol"
	"agentctl/server/eventlog"
)

const (
	searchHits    = 50 // by default
	maxSearchHits = 200
	searchBytes   = 2 << 20          // of folded events read by one call; its last turn is read completely
	sessionCost   = 4 << 10          // bytes that opening a session counts for
	maxSearches   = 2                // running concurrently
	searchTimeout = 30 * time.Second // of a running one
)

// search validates a search command and runs it on a separate goroutine, which ends with ctx. It
// reads committed events from the store, without the session's goroutine.
func (r *Reader) search(
	ctx context.Context, name string, d *protocol.SearchData, reply func(json.RawMessage, error),
) error {
	query, err := protocol.ParseQuery(d.Query)
	if err != nil {
		return err
	}
	s := &search{reader: r, query: query, limit: searchHits, bytesLeft: searchBytes}
	s.result.Hits = []protocol.Hit{}
	if d.Limit > 0 {
		s.limit = min(d.Limit, maxSearchHits)
	}
	if name != "" {
		if s.only, err = r.sessions.Resolve(name); err != nil {
			return err
		}
	}
	var from cursor
	if d.Cursor != "" {
		if from, err = parseCursor(d.Cursor); err != nil {
			return err
		}
		if s.only != "" && from.Session != s.only {
			return protocol.Errorf(protocol.CodeInvalidMessage, "invalid cursor: it belongs to another session")
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ctx.Err() != nil {
		return errShuttingDown
	}
	r.searches.Go(func() {
		if err := s.run(ctx, from); err != nil {
			reply(nil, err)
			return
		}
		reply(protocol.MustEncode(s.result), nil)
	})
	return nil
}

var (
	errShuttingDown = protocol.Errorf(protocol.CodeShuttingDown, "the server is stopping")
	errClientGone   = protocol.Errorf(protocol.CodeTimeout, "the client of the search has left")
)

// A search is one running call. Owned by its goroutine.
type search struct {
	reader    *Reader
	query     *protocol.Query
	only      string // id of the one session to search; empty: all
	limit     int    // hits
	bytesLeft int
	result    protocol.SearchResult
}

// run searches sessions, newest first, from a cursor on until the call's bounds are reached; then
// it sets the result's cursor.
func (s *search) run(ctx context.Context, from cursor) error {
	select {
	case s.reader.slots <- struct{}{}:
		defer func() { <-s.reader.slots }()
	case <-s.reader.ctx.Done():
		return errShuttingDown
	case <-ctx.Done():
		return errClientGone
	}
	client := ctx
	ctx, cancel := context.WithTimeout(client, searchTimeout)
	defer cancel()
	for _, at := range s.sessions() {
		if from.Session != "" && compareCursors(at, from) < 0 {
			continue
		}
		if at.Session == from.Session {
			at = from
		}
		if s.exhausted() {
			s.result.Cursor = at.String()
			return nil
		}
		s.bytesLeft -= sessionCost
		err := s.session(ctx, at)
		switch {
		case err == nil:
		case client.Err() != nil:
			return errClientGone
		case ctx.Err() != nil:
			return protocol.Errorf(protocol.CodeTimeout, "the search took more than %s", searchTimeout)
		case s.only != "":
			return s.reader.readError(at.Session, err)
		case !errors.Is(err, eventlog.ErrNotFound): // that one was deleted since
			_ = s.reader.readError(at.Session, err) // logged
			s.result.Skipped = append(s.result.Skipped, at.Session)
		}
		if s.result.Cursor != "" {
			return nil
		}
	}
	return nil
}

// exhausted reports whether the call has reached its bounds.
func (s *search) exhausted() bool { return s.bytesLeft <= 0 || len(s.result.Hits) >= s.limit }

// sessions returns a cursor at the end of each session to search, newest session first.
func (s *search) sessions() []cursor {
	var list []cursor
	s.reader.sessions.Each(func(sum *protocol.Summary) {
		if s.only == "" || s.only == sum.Session {
			list = append(list, cursor{Session: sum.Session, Created: sum.Created, Below: math.MaxUint64})
		}
	})
	slices.SortFunc(list, compareCursors)
	return list
}

const (
	snippetLead = 40  // bytes before the first match
	snippetSize = 160 // bytes
)

// snippet returns one line of the text around the query's first match, and the matches in that
// line.
func snippet(q *protocol.Query, text string) (string, []protocol.Span) {
	first := q.Index(text)
	from := max(0, first-snippetLead)
	for from < first && !utf8.RuneStart(text[from]) {
		from++
	}
	to := min(len(text), from+snippetSize)
	for to > from && to < len(text) && !utf8.RuneStart(text[to]) {
		to--
	}
	line := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text[from:to])
	matches := q.Spans(line)
	if matches == nil {
		matches = []protocol.Span{} // the match is longer than the line
	}
	return line, matches
}
