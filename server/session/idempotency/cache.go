package idempotency

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"agentctl/server/eventlog"
)

// A Journal accepts answers to store, and calls waiters when everything appended so far is visible;
// see eventlog.Journal.
type Journal interface {
	Wait(w eventlog.Waiter)
	NextBatch() *eventlog.Batch
}

// A Cache holds recent answers to the commands of a session; the store holds all. It is owned by the
// session's goroutine.
type Cache struct {
	session string
	store   Store
	journal Journal
	byKey   map[string]*answer
	order   []string // keys, oldest first
}

// An answer is the answer to a key. While its command is in progress, body is nil and repeats of the
// command wait. Only a durable one may be evicted.
type answer struct {
	hash    []byte
	body    json.RawMessage
	durable bool
	waiting []*Command
}

const maxAnswers = 256

// NewCache returns an empty cache of a session.
func NewCache(session string, store Store, journal Journal) *Cache {
	return &Cache{session: session, store: store, journal: journal, byKey: map[string]*answer{}}
}

// Replay answers a command whose key was used before. If it returns false, the command is the first
// one and has begun. An error of reading the store is returned and also answered to the command.
func (c *Cache) Replay(ctx context.Context, cmd *Command) (replayed bool, err error) {
	if a := c.byKey[cmd.Key]; a != nil {
		switch {
		case !bytes.Equal(a.hash, cmd.Hash):
			cmd.Answer(nil, errReused(cmd.Key))
		case a.body == nil:
			a.waiting = append(a.waiting, cmd)
		default:
			reply := func(err error) { cmd.Answer(a.body, err) }
			c.journal.Wait(eventlog.Waiter{Done: reply, Refuse: reply})
		}
		return true, nil
	}
	stored, err := c.store.Answer(ctx, cmd.Key)
	switch {
	case errors.Is(err, eventlog.ErrNotFound):
		c.Begin(cmd)
		return false, nil
	case err != nil:
		cmd.Answer(nil, errUnavailable())
		return true, err //nolint:wrapcheck // the caller logs it as the store's
	case stored.Session != c.session || !bytes.Equal(stored.Hash, cmd.Hash):
		cmd.Answer(nil, errReused(cmd.Key))
	default:
		cmd.Answer(stored.Body, nil)
	}
	return true, nil
}

// Begin notes that a command is in progress, and evicts the oldest durable answers beyond the limit.
func (c *Cache) Begin(cmd *Command) {
	c.byKey[cmd.Key] = &answer{hash: cmd.Hash}
	c.order = append(c.order, cmd.Key)
	for i := 0; len(c.order) > maxAnswers && i < len(c.order); {
		if old := c.byKey[c.order[i]]; old != nil && !old.durable {
			i++
			continue
		}
		delete(c.byKey, c.order[i])
		c.order = append(c.order[:i], c.order[i+1:]...)
	}
}

// Finish adds the answer to the commit of the command's events and answers repeats that wait for it.
// An error changed nothing and is not stored: a repeat runs the command again.
func (c *Cache) Finish(cmd *Command, body json.RawMessage, err error) {
	a := c.byKey[cmd.Key]
	if a == nil { // dropped by a failed commit
		return
	}
	for _, w := range a.waiting {
		reply := func(failed error) { w.Answer(body, errors.Join(failed, err)) }
		c.journal.Wait(eventlog.Waiter{Done: reply, Refuse: reply})
	}
	a.waiting = nil
	if err != nil {
		delete(c.byKey, cmd.Key)
		return
	}
	a.body = body
	b := c.journal.NextBatch()
	b.Answers = append(b.Answers, cmd.Stored(c.session, body))
	c.journal.Wait(eventlog.Waiter{Done: func(failed error) { a.durable = failed == nil }})
}

// Remove removes a key whose command was answered elsewhere, and answers repeats that wait.
func (c *Cache) Remove(key string, body json.RawMessage, err error) {
	a := c.byKey[key]
	if a == nil {
		return
	}
	delete(c.byKey, key)
	for _, w := range a.waiting {
		w.Answer(body, err)
	}
}

// Reset drops answers after a failed commit; the store has the durable ones. Commands in progress
// stay.
func (c *Cache) Reset() {
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

// FailAll answers all waiting repeats with an error, when the session ends with their command in
// progress.
func (c *Cache) FailAll(err error) {
	for _, a := range c.byKey {
		for _, w := range a.waiting {
			w.Answer(nil, err)
		}
		a.waiting = nil
	}
}
