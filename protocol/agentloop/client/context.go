package client

import (
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/agentloop/wire"
	"agentctl/protocol/codec"
)

// contextRequests are the commands about the context that the server has not answered, oldest first.
type contextRequests struct {
	x       *codec.ClientBase
	waiting []contextRequest
}

// A contextRequest is a command about the context without an answer.
type contextRequest struct {
	cmd *protocol.Command
	due time.Time
}

// send sends the message for a command.
func (r *contextRequests) send(cmd *protocol.Command) {
	if len(r.waiting) >= maxPending {
		r.x.Fail(cmd, codec.TooMany(maxPending))
		return
	}
	typ, timeout := wire.GetContextType, contextTimeout
	if cmd.Command == protocol.DoCompact {
		typ, timeout = wire.CompactType, compactTimeout
	}
	r.waiting = append(r.waiting, contextRequest{cmd, r.x.Now.Add(timeout)})
	send(r.x, typ, nil)
}

// take removes and returns the oldest command of a verb, or nil. An empty verb means any.
func (r *contextRequests) take(verb protocol.Verb) *protocol.Command {
	for i, w := range r.waiting {
		if verb == "" || w.cmd.Command == verb {
			r.waiting = slices.Delete(r.waiting, i, i+1)
			return w.cmd
		}
	}
	return nil
}

// expire fails the commands that the server did not answer in time.
func (r *contextRequests) expire() {
	r.waiting = slices.DeleteFunc(r.waiting, func(w contextRequest) bool {
		late := !r.x.Now.Before(w.due)
		if late {
			r.x.Failf(w.cmd, protocol.CodeTimeout, "the server did not answer %s", w.cmd.Command)
		}
		return late
	})
}

// wakeBy schedules a Wake for the next timeout.
func (r *contextRequests) wakeBy() {
	for _, w := range r.waiting {
		r.x.Out.WakeBy(w.due)
	}
}
