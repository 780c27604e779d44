package session

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"

	"agentctl/protocol"
	"agentctl/server/eventlog"
	"agentctl/server/session/idempotency"
	"agentctl/server/session/record"
)

// A command is a decoded client command on its way through a session.
type command struct {
	Caller
	idempotency.Command
	verb protocol.Verb
	data any // pointer to the data type of the verb
}

// ownCommand returns a command of the server itself in the name of an actor. Its result does not matter.
func ownCommand(verb protocol.Verb, data any, by protocol.Actor, done func(error)) *command {
	answer := func(_ json.RawMessage, err error) { done(err) }
	return &command{Caller{By: by}, idempotency.Command{Answer: answer}, verb, data}
}

// errAnswerLater is returned by a handler that calls Session.answer later.
var errAnswerLater = errors.New("answered later")

// handlers holds the handler of each session command. Each is registered by the file that has it. A
// handler runs on the session's goroutine; its result is sent once every event it recorded is
// visible.
var handlers = map[protocol.Verb]func(*Session, *command) (any, error){}

// handler adapts a method with typed data.
func handler[T any](f func(*Session, *command, *T) (any, error)) func(*Session, *command) (any, error) {
	return func(s *Session, cmd *command) (any, error) { return f(s, cmd, cmd.data.(*T)) }
}

// do runs a command on the session's goroutine.
func (s *Session) do(cmd *command) {
	if cmd.Key != "" {
		replayed, err := s.idempotency.Replay(s.background, &cmd.Command)
		if err != nil {
			s.logger().Error("read answer", "err", err)
		}
		if replayed {
			return
		}
	}
	if protocol.CommandOf(cmd.verb).Changes {
		if s.exit.shuttingDown {
			s.answer(cmd, nil, errShuttingDown())
			return
		}
		if s.state.Closed && cmd.verb != protocol.DoClose {
			s.answer(cmd, nil, protocol.Errorf(protocol.CodeSessionClosed, "session %s is closed", s.id))
			return
		}
		s.retryAfterFailure()
	}
	if s.spec.SubAgent != nil && rootVerbs[cmd.verb] {
		if err := askRoot(s, cmd); err != errAnswerLater {
			s.answer(cmd, nil, err)
		}
		return
	}
	result, err := handlers[cmd.verb](s, cmd)
	if err != errAnswerLater {
		s.answer(cmd, result, err)
	}
}

// answer replies once every event recorded so far is visible. The answer to a command with a key is
// stored in the same commit.
func (s *Session) answer(cmd *command, result any, err error) {
	var body json.RawMessage
	if err == nil {
		if body, err = record.Encode(result); err == nil && body == nil {
			body = json.RawMessage("{}")
		}
	}
	if cmd.Key != "" {
		s.idempotency.Finish(&cmd.Command, body, err)
	}
	s.journal.Wait(eventlog.Waiter{
		Done: func(failed error) {
			if failed != nil {
				cmd.Answer(nil, failed)
				return
			}
			cmd.Answer(body, err)
		},
		Refuse: func(failed error) { cmd.Answer(nil, failed) },
	})
}

// hashCommand identifies verb and data of a command, and the session that a fork is made of. The
// session of other commands is left out: it has several names, and the store keeps it with the
// answer. The hash of a decision with answers needs the key: the answer to a secret question cannot
// be found out from it.
func hashCommand(c *protocol.Command, data any, forked string, key []byte) []byte {
	body, _ := protocol.Compact(c.Data)
	if forked != "" {
		body = append(body, "\x00"+forked...)
	}
	hash := sha256.New()
	if d, ok := data.(*protocol.ApproveData); ok && d.Input != nil && len(d.Input.Answers)+len(d.Input.Secrets) > 0 {
		hash = hmac.New(sha256.New, key)
	}
	hash.Write(append([]byte(c.Command+"\x00"), body...))
	return hash.Sum(nil)
}
