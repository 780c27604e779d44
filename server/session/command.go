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
	verb  protocol.Verb
	data  any // pointer to the data type of the verb
	key   string
	hash  []byte // of verb and data
	reply func(json.RawMessage, error)
}

// keyed returns the command as one with a key.
func (c *command) keyed() *idempotency.Command {
	makes := c.verb == protocol.DoCreate || c.verb == protocol.DoRestore || c.verb == protocol.DoImport ||
		c.verb == protocol.DoFork
	return &idempotency.Command{Key: c.key, Hash: c.hash, Makes: makes, Answer: c.reply}
}

// withoutBody returns a reply of a command whose result does not matter.
func withoutBody(done func(error)) func(json.RawMessage, error) {
	return func(_ json.RawMessage, err error) { done(err) }
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
	if cmd.key != "" {
		replayed, err := s.idempotency.Replay(s.background, cmd.keyed())
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
	if cmd.key != "" {
		s.idempotency.Finish(cmd.keyed(), body, err)
	}
	s.journal.Wait(eventlog.Waiter{
		Done: func(failed error) {
			if failed != nil {
				cmd.reply(nil, failed)
				return
			}
			cmd.reply(body, err)
		},
		Refuse: func(failed error) { cmd.reply(nil, failed) },
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
