package eventlog

import (
	"context"
	"errors"
	"sync"
	"time"
)

// A Committer is the only writer of the store. Each commit takes all batches that were submitted
// during the last one.
type Committer struct {
	store   Store
	observe Observer
	commits chan commit
	done    chan struct{}
	failed  context.Context
	fail    context.CancelCauseFunc // ends failed

	submitting sync.RWMutex // read-locked to submit a batch, locked by Close
	closed     bool         // no further batches; guarded by submitting
}

// An Observer gets the result of each commit. It is called on the committer's goroutine and must
// not block.
type Observer func(batches []*Batch, took time.Duration, err error)

// A commit is a submitted batch.
type commit struct {
	batch *Batch
	then  func(error)
}

// maxBatches bounds the batches of one transaction.
const maxBatches = 1024

// NewCommitter starts the goroutine that writes a store, until Close.
func NewCommitter(store Store, observe Observer) *Committer {
	c := &Committer{store: store, observe: observe, commits: make(chan commit, maxBatches), done: make(chan struct{})}
	c.failed, c.fail = context.WithCancelCause(context.Background())
	go c.run()
	return c
}

// Failed returns a context that ends when the store has failed for good, with its error as the cause.
func (c *Committer) Failed() context.Context { return c.failed }

// Submit submits a batch. It calls then with the result on the committer's goroutine; then must not
// block. After Close it returns false and does not call then.
func (c *Committer) Submit(b *Batch, then func(error)) bool {
	c.submitting.RLock()
	defer c.submitting.RUnlock()
	if c.closed {
		return false
	}
	c.commits <- commit{b, then}
	return true
}

// Commit submits a batch and returns the result; after Close it is ErrStoreFailed.
func (c *Committer) Commit(b *Batch) error {
	result := make(chan error, 1)
	if !c.Submit(b, func(err error) { result <- err }) {
		return ErrStoreFailed
	}
	return <-result
}

// Close commits all submitted batches and returns when the goroutine has ended.
func (c *Committer) Close() {
	c.submitting.Lock()
	c.closed = true
	close(c.commits)
	c.submitting.Unlock()
	<-c.done
}

// commit commits a group in one transaction.
func (c *Committer) commit(group []commit) error {
	batches := make([]*Batch, len(group))
	for i := range group {
		batches[i] = group[i].batch
	}
	start := time.Now()
	err := c.store.Commit(batches)
	c.observe(batches, time.Since(start), err)
	return err
}

func (c *Committer) run() {
	defer close(c.done)
	for first := range c.commits {
		group := []commit{first}
		for len(c.commits) > 0 && len(group) < maxBatches {
			group = append(group, <-c.commits)
		}
		err := c.commit(group)
		if errors.Is(err, ErrStoreFailed) {
			c.fail(err)
		}
		if err != nil && len(group) > 1 {
			// Commit each batch separately, so that a bad one fails only its session.
			for _, g := range group {
				g.then(c.commit([]commit{g}))
			}
			continue
		}
		for _, g := range group {
			g.then(err)
		}
	}
}
