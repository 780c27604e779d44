package wsclient

import (
	"cmp"
	"slices"
	"strconv"

	"agentctl/protocol"
)

// A request is a command that waits for its answer. The event loop owns it once sent.
type request struct {
	command protocol.Command
	resend  bool                          // sent again on each new connection until answered
	done    func(*protocol.Answer, error) // called by the event loop at most once; must not block

	number uint64
	line   []byte // encoded command
	sent   bool   // was part of a message, which may have reached the server
}

// requests holds the unanswered requests and builds the messages that carry them. Owned by the
// event loop.
type requests struct {
	pending  map[string]*request // by command id
	inFlight map[string]struct{} // ids sent on this connection and unanswered, abandoned ones included
	lastID   uint64
	queue    []*request // to send on this connection
	message  []byte     // next message to write, built from queue; nil: none
}

func newRequests() requests {
	return requests{pending: map[string]*request{}, inFlight: map[string]struct{}{}}
}

// add assigns an id to r and encodes it.
func (q *requests) add(r *request) {
	q.lastID++
	r.number = q.lastID
	r.command.ID = strconv.FormatUint(r.number, 10)
	r.line = protocol.MustEncode(r.command)
	q.pending[r.command.ID] = r
}

// complete removes the request with that id and returns it, or nil if it was abandoned.
func (q *requests) complete(id string) *request {
	r := q.pending[id]
	delete(q.pending, id)
	delete(q.inFlight, id)
	return r
}

// abandon forgets r. It still counts as in flight until the server answers.
func (q *requests) abandon(r *request) { delete(q.pending, r.command.ID) }

// resend enqueues all resendable requests for a new connection, in the order of their ids.
func (q *requests) resend() {
	var again []*request
	for _, r := range q.pending {
		if r.resend {
			again = append(again, r)
		}
	}
	slices.SortFunc(again, func(a, b *request) int { return cmp.Compare(a.number, b.number) })
	q.queue = append(q.queue, again...)
}

// reset discards everything that belonged to a lost connection.
func (q *requests) reset() {
	for id, r := range q.pending {
		if !r.resend {
			delete(q.pending, id)
		}
	}
	q.queue, q.message = nil, nil
	clear(q.inFlight)
}

// withdraw abandons the unsent request with that key and fails it with ErrWithdrawn. It returns
// false if there is no such request.
func (q *requests) withdraw(key string) bool {
	for _, r := range q.pending {
		if key != "" && r.command.Key == key && !r.sent {
			q.abandon(r)
			r.done(nil, ErrWithdrawn)
			return true
		}
	}
	return false
}

// failAll fails all pending requests.
func (q *requests) failAll(err error) {
	for id, r := range q.pending {
		delete(q.pending, id)
		r.done(nil, err)
	}
}

// buildMessage appends as many queued requests to message as the server's limits allow, and keeps
// the result. A resendable request, one of the client's caller, takes at most three quarters of
// the in-flight limit: the client's own commands need room, since a ping that waits behind slow
// commands would look like a dead server.
func (q *requests) buildMessage(message []byte, limits protocol.Limits) {
	if limits.Message <= 0 {
		limits.Message = protocol.MaxMessage
	}
	room := max(1, limits.InFlight-limits.InFlight/4)
	var later []*request
	for _, r := range q.queue {
		switch {
		case q.pending[r.command.ID] != r: // abandoned
		case int64(len(r.line)) > limits.Message:
			delete(q.pending, r.command.ID)
			r.done(nil, &protocol.Error{
				Code: protocol.CodeTooLarge, Message: "the command is larger than the server accepts",
				Limit: limits.Message,
			})
		case r.resend && limits.InFlight > 0 && len(q.inFlight) >= room,
			len(message) > 0 && int64(len(message)+1+len(r.line)) > limits.Message:
			later = append(later, r)
		default:
			message = appendLine(message, r.line)
			q.inFlight[r.command.ID] = struct{}{}
			r.sent = true
		}
	}
	q.queue, q.message = later, message
}

func appendLine(message, line []byte) []byte {
	if len(message) > 0 {
		message = append(message, '\n')
	}
	return append(message, line...)
}
