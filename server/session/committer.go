package session

// A committer is the one writer of the store: it takes the batches that sessions hand in, and a commit takes all that came
// while the last one ran.
type committer struct {
	store Store
	in    chan commit
	done  chan struct{}
}

// A commit is a batch and who wants to know. then is called on the committer's goroutine and must not block.
type commit struct {
	batch *Batch
	then  func(error)
}

// maxGroup bounds the batches of one transaction.
const maxGroup = 1024

func newCommitter(store Store) *committer {
	c := &committer{store: store, in: make(chan commit, maxGroup), done: make(chan struct{})}
	go c.run()
	return c
}

// submit hands a batch in. It must not be called after close.
func (c *committer) submit(b *Batch, then func(error)) { c.in <- commit{b, then} }

// close commits what was submitted and returns when the committer has ended.
func (c *committer) close() {
	close(c.in)
	<-c.done
}

func (c *committer) run() {
	defer close(c.done)
	for first := range c.in {
		group := []commit{first}
	gather:
		for len(group) < maxGroup {
			select {
			case next, ok := <-c.in:
				if !ok {
					break gather
				}
				group = append(group, next)
			default:
				break gather
			}
		}
		batches := make([]*Batch, len(group))
		for i := range group {
			batches[i] = group[i].batch
		}
		err := c.store.Commit(batches)
		if err != nil && len(group) > 1 {
			// One session's batch must not fail another's: each on its own.
			for _, g := range group {
				g.then(c.store.Commit([]*Batch{g.batch}))
			}
			continue
		}
		for _, g := range group {
			g.then(err)
		}
	}
}
