package idempotency

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"agentctl/protocol"
	"agentctl/server/eventlog"
)

// fakeStore is a store and the journal of a session. A commit takes everything that waits.
type fakeStore struct {
	answers map[string]eventlog.Answer
	batch   eventlog.Batch
	waiting []eventlog.Waiter
}

func (f *fakeStore) Answer(_ context.Context, key string) (eventlog.Answer, error) {
	if a, ok := f.answers[key]; ok {
		return a, nil
	}
	return eventlog.Answer{}, eventlog.ErrNotFound
}

func (f *fakeStore) Wait(w eventlog.Waiter)     { f.waiting = append(f.waiting, w) }
func (f *fakeStore) NextBatch() *eventlog.Batch { return &f.batch }

func (f *fakeStore) commit() {
	for _, a := range f.batch.Answers {
		f.answers[a.Key] = a
	}
	f.batch.Answers = nil
	waiting := f.waiting
	f.waiting = nil
	for _, w := range waiting {
		w.Done(nil)
	}
}

// A caller sends one command and keeps its answers.
type caller struct {
	bodies []string
	errs   []error
}

func (c *caller) command(key, hash string) *Command {
	return &Command{Key: key, Hash: []byte(hash), Answer: func(body json.RawMessage, err error) {
		c.bodies, c.errs = append(c.bodies, string(body)), append(c.errs, err)
	}}
}

func TestOnlySoManyAnswersStayInMemory(t *testing.T) {
	store := &fakeStore{answers: map[string]eventlog.Answer{}}
	cache := NewCache("s_1", store, store)
	for i := range 2 * maxAnswers {
		cmd := new(caller).command(fmt.Sprint("k", i), "h")
		if replayed, err := cache.Replay(t.Context(), cmd); replayed || err != nil {
			t.Fatalf("%s: %t, %v", cmd.Key, replayed, err)
		}
		cache.Finish(cmd, json.RawMessage("{}"), nil)
		store.commit()
	}
	if n := max(len(cache.byKey), len(cache.order)); n > maxAnswers {
		t.Errorf("%d answers in memory", n)
	}
	var again caller // from the store
	if replayed, err := cache.Replay(t.Context(), again.command("k0", "h")); !replayed || err != nil {
		t.Errorf("%t, %v", replayed, err)
	}
	if len(again.bodies) != 1 || again.bodies[0] != "{}" || again.errs[0] != nil {
		t.Errorf("answered %+v", again)
	}
}

func TestARepeatWaitsForTheFirstAnswerAndItsCommit(t *testing.T) {
	store := &fakeStore{answers: map[string]eventlog.Answer{}}
	cache := NewCache("s_1", store, store)
	var first, during, after, other caller
	cmd := first.command("k", "h")
	for _, c := range []struct {
		cmd      *Command
		replayed bool
	}{{cmd, false}, {during.command("k", "h"), true}, {other.command("k", "another"), true}} {
		if replayed, err := cache.Replay(t.Context(), c.cmd); replayed != c.replayed || err != nil {
			t.Fatalf("%t, %v", replayed, err)
		}
	}
	if len(other.errs) != 1 || protocol.CodeOf(other.errs[0]) != protocol.CodeKeyReused {
		t.Errorf("another command with the key: %v", other.errs)
	}
	cache.Finish(cmd, json.RawMessage("1"), nil)
	if _, err := cache.Replay(t.Context(), after.command("k", "h")); err != nil {
		t.Fatal(err)
	}
	if len(during.bodies)+len(after.bodies) != 0 {
		t.Error("answered before the commit")
	}
	store.commit()
	for _, c := range []*caller{&during, &after} {
		if len(c.bodies) != 1 || c.bodies[0] != "1" {
			t.Errorf("answered %+v", c)
		}
	}
}

func TestAnAnswerThatIsNotDurableYetIsNotForgotten(t *testing.T) {
	store := &fakeStore{answers: map[string]eventlog.Answer{}}
	cache := NewCache("s_1", store, store)
	for i := range 2 * maxAnswers {
		cmd := new(caller).command(fmt.Sprint("k", i), "h")
		if replayed, err := cache.Replay(t.Context(), cmd); replayed || err != nil {
			t.Fatalf("%s: %t, %v", cmd.Key, replayed, err)
		}
		cache.Finish(cmd, json.RawMessage(fmt.Sprint(i)), nil)
	}
	var again caller
	if replayed, err := cache.Replay(t.Context(), again.command("k0", "h")); !replayed || err != nil {
		t.Fatalf("one key, two commands: %t, %v", replayed, err)
	}
	store.commit()
	if len(again.bodies) != 1 || again.bodies[0] != "0" || again.errs[0] != nil {
		t.Errorf("answered %+v", again)
	}
}
