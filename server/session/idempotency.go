package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"agentctl/protocol"
	"agentctl/server/eventlog"
)

// An idempotencyCache holds recent answers to commands with a key; the store holds all. Owned by
// the session's goroutine.
type idempotencyCache struct {
	byKey map[string]*cachedAnswer
	order []string // keys, oldest first
}

// A cachedAnswer is the answer to a key. While its command is under way, body is nil and repeats of
// the command wait. Only a durable one may be evicted.
type cachedAnswer struct {
	hash    []byte
	body    json.RawMessage
	durable bool
	waiting []*command
}

const maxCachedAnswers = 256

// replay answers a command whose key was used before. It reports whether it was.
func (c *idempotencyCache) replay(s *Session, cmd *command) bool {
	if a := c.byKey[cmd.key]; a != nil {
		switch {
		case !bytes.Equal(a.hash, cmd.hash):
			cmd.reply(nil, errKeyReused(cmd.key))
		case a.body == nil:
			a.waiting = append(a.waiting, cmd)
		default:
			reply := func(err error) { cmd.reply(a.body, err) }
			s.journal.Wait(eventlog.Waiter{Done: reply, Refuse: reply})
		}
		return true
	}
	stored, err := s.hub.cfg.Store.Answer(s.background, cmd.key)
	switch {
	case errors.Is(err, eventlog.ErrNotFound):
		c.add(cmd.key, &cachedAnswer{hash: cmd.hash})
		return false
	case err != nil:
		s.logger().Error("read answer", "err", err)
		cmd.reply(nil, errStoreUnavailable())
	case stored.Session != s.id || !bytes.Equal(stored.Hash, cmd.hash):
		cmd.reply(nil, errKeyReused(cmd.key))
	default:
		cmd.reply(stored.Body, nil)
	}
	return true
}

// add caches an answer and evicts the oldest durable ones beyond the limit.
func (c *idempotencyCache) add(key string, a *cachedAnswer) {
	if c.byKey == nil {
		c.byKey = map[string]*cachedAnswer{}
	}
	c.byKey[key] = a
	c.order = append(c.order, key)
	for i := 0; len(c.order) > maxCachedAnswers && i < len(c.order); {
		if old := c.byKey[c.order[i]]; old != nil && !old.durable {
			i++
			continue
		}
		delete(c.byKey, c.order[i])
		c.order = append(c.order[:i], c.order[i+1:]...)
	}
}

// store adds the answer to the commit of the command's events and answers repeats that wait for it.
// An error changed nothing and is not stored: a repeat runs the command again.
func (c *idempotencyCache) store(s *Session, cmd *command, body json.RawMessage, err error) {
	a := c.byKey[cmd.key]
	if a == nil { // dropped by a failed commit
		return
	}
	for _, w := range a.waiting {
		reply := func(failed error) { w.reply(body, errors.Join(failed, err)) }
		s.journal.Wait(eventlog.Waiter{Done: reply, Refuse: reply})
	}
	a.waiting = nil
	if err != nil {
		delete(c.byKey, cmd.key)
		return
	}
	a.body = body
	b := s.journal.NextBatch()
	answer := eventlog.Answer{Key: cmd.key, Session: s.id, Hash: cmd.hash, Body: body, At: time.Now()}
	if createsSession(cmd.verb) {
		answer.Session = "" // outlives the session: the command sent again makes no second one
	}
	b.Answers = append(b.Answers, answer)
	s.journal.AfterCommit(func(failed error) { a.durable = failed == nil })
}

// createsSession reports whether a command makes a session.
func createsSession(v protocol.Verb) bool {
	return v == protocol.DoCreate || v == protocol.DoRestore || v == protocol.DoImport || v == protocol.DoFork
}

// remove removes a key and returns the commands that wait for its answer.
func (c *idempotencyCache) remove(key string) []*command {
	a := c.byKey[key]
	if a == nil {
		return nil
	}
	delete(c.byKey, key)
	return a.waiting
}

// reset drops answers after a failed commit; the store has the durable ones. Commands under way
// stay.
func (c *idempotencyCache) reset() {
	for key, a := range c.byKey {
		if a.body != nil {
			delete(c.byKey, key)
		}
	}
	c.order = c.order[:0]
	for key := range c.byKey {
		c.order = append(c.order, key)
	}
}

// failAll answers all waiting repeats with an error, when the session ends with their command under
// way.
func (c *idempotencyCache) failAll(err error) {
	for _, a := range c.byKey {
		for _, cmd := range a.waiting {
			cmd.reply(nil, err)
		}
		a.waiting = nil
	}
}

// idempotent runs a command that creates a session, unless its key was used before.
func (h *Hub) idempotent(ctx context.Context, cmd *command, run func() error) error {
	if cmd.key == "" {
		return run()
	}
	if err := h.reserveKey(ctx, cmd.key); err != nil {
		return err
	}
	release := sync.OnceFunc(func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		close(h.creating[cmd.key])
		delete(h.creating, cmd.key)
	})
	defer func() {
		if r := recover(); r != nil { // ends the caller's connection alone
			release()
			panic(r)
		}
	}()
	reply := cmd.reply
	cmd.reply = func(body json.RawMessage, err error) {
		release()
		reply(body, err)
	}
	stored, err := h.cfg.Store.Answer(ctx, cmd.key)
	switch {
	case errors.Is(err, eventlog.ErrNotFound):
		err = run()
	case err != nil:
		h.log.Error("read answer", "err", err)
		err = errStoreUnavailable()
	case !bytes.Equal(stored.Hash, cmd.hash):
		err = errKeyReused(cmd.key)
	default:
		cmd.reply(stored.Body, nil)
	}
	if err != nil {
		cmd.reply(nil, err)
	}
	return nil
}

// reserveKey waits until no other command with the key is under way.
func (h *Hub) reserveKey(ctx context.Context, key string) error {
	for {
		h.mu.Lock()
		wait := h.creating[key]
		if wait == nil {
			h.creating[key] = make(chan struct{})
		}
		h.mu.Unlock()
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

func errStoreUnavailable() error {
	return protocol.Errorf(protocol.CodeStorage, "the store cannot be read; nothing was changed, try again")
}

func errKeyReused(key string) error {
	return protocol.Errorf(protocol.CodeKeyReused, "key %.80q was used for another command: use a new key", key)
}
