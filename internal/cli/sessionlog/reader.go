package sessionlog

import (
	"context"
	"fmt"

	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/protocol"
	"agentctl/wsclient"
)

// A Reader reads the events of a session in order.
type Reader struct {
	Conn    *connection.Conn
	CLI     *verb.Context
	Session string
	Raw     bool // do not join deltas
	Follow  bool // continue after the events that were visible at the call
	Strict  bool // return a *ResetError where the log was replaced

	Live bool // the events that were visible at the call have been read
}

// Read calls handle with every durable event after since, and with an item without an event when it
// has caught up. If since is not a position of the session's log, it returns a *ResetError if
// strict; otherwise it notes that on stderr and continues after the same seq of the current log.
func (r *Reader) Read(since protocol.Position, handle func(wsclient.Item) error) error {
	for {
		again, err := r.readOnce(&since, handle)
		if err != nil || !again {
			return r.Conn.Cause(err)
		}
	}
}

// readOnce reads until the end or a reset. After a reset it returns true, and since is where to
// continue.
func (r *Reader) readOnce(since *protocol.Position, handle func(wsclient.Item) error) (again bool, _ error) {
	start := *since
	sub := r.Conn.Subscribe(r.Session, wsclient.SubscribeOptions{Since: &start, Raw: r.Raw})
	defer sub.Close()
	end, attached := uint64(0), false
	for item, err := range sub.Events(r.Conn.Context()) {
		if err != nil {
			return false, err
		}
		switch at := item.Attached; {
		case at != nil && at.Mode == protocol.ModeReset:
			from := protocol.Position{Epoch: at.Position.Epoch, Seq: min(since.Seq, at.Position.Seq)}
			if since.Epoch == from.Epoch { // already tried: the log starts later
				from.Seq = at.After.Seq
			}
			if r.Strict && since.Seq > 0 { // the start is a position of every log
				return false, &ResetError{*since, at.Position, at.Reason}
			}
			r.CLI.Out.Notef("%s is not a position of the session's current log (%s): continuing after %s", since, at.Reason,
				from)
			*since = from
			return true, nil
		case at != nil:
			if !attached && !r.Live {
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
		if !r.Live && attached && since.Seq >= end {
			r.Live = true
			if err := handle(wsclient.Item{}); err != nil || !r.Follow {
				return false, err
			}
		}
	}
	return false, fmt.Errorf("events of %s: %w", r.Session, context.Cause(r.Conn.Context()))
}

// A ResetError says that a position is not one of the session's log: the log was replaced, or ends
// before it.
type ResetError struct {
	Since, Current protocol.Position
	Reason         string
}

func (e *ResetError) Error() string {
	return fmt.Sprintf("%s is not a position of the session's current log, which is at %s (%s)", e.Since, e.Current,
		e.Reason)
}

// ReadTranscript reads the whole log into a state and a transcript.
func (r *Reader) ReadTranscript() (*protocol.State, *protocol.Transcript, error) {
	state, transcript := &protocol.State{}, &protocol.Transcript{}
	err := r.Read(protocol.Position{}, func(item wsclient.Item) error {
		if item.Event == nil {
			return nil
		}
		if err := state.Apply(item.Event); err != nil {
			return fmt.Errorf("read %s: %w", r.Session, err)
		}
		if _, err := transcript.Apply(item.Event); err != nil {
			return fmt.Errorf("read %s: %w", r.Session, err)
		}
		return nil
	})
	if err != nil || !state.Created.IsZero() {
		return state, transcript, err
	}
	// The dialect has no past events: only the current state is known.
	current, err := connection.Call[protocol.SnapshotResult](r.Conn, protocol.DoSnapshot, r.Session, nil)
	if err == nil && current.Snapshot.State != nil {
		state = current.Snapshot.State
	}
	return state, transcript, err
}
