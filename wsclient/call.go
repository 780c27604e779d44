package wsclient

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"agentctl/protocol"
)

// A call is a command that waits for its answer. Owned by the loop once sent.
type call struct {
	command protocol.Command
	again   bool                          // sent on every new link until it is answered
	answer  func(*protocol.Answer, error) // called by the loop, once; must not block

	number uint64
	line   []byte
	sent   bool // it was part of a message once, which may have reached the server
}

// Do sends a command and reads its answer's result into result, a pointer, or nil to ignore it. A command that changes state gets
// a key when it has none. It is sent again on every new connection until it is answered or ctx ends, also over a time
// offline. Hello, subscribe, unsubscribe, ack and watch are the client's own to send. Errors: the server's *protocol.Error,
// *SendError, *EncodeError, *DecodeError.
func (c *Client) Do(ctx context.Context, cmd protocol.Command, result any) error {
	unsent := func(err error) error { return &SendError{Command: cmd.Command, Key: cmd.Key, Err: err} }
	switch cmd.Command {
	case protocol.DoHello, protocol.DoSubscribe, protocol.DoUnsubscribe, protocol.DoAck, protocol.DoWatch:
		return unsent(protocol.Errorf(protocol.CodeUnsupported, "only the client itself sends it"))
	}
	if err := ctx.Err(); err != nil {
		return unsent(err)
	}
	if t := protocol.CommandOf(cmd.Command); t != nil && t.Changes && cmd.Key == "" {
		cmd.Key = rand.Text()
	}
	if len(cmd.Data) > 0 && !json.Valid(cmd.Data) {
		return &EncodeError{Command: cmd.Command, Data: cmd.Data, Err: protocol.Errorf(protocol.CodeInvalidJSON, "the data is not JSON")}
	}
	type outcome struct {
		answer *protocol.Answer
		err    error
	}
	answered := make(chan outcome, 1)
	do := &call{command: cmd, again: true, answer: func(a *protocol.Answer, err error) { answered <- outcome{a, err} }}
	if !c.post(func(l *loop) { l.send(do) }) {
		return unsent(ErrClosed)
	}
	var got outcome
	select {
	case got = <-answered:
	case <-ctx.Done():
		c.post(func(l *loop) { l.abandon(do) })
		return unsent(ctx.Err())
	}
	switch {
	case got.err != nil:
		var bad *DecodeError
		if errors.As(got.err, &bad) {
			return bad
		}
		return unsent(got.err)
	case got.answer.Error != nil:
		return got.answer.Error
	case result == nil || len(got.answer.Result) == 0:
		return nil
	}
	if err := json.Unmarshal(got.answer.Result, result); err != nil {
		return newDecodeError(got.answer.Result, err)
	}
	return nil
}

// Call does a command with data (nil: none) and returns its result. The errors are those of Do.
func Call[R any](ctx context.Context, c *Client, verb protocol.Verb, session string, data any) (R, error) {
	var result R
	cmd := protocol.Command{Command: verb, Session: session}
	if data != nil {
		var err error
		if cmd.Data, err = protocol.Encode(data); err != nil {
			return result, &EncodeError{Command: verb, Data: data, Err: err}
		}
	}
	err := c.Do(ctx, cmd, &result)
	return result, err
}

// send numbers a call and sends it on this link, or on the next one when it is to be sent again; without a link any other
// call is forgotten.
func (l *loop) send(c *call) {
	if l.link == nil && !c.again {
		return
	}
	l.nextID++
	c.number = l.nextID
	c.command.ID = strconv.FormatUint(c.number, 10)
	c.line = protocol.MustEncode(c.command)
	l.calls[c.command.ID] = c
	if l.link == nil {
		l.need()
		return
	}
	l.queue = append(l.queue, c)
}

// sendAgain queues what a new link has not been asked, in the order of the callers.
func (l *loop) sendAgain() {
	var again []*call
	for _, c := range l.calls {
		if c.again {
			again = append(again, c)
		}
	}
	slices.SortFunc(again, func(a, b *call) int { return cmp.Compare(a.number, b.number) })
	l.queue = append(l.queue, again...)
}

// forgetOnce drops what concerned only the link that is lost.
func (l *loop) forgetOnce() {
	for id, c := range l.calls {
		if !c.again {
			delete(l.calls, id)
		}
	}
	l.queue, l.message = nil, nil
	clear(l.flight)
}

func (l *loop) abandon(c *call) { delete(l.calls, c.command.ID) }

// fill makes the next message of due acks and as many queued calls as fit; false when there is nothing to write. Callers' calls
// leave room on the server for those of the client itself: a ping that waits behind slow commands would look like silence.
func (l *loop) fill() bool {
	if l.message != nil {
		return true
	}
	limits := l.link.hello.Limits
	if limits.Message <= 0 {
		limits.Message = protocol.MaxMessage
	}
	room := max(1, limits.InFlight-limits.InFlight/4)
	message := l.acks(nil)
	var later []*call
	for _, c := range l.queue {
		switch {
		case l.calls[c.command.ID] != c: // abandoned
		case int64(len(c.line)) > limits.Message:
			delete(l.calls, c.command.ID)
			c.answer(nil, &protocol.Error{
				Code: protocol.CodeTooLarge, Message: "the command is too large for the server", Limit: limits.Message,
			})
		case c.again && limits.InFlight > 0 && len(l.flight) >= room,
			len(message) > 0 && int64(len(message)+1+len(c.line)) > limits.Message:
			later = append(later, c)
		default:
			message = appendLine(message, c.line)
			l.flight[c.command.ID] = struct{}{}
			c.sent = true
		}
	}
	l.queue, l.message = later, message
	return message != nil
}

func appendLine(message, line []byte) []byte {
	if len(message) > 0 {
		message = append(message, '\n')
	}
	return append(message, line...)
}

// newID mints an id for what a dialect's codec has to name.
func newID(prefix string) string { return prefix + "_" + strings.ToLower(rand.Text()[:16]) }
