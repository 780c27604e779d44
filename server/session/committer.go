package session

import (
	"errors"
	"time"
)

// A committer is the only writer of the store. Each commit takes all batches that were submitted
// during the last one.
type committer struct {
	store   Store
	commits chan commit
	done    chan struct{}
	failed  chan struct{} // closed when the store has failed for good
	failure error         // read after failed is closed
	metrics *Metrics
}

// A commit is a submitted batch. then is called with the result on the committer's goroutine and
// must not block.
type commit struct {
	batch *Batch
	then  func(error)
}

// maxBatches bounds the batches of one transaction.
const maxBatches = 1024

func newCommitter(store Store) *committer {
	c := &committer{
		store: store, commits: make(chan commit, maxBatches), done: make(chan struct{}), failed: make(chan struct{}),
		metrics: newMetrics(),
	}
	go c.run()
	return c
}

// submit submits a batch. It must not be called after close.
func (c *committer) submit(b *Batch, then func(error)) { c.commits <- commit{b, then} }

// close commits all submitted batches and returns when the goroutine has ended.
func (c *committer) close() {
	close(c.commits)
	<-c.done
}

// commit commits a group in one transaction.
func (c *committer) commit(group []commit) error {
	batches := make([]*Batch, len(group))
	for i := range group {
		batches[i] = group[i].batch
	}
	start := time.Now()
	err := c.store.Commit(batches)
	c.metrics.committed(batches, time.Since(start), err)
	return err
}

func (c *committer) run() {
	defer close(c.done)
	for first := range c.commits {
		group := []commit{first}
	gather:
		for len(group) < maxBatches {
			select {
			case next, ok := <-c.commits:
				if !ok {
					break gather
				}
				group = append(group, next)
			default:
				break gather
			}
		}
		err := c.commit(group)
		if errors.Is(err, ErrStoreFailed) && c.failure == nil {
			c.failure = err
			close(c.failed)
		}
		if err != nil && len(group) > 1 {
			// Commit each batch alone, so that a bad one fails no other session.
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
