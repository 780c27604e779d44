package main

import (
	"context"
	"fmt"

	"agentctl/protocol"
	"agentctl/wsclient"
)

// A reader reads a session's log in order.
type reader struct {
	link    *link
	app     *app
	session string
	raw     bool
	follow  bool // past what is visible at the call

	live bool // what was visible at the call has been read
}

// read hands every durable event after since to take, and an item without one when it has caught up. When the log is not the one
// that since is of, it goes on with the events after the same seq of the log there is, and says so on stderr.
func (r *reader) read(since protocol.Position, take func(wsclient.Item) error) error {
	for {
		again, err := r.readOnce(&since, take)
		if err != nil || !again {
			return r.link.reason(err)
		}
	}
}

// readOnce reads until the end or a reset, after which it is to be called again with the since that it leaves.
func (r *reader) readOnce(since *protocol.Position, take func(wsclient.Item) error) (again bool, _ error) {
	start := *since
	sub := r.link.Subscribe(r.session, wsclient.SubscribeOptions{Since: &start, Raw: r.raw})
	defer sub.Close()
	end, attached := uint64(0), false
	for item, err := range sub.Events(r.link.ctx) {
		if err != nil {
			return false, err
		}
		switch at := item.Attached; {
		case at != nil && at.Mode == protocol.ModeReset:
			from := protocol.Position{Epoch: at.Position.Epoch, Seq: min(since.Seq, at.Position.Seq)}
			if since.Epoch == from.Epoch { // tried already: it begins later
				from.Seq = at.After.Seq
			}
			r.app.note("the session's log is not the one that %s is of (%s): going on after %s", since, at.Reason, from)
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
			if err := take(item); err != nil {
				return false, err
			}
		}
		if !r.live && attached && since.Seq >= end {
			r.live = true
			if err := take(wsclient.Item{}); err != nil || !r.follow {
				return false, err
			}
		}
	}
	return false, fmt.Errorf("events of %s: %w", r.session, context.Cause(r.link.ctx))
}
