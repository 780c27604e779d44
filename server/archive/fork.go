package archive

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"agentctl/protocol"
	"agentctl/server/eventlog"
	"agentctl/server/session/record"
)

// maxForked bounds the events of the finished turns that a fork copies, in bytes.
const maxForked = 16 << 20

// A Fork is a session up to one of its turns.
type Fork struct {
	at      protocol.StateRestoredData
	last    *eventlog.TurnRow // nil: it has no turn
	earlier int               // turns before the last
	newest  bool              // the last is the newest of the session
}

// FindFork returns the fork of a session at a position. For an unknown turn the error has the code
// not_found; other errors are the store's.
func FindFork(ctx context.Context, store Store, id string, at protocol.Position, d *protocol.ForkData) (*Fork, error) {
	var rows []eventlog.TurnRow // newest first
	for before := at.Seq + 1; ; before = rows[len(rows)-1].First {
		page, err := store.Turns(ctx, id, before, 200)
		if err != nil {
			return nil, err
		}
		if rows = append(rows, page...); len(page) == 0 {
			break
		}
	}
	i := 0
	if d.Turn != "" {
		i = slices.IndexFunc(rows, func(r eventlog.TurnRow) bool { return r.Turn == d.Turn })
		if n, err := strconv.Atoi(d.Turn); i < 0 && err == nil && n >= 1 && n <= len(rows) {
			i = len(rows) - n
		}
		if i < 0 {
			return nil, protocol.Errorf(protocol.CodeNotFound,
				"no finished turn %.80q: want its id, or a number from 1 to %d", d.Turn, len(rows))
		}
	}
	if d.Before {
		i++
	}
	f := &Fork{at: protocol.StateRestoredData{Session: id, Position: protocol.Position{Epoch: at.Epoch}}}
	if i < len(rows) {
		f.last, f.earlier, f.at.Position.Seq = &rows[i], len(rows)-i-1, rows[i].Last
		f.newest = i == 0
	}
	return f, nil
}

// Last returns the id of the last turn of the fork; empty: it has none.
func (f *Fork) Last() string {
	if f.last == nil {
		return ""
	}
	return f.last.Turn
}

// Past reads the past of the session that by makes. of are the sub-agents of the forked session, each
// after its parent. An error of a history that cannot be copied has the code corrupt; other errors are
// the store's.
func (f *Fork) Past(
	ctx context.Context, store Store, log *slog.Logger, by *protocol.Actor, of []SubAgent, made NewSessions,
) (*Past, error) {
	var history []Event
	var until time.Time
	leftOut := 0
	if f.last != nil {
		turns, err := ReadTurns(ctx, store, log, f.at.Session, f.last.Last, maxForked)
		if err != nil {
			return nil, err
		}
		for _, t := range slices.Backward(turns) {
			history = append(history, t.events...)
		}
		leftOut = max(0, f.earlier+1-len(turns))
		if len(history) > 0 && !f.newest {
			until = history[len(history)-1].Time
		}
	}
	carried, err := readSubAgents(ctx, store, log, of, history, until, maxForked)
	if err != nil {
		return nil, err
	}
	past, err := newPast(f.at.Session, history, nil, carried, made)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeCorrupt, "the history of the session cannot be copied: %v", err)
	}
	from := f.at
	from.Exported = record.Time(time.Now())
	past.Origin = restored(by, from, leftOut)
	return past, nil
}
