package idempotency

import (
	"context"
	"encoding/json"
	"time"

	"agentctl/protocol"
	"agentctl/server/eventlog"
)

// answerTTL is the lifetime of a stored answer.
const answerTTL = 7 * 24 * time.Hour

// A Command is a command with a key.
type Command struct {
	Key    string
	Hash   []byte // of the command: another hash under the same key is another command
	Makes  bool   // makes a session, which the answer outlives: sent again it makes no second one
	Answer func(json.RawMessage, error)
}

// Stored returns the answer of a session as stored.
func (c *Command) Stored(session string, body json.RawMessage) eventlog.Answer {
	if c.Makes {
		session = ""
	}
	return eventlog.Answer{Key: c.Key, Session: session, Hash: c.Hash, Body: body, At: time.Now()}
}

// Store has the stored answers.
type Store interface {
	// Answer returns the stored answer to a command key, or eventlog.ErrNotFound.
	Answer(ctx context.Context, key string) (eventlog.Answer, error)
}

func errUnavailable() error {
	return protocol.Errorf(protocol.CodeStorage, "the store cannot be read; nothing was changed, try again")
}

func errReused(key string) error {
	return protocol.Errorf(protocol.CodeKeyReused, "key %.80q was used for another command: use a new key", key)
}
