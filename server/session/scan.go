package session

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"agentctl/protocol"
)

const (
	scanTurns = 64        // whose index entries are read at once
	scanMost  = 8192      // events of turns that are read at once, but for one turn that has more
	scanBytes = 512 << 10 // that turns read at once should have, about
	scanPiece = 8 << 20   // of a turn's events that are folded at once: a longer turn is searched in pieces
)

// session looks through one session from a place on, the newest turn first, until it is through or the call has done its
// part; then it leaves the cursor.
func (s *search) session(ctx context.Context, from place) error {
	store := s.hub.cfg.Store
	below := from.Below
	if from.Turn != 0 {
		below = from.Turn + 1
	}
	newest, err := store.Turns(ctx, from.Session, 0, 1)
	if err != nil {
		return err
	}
	last := uint64(0) // of what is finished
	if len(newest) > 0 {
		last = newest[0].Last
	}
	if below > last+1 {
		if done, err := s.part(ctx, from, last, math.MaxUint64); done || err != nil {
			return err
		}
		below = last + 1
	}
	for step := uint64(512); ; {
		rows, err := store.Turns(ctx, from.Session, below, scanTurns)
		if len(rows) == 0 || err != nil {
			return err
		}
		for len(rows) > 0 {
			if s.full() {
				s.result.Cursor = place{Session: from.Session, Created: from.Created, Below: below}.cursor()
				return nil
			}
			n := 1
			for n < len(rows) && rows[0].Last-rows[n].First < step {
				n++
			}
			left := s.left
			if done, err := s.part(ctx, from, rows[n-1].First-1, rows[0].Last); done || err != nil {
				return err
			}
			if left-s.left < scanBytes {
				step = min(2*step, scanMost)
			} else {
				step = max(step/2, 1)
			}
			below, rows = rows[n-1].First, rows[n:]
		}
	}
}

// part looks through the turns within (after, through]. It reports whether the call has done its part before their end.
func (s *search) part(ctx context.Context, from place, after, through uint64) (bool, error) {
	sc := &scan{search: s, from: from, most: s.limit - len(s.result.Hits)}
	read, err := sc.read(ctx, after, through)
	if err != nil {
		return false, err
	}
	s.left -= read
	found := sc.newest()
	for _, f := range found {
		s.result.Hits = append(s.result.Hits, f.Hit)
	}
	if sc.more {
		oldest := found[len(found)-1]
		s.result.Cursor = place{Session: from.Session, Created: from.Created, Turn: oldest.First, Item: oldest.item}.cursor()
	}
	return sc.more, nil
}

// A scan finds the newest hits in a run of turns, which it folds from the oldest on.
type scan struct {
	*search
	from  place
	most  int // hits that are wanted
	found []found
	more  bool // there are hits older than those

	words protocol.Transcript
	size  int // bytes of the turn so far
	items int // of the turn in pieces before
}

// found is a hit and the number of its item in its turn.
type found struct {
	protocol.Hit
	item int
}

// read folds the events within (after, through] and returns their size.
func (sc *scan) read(ctx context.Context, after, through uint64) (int, error) {
	var buf []byte
	total := 0
	for after < through {
		lines, upto, err := sc.hub.cfg.Store.Read(ctx, sc.from.Session, after, through, true, 256<<10, buf[:0])
		if err != nil {
			return total, err
		}
		if upto == after {
			break
		}
		for line := range bytes.Lines(lines) {
			if err := sc.event(line); err != nil {
				return total, err
			}
		}
		total += len(lines)
		after, buf = upto, lines
	}
	sc.turn()
	return total, nil
}

func (sc *scan) event(line []byte) error {
	var e protocol.Event
	if err := json.Unmarshal(line, &e); err != nil {
		return fmt.Errorf("decode event: %w", err)
	}
	if e.Type == protocol.MessageUser {
		sc.turn()
		sc.words.Turns, sc.size, sc.items = nil, 0, 0
	} else if sc.size > scanPiece {
		sc.piece()
	}
	sc.size += len(line)
	if _, err := sc.words.Apply(&e); err != nil {
		return fmt.Errorf("fold event: %w", err)
	}
	return nil
}

// piece looks through what there is of a turn and goes on with the rest of it.
func (sc *scan) piece() {
	sc.turn()
	t := sc.words.Current()
	if t == nil {
		return
	}
	sc.items += len(t.Items)
	sc.size = 0
	sc.words.Turns = []*protocol.Turn{{Turn: t.Turn, First: t.First, Started: t.Started}}
}

// Numbers of what is no item of a turn.
const (
	messageItem = 0
	endItem     = math.MaxInt
)

// turn looks through the turn folded last.
func (sc *scan) turn() {
	t := sc.words.Current()
	if t == nil || sc.from.Turn == 0 && t.First >= sc.from.Below || sc.from.Turn != 0 && t.First > sc.from.Turn {
		return
	}
	look := func(item int, of saying) {
		if (t.First != sc.from.Turn || item < sc.from.Item) && sc.query.Match(of.text) {
			sc.hit(t, item, of)
		}
	}
	if sc.items == 0 {
		look(messageItem, sayingOfUser(t))
	}
	for i, it := range t.Items {
		if of, ok := sayingOf(it); ok {
			look(sc.items+i+1, of)
		}
	}
	if t.End != nil && t.End.Failed() {
		look(endItem, sayingOfEnd(t))
	}
}

// hit keeps a hit, and of all the newest.
func (sc *scan) hit(t *protocol.Turn, item int, of saying) {
	h := of.hit(sc.from.Session, sc.query, t)
	if len(sc.found) >= 2*sc.most {
		sc.more = true
		sc.found = slices.Delete(sc.found, 0, len(sc.found)-sc.most+1)
	}
	sc.found = append(sc.found, found{h, item})
}

// newest returns the hits that are wanted, the newest first.
func (sc *scan) newest() []found {
	if drop := len(sc.found) - sc.most; drop > 0 {
		sc.more = true
		sc.found = sc.found[drop:]
	}
	slices.Reverse(sc.found)
	return sc.found
}
