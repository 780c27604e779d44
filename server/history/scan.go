package history

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"agentctl/protocol"
	"agentctl/server/eventlog"
)

const (
	scanTurns  = 64        // turn rows fetched in one call
	scanEvents = 8192      // events of turns scanned together, unless one turn has more
	scanBytes  = 512 << 10 // target size of turns scanned together
	maxPending = 8 << 20   // bytes of a turn reduced as a whole: a longer turn is scanned in pieces
)

// session scans one session from a cursor, newest turn first, to its start or until the call's
// bounds are reached; then it sets the result's cursor.
func (s *search) session(ctx context.Context, from cursor) error {
	store := s.reader.store
	below := from.Below
	if from.Turn != 0 {
		below = from.Turn + 1
	}
	newest, err := store.Turns(ctx, from.Session, 0, 1)
	if err != nil {
		return err
	}
	last := uint64(0) // seq of the last finished turn's end
	if len(newest) > 0 {
		last = newest[0].Last
	}
	if below > last+1 {
		if done, err := s.scan(ctx, from, last, math.MaxUint64); done || err != nil {
			return err
		}
		below = last + 1
	}
	for step := uint64(512); ; { // events per scan, adapted to scanBytes
		rows, err := store.Turns(ctx, from.Session, below, scanTurns)
		if len(rows) == 0 || err != nil {
			return err
		}
		for len(rows) > 0 {
			if s.exhausted() {
				s.result.Cursor = cursor{Session: from.Session, Created: from.Created, Below: below}.String()
				return nil
			}
			n := 1
			for n < len(rows) && rows[0].Last-rows[n].First < step {
				n++
			}
			left := s.bytesLeft
			if done, err := s.scan(ctx, from, rows[n-1].First-1, rows[0].Last); done || err != nil {
				return err
			}
			if left-s.bytesLeft < scanBytes {
				step = min(2*step, scanEvents)
			} else {
				step = max(step/2, 1)
			}
			below, rows = rows[n-1].First, rows[n:]
		}
	}
}

// scan adds the hits of the turns within (after, through] to the result. It reports whether the
// call has its hits before their start; then the result's cursor is set.
func (s *search) scan(ctx context.Context, from cursor, after, through uint64) (bool, error) {
	sc := &scanner{search: s, from: from, most: s.limit - len(s.result.Hits)}
	read, err := sc.read(ctx, after, through)
	if err != nil {
		return false, err
	}
	s.bytesLeft -= read
	matches := sc.newest()
	for _, m := range matches {
		s.result.Hits = append(s.result.Hits, m.Hit)
	}
	if sc.more {
		oldest := matches[len(matches)-1]
		s.result.Cursor = cursor{
			Session: from.Session, Created: from.Created, Turn: oldest.First, Item: oldest.item,
		}.String()
	}
	return sc.more, nil
}

// A scanner finds the newest hits in a range of turns. It reads the range from its start, because
// turns are reduced from their first event.
type scanner struct {
	*search
	from    cursor
	most    int // hits wanted
	matches []match
	more    bool // older hits exist

	transcript protocol.Transcript // the current turn
	size       int                 // bytes of the current piece
	items      int                 // items in earlier pieces of the turn
}

// A match is a hit and the number of its item in the turn.
type match struct {
	protocol.Hit
	item int
}

// read scans the events within (after, through] and returns their size in bytes.
func (sc *scanner) read(ctx context.Context, after, through uint64) (int, error) {
	total := 0
	for line, err := range eventlog.Lines(ctx, sc.reader.store, sc.from.Session, after, through) {
		if err != nil {
			return total, err
		}
		if err := sc.event(line); err != nil {
			return total, err
		}
		total += len(line)
	}
	sc.matchTurn()
	return total, nil
}

// event applies an event. The first event of a turn completes the turn before it.
func (sc *scanner) event(line []byte) error {
	var e protocol.Event
	if err := json.Unmarshal(line, &e); err != nil {
		return fmt.Errorf("decode event: %w", err)
	}
	if e.Type == protocol.MessageUser {
		sc.matchTurn()
		sc.transcript.Turns, sc.size, sc.items = nil, 0, 0
	} else if sc.size > maxPending {
		sc.nextPiece()
	}
	sc.size += len(line)
	if _, err := sc.transcript.Apply(&e); err != nil {
		return fmt.Errorf("apply event: %w", err)
	}
	return nil
}

// nextPiece matches the items read so far of a long turn and drops them.
func (sc *scanner) nextPiece() {
	sc.matchTurn()
	t := sc.transcript.Current()
	if t == nil {
		return
	}
	sc.items += len(t.Items)
	sc.size = 0
	sc.transcript.Turns = []*protocol.Turn{t.Rest()}
}

// matchTurn matches the current turn, or the current piece of it, as far as it lies before the
// cursor.
func (sc *scanner) matchTurn() {
	t := sc.transcript.Current()
	if t == nil || sc.from.Turn == 0 && t.First >= sc.from.Below || sc.from.Turn != 0 && t.First > sc.from.Turn {
		return
	}
	for item, text := range texts(t) {
		switch {
		case item == messageItem && sc.items > 0:
			continue // matched with the first piece
		case item != messageItem && item != endItem:
			item += sc.items
		}
		if (t.First != sc.from.Turn || item < sc.from.Item) && sc.query.Match(text.text) {
			sc.add(t, item, text)
		}
	}
}

// add keeps a hit; of more than 2*most it drops the oldest.
func (sc *scanner) add(t *protocol.Turn, item int, text itemText) {
	h := text.hit(sc.from.Session, sc.query, t)
	if len(sc.matches) >= 2*sc.most {
		sc.more = true
		sc.matches = slices.Delete(sc.matches, 0, len(sc.matches)-sc.most+1)
	}
	sc.matches = append(sc.matches, match{h, item})
}

// newest returns the hits wanted, newest first.
func (sc *scanner) newest() []match {
	if drop := len(sc.matches) - sc.most; drop > 0 {
		sc.more = true
		sc.matches = sc.matches[drop:]
	}
	slices.Reverse(sc.matches)
	return sc.matches
}
