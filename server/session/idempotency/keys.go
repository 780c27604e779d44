package idempotency

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"agentctl/protocol"
	"agentctl/server/eventlog"
)

// Keys are the keys of commands in progress that no session has, because they make or delete one.
// The methods may be called from any goroutine.
type Keys struct {
	store Store
	log   *slog.Logger

	mu      sync.Mutex
	running map[string]chan struct{} // closed at the end of the command
}

// NewKeys returns keys without a command in progress.
func NewKeys(store Store, log *slog.Logger) *Keys {
	return &Keys{store: store, log: log, running: map[string]chan struct{}{}}
}

// Run runs a command, unless its key was used before; then it answers as before. run calls answer
// when the command ends, or returns an error. Run waits for another command with the key; the error
// is that ctx ended before.
func (k *Keys) Run(ctx context.Context, c *Command, run func(answer func(json.RawMessage, error)) error) error {
	if c.Key == "" {
		return run(c.Answer)
	}
	if err := k.reserve(ctx, c.Key); err != nil {
		return err
	}
	release := sync.OnceFunc(func() { k.release(c.Key) })
	defer func() {
		if r := recover(); r != nil { // ends only the caller's connection
			release()
			panic(r)
		}
	}()
	answer := func(body json.RawMessage, err error) {
		release()
		c.Answer(body, err)
	}
	stored, err := k.store.Answer(ctx, c.Key)
	switch {
	case errors.Is(err, eventlog.ErrNotFound):
		err = run(answer)
	case err != nil:
		k.log.Error("read answer", "err", err)
		err = errUnavailable()
	case !bytes.Equal(stored.Hash, c.Hash):
		err = errReused(c.Key)
	default:
		answer(stored.Body, nil)
	}
	if err != nil {
		answer(nil, err)
	}
	return nil
}

// reserve waits until no other command with the key is in progress.
func (k *Keys) reserve(ctx context.Context, key string) error {
	for {
		k.mu.Lock()
		wait := k.running[key]
		if wait == nil {
			k.running[key] = make(chan struct{})
		}
		k.mu.Unlock()
		if wait == nil {
			return nil
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return fmt.Errorf("wait for the command with the same key: %w", context.Cause(ctx))
		}
	}
}

func (k *Keys) release(key string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	close(k.running[key])
	delete(k.running, key)
}

// Prune deletes answers older than a week.
func Prune(ctx context.Context, store interface {
	PruneAnswers(ctx context.Context, before time.Time) error
}, log *slog.Logger,
) {
	prune, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := store.PruneAnswers(prune, time.Now().Add(-answerTTL)); err != nil && ctx.Err() == nil {
		log.Warn("prune answers", "err", err)
	}
}

// answerTTL is the lifetime of a stored answer.
const answerTTL = 7 * 24 * time.Hour

// A Command is a command that acts once if it has a key.
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
