package main

import (
	"context"
	"fmt"

	"agentctl/protocol"
	"agentctl/wsclient"
)

// A logReader reads the events of a session in order.
type logReader struct {
	conn    *connection
	app     *app
	session string
	raw     bool // do not join deltas
	follow  bool // continue after the events that were visible at the call
	strict  bool // end with errReset where the log was replaced

	live bool // the events that were visible at the call have been read
}

// read calls handle with every durable event after since, and with an item without an event when it
// has caught up. If since is not a position of the session's log, it returns a *resetError if
// strict; otherwise it notes that on stderr and continues after the same seq of the current log.
func (r *logReader) read(since protocol.Position, handle func(wsclient.Item) error) error {
	for {
		again, err := r.readOnce(&since, handle)
		if err != nil || !again {
			return r.conn.cause(err)
		}
	}
}

// readOnce reads until the end or a reset. After a reset it returns true, and since is where to
// continue.
func (r *logReader) readOnce(since *protocol.Position, handle func(wsclient.Item) error) (again bool, _ error) {
	start := *since
	sub := r.conn.Subscribe(r.session, wsclient.SubscribeOptions{Since: &start, Raw: r.raw})
	defer sub.Close()
	end, attached := uint64(0), false
	for item, err := range sub.Events(r.conn.ctx) {
		if err != nil {
			return false, err
		}
		switch at := item.Attached; {
		case at != nil && at.Mode == protocol.ModeReset:
			from := protocol.Position{Epoch: at.Position.Epoch, Seq: min(since.Seq, at.Position.Seq)}
			if since.Epoch == from.Epoch { // already tried: the log starts later
				from.Seq = at.After.Seq
			}
			if r.strict && since.Seq > 0 { // the start is a position of every log
				return false, &resetError{*since, at.Position, at.Reason}
			}
			r.app.notef("%s is not a position of the session's current log (%s): continuing after %s", since, at.Reason,
				from)
			*since = from
			return true, nil
		case at != nil:
			if !attached && !r.live {
				end = at.Position.Seq
			}
			attached = true
			since.Epoch = at.Position.Epoch
		case item.Event.Durable():
			since.Seq = item.Event.Seq
			if err := handle(item); err != nil {
				return false, err
			}
		}
		if !r.live && attached && since.Seq >= end {
			r.live = true
			if err := handle(wsclient.Item{}); err != nil || !r.follow {
				return false, err
			}
		}
	}
	return false, fmt.Errorf("events of %s: %w", r.session, context.Cause(r.conn.ctx))
}

// A resetError says that a position is not one of the session's log: the log was replaced, or ends
// before it.
type resetError struct {
	since, current protocol.Position
	reason         string
}

func (e *resetError) Error() string {
	return fmt.Sprintf("%s is not a position of the session's current log, which is at %s (%s)", e.since, e.current,
		e.reason)
}

// readTranscript reads the whole log into a state and a transcript.
func (r *logReader) readTranscript() (*protocol.State, *protocol.Transcript, error) {
	state, transcript := &protocol.State{}, &protocol.Transcript{}
	err := r.read(protocol.Position{}, func(item wsclient.Item) error {
		if item.Event == nil {
			return nil
		}
		if err := state.Apply(item.Event); err != nil {
			return fmt.Errorf("read %s: %w", r.session, err)
		}
		if _, err := transcript.Apply(item.Event); err != nil {
			return fmt.Errorf("read %s: %w", r.session, err)
		}
		return nil
	})
	if err != nil || !state.Created.IsZero() {
		return state, transcript, err
	}
	// The dialect has no past events: only the current state is known.
	current, err := call[protocol.SnapshotResult](r.conn, protocol.DoSnapshot, r.session, nil)
	if err == nil && current.Snapshot.State != nil {
		state = current.Snapshot.State
	}
	return state, transcript, err
}
