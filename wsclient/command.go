package wsclient

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"

	"agentctl/protocol"
)

// ErrWithdrawn ends a command that Withdraw removed before it was sent.
var ErrWithdrawn = errors.New("the command was withdrawn")

// Do sends a command and decodes its result into result, a pointer, or ignores it if result is nil.
//
// A command that changes state gets a random key if it has none. The command is sent again on each
// new connection, also after the client was offline, until it is answered or ctx ends; the key
// makes this safe. Hello, subscribe, unsubscribe, ack and watch are reserved for the client.
//
// The error is the server's *protocol.Error, a *SendError, *EncodeError or *DecodeError.
func (c *Client) Do(ctx context.Context, cmd protocol.Command, result any) error {
	sendError := func(err error) error { return &SendError{Command: cmd.Command, Key: cmd.Key, Err: err} }
	switch cmd.Command {
	case protocol.DoHello, protocol.DoSubscribe, protocol.DoUnsubscribe, protocol.DoAck, protocol.DoWatch:
		return sendError(protocol.Errorf(protocol.CodeUnsupported, "command is reserved for the client"))
	}
	if err := ctx.Err(); err != nil {
		return sendError(err)
	}
	if t := protocol.CommandOf(cmd.Command); t != nil && t.Changes && cmd.Key == "" {
		cmd.Key = rand.Text()
	}
	if len(cmd.Data) > 0 && !json.Valid(cmd.Data) {
		return &EncodeError{
			Command: cmd.Command, Data: cmd.Data,
			Err: protocol.Errorf(protocol.CodeInvalidJSON, "the data is not valid JSON"),
		}
	}
	answer, err := c.roundTrip(ctx, cmd)
	if err != nil {
		if invalid, ok := errors.AsType[*DecodeError](err); ok {
			return invalid
		}
		return sendError(err)
	}
	if answer.Error == nil && (result == nil || len(answer.Result) == 0) {
		return nil
	}
	return decodeAnswer(answer, result)
}

// roundTrip sends cmd and waits for its answer or the end of ctx.
func (c *Client) roundTrip(ctx context.Context, cmd protocol.Command) (*protocol.Answer, error) {
	type outcome struct {
		answer *protocol.Answer
		err    error
	}
	outcomes := make(chan outcome, 1)
	r := &request{
		command: cmd, resend: true,
		done: func(a *protocol.Answer, err error) { outcomes <- outcome{a, err} },
	}
	if !c.post(func(l *eventLoop) { l.send(r) }) {
		return nil, c.closeReason()
	}
	select {
	case o := <-outcomes:
		return o.answer, o.err
	case <-ctx.Done():
		c.post(func(l *eventLoop) { l.requests.abandon(r) })
		return nil, ctx.Err()
	}
}

// Call encodes data (nil: none), sends the command with Do and returns its decoded result. It
// returns the errors of Do.
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

// Withdraw removes a command that waits for a connection and was never sent: its Do returns
// ErrWithdrawn. It returns false and changes nothing if no command with that key waits, or if the
// command may have reached a server; then the client keeps sending it until it is answered.
func (c *Client) Withdraw(key string) bool {
	withdrawn := make(chan bool, 1)
	if !c.post(func(l *eventLoop) { withdrawn <- l.requests.withdraw(key) }) {
		return false
	}
	select {
	case ok := <-withdrawn:
		return ok
	case <-c.done:
		return false
	}
}
