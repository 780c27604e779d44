package session

import (
	"context"
	"fmt"
	"slices"

	"agentctl/protocol"
	"agentctl/server/eventlog"
	"agentctl/server/session/record"
)

// maxExported bounds an exported state with history, in bytes before its base64: it fits the
// message of restore, of every dialect too.
const maxExported = 512 << 10

// A pastTurn is a finished turn of an exported session and the notices before it.
type pastTurn struct {
	events []pastEvent
	bytes  int // encoded
}

// readPast reads the newest finished turns of a session up to a seq, newest first: as many complete
// ones as fit most bytes. A turn that could not be restored ends them. It is called off the
// session's goroutine.
func (h *Hub) readPast(ctx context.Context, id string, head uint64, most int) ([]pastTurn, error) {
	var turns []pastTurn
	size := 0
	for before := head + 1; ; {
		rows, err := h.cfg.Store.Turns(ctx, id, before, 32)
		if err != nil {
			return nil, h.readError(id, err)
		}
		for i, row := range rows {
			before = row.First
			after, err := uint64(0), error(nil)
			if i+1 < len(rows) {
				after = rows[i+1].Last
			} else if older, err := h.cfg.Store.Turns(ctx, id, row.First, 1); err != nil {
				return nil, h.readError(id, err)
			} else if len(older) > 0 {
				after = older[0].Last
			}
			t, err := h.readPastTurn(ctx, id, after, row.Last, most-size)
			if err != nil {
				return nil, h.readError(id, err)
			}
			if t == nil {
				return turns, nil
			}
			if _, err := checkPast(t.events, nil); err != nil {
				h.log.Error("export turn", "session", id, "turn", row.Turn, "err", err)
				return turns, nil
			}
			turns = append(turns, *t)
			size += t.bytes
		}
		if len(rows) == 0 {
			return turns, nil
		}
	}
}

// readPastTurn reads what is carried of the events after a seq through another. It returns nil if
// that is larger than most.
func (h *Hub) readPastTurn(ctx context.Context, id string, after, through uint64, most int) (*pastTurn, error) {
	t := new(pastTurn)
	for e, err := range eventlog.Events(ctx, h.cfg.Store, id, after, through) {
		if err != nil {
			return nil, fmt.Errorf("read events: %w", err)
		}
		p, err := newPastEvent(e)
		if err != nil {
			return nil, err
		}
		if p == nil {
			continue
		}
		t.events = append(t.events, *p)
		if t.bytes += len(protocol.MustEncode(p)) + 1; t.bytes > most {
			return nil, nil
		}
	}
	return t, nil
}

// setHistory adds the newest of turns to a state, as many as fit it. All finished turns of the
// session are total.
func (x *exportedState) setHistory(turns []pastTurn, total int) error {
	raw, err := record.Encode(x)
	if err != nil {
		return err
	}
	size, n := len(raw)+len(`,"history":[],"left_out":1000000000`), 0
	for n < len(turns) && size+turns[n].bytes <= maxExported {
		size += turns[n].bytes
		n++
	}
	for _, t := range slices.Backward(turns[:n]) {
		x.History = append(x.History, t.events...)
	}
	x.LeftOut = max(0, total-n)
	return nil
}
