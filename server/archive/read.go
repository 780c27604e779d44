package archive

import (
	"context"
	"fmt"
	"log/slog"

	"agentctl/protocol"
	"agentctl/server/eventlog"
)

// A Turn is a finished turn of an exported session and the notices before it.
type Turn struct {
	events []Event
	bytes  int // encoded
}

// A Store has the events of sessions, and the index of their finished turns as session.Store has it.
type Store interface {
	eventlog.Reader
	Turns(ctx context.Context, id string, before uint64, limit int) ([]eventlog.TurnRow, error)
}

// ReadTurns reads the newest finished turns of a session up to a seq, newest first: as many
// complete ones as fit most bytes. It stops at a turn that could not be restored, and logs it.
// Errors are the store's.
func ReadTurns(
	ctx context.Context, store Store, log *slog.Logger, id string, head uint64, most int,
) ([]Turn, error) {
	const page = 32
	var turns []Turn
	size := 0
	rows, err := store.Turns(ctx, id, head+1, page)
	for err == nil && len(rows) > 0 {
		row := rows[0]
		if rows = rows[1:]; len(rows) == 0 {
			if rows, err = store.Turns(ctx, id, row.First, page); err != nil {
				break
			}
		}
		after := uint64(0)
		if len(rows) > 0 {
			after = rows[0].Last
		}
		t, err := readEvents(ctx, store, id, after, row.Last, most-size)
		if err != nil {
			return nil, err
		}
		if t == nil {
			return turns, nil
		}
		if _, err := check(t.events, nil); err != nil {
			log.Error("export turn", "session", id, "turn", row.Turn, "err", err)
			return turns, nil
		}
		turns = append(turns, *t)
		size += t.bytes
	}
	return turns, err
}

// readEvents reads the carried events in (after, through]. It returns nil if they are larger than
// most.
func readEvents(ctx context.Context, store Store, id string, after, through uint64, most int) (*Turn, error) {
	t, own := new(Turn), ownRequests{}
	for e, err := range eventlog.Events(ctx, store, id, after, through) {
		if err != nil {
			return nil, fmt.Errorf("read events: %w", err)
		}
		p, err := newEvent(e)
		if err != nil {
			return nil, err
		}
		if p == nil || !own.carry(id, p) {
			continue
		}
		t.events = append(t.events, *p)
		if t.bytes += len(protocol.MustEncode(p)) + 1; t.bytes > most {
			return nil, nil
		}
	}
	return t, nil
}
