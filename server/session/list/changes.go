package list

import (
	"strings"
	"sync"
)

// Changes is a Watcher that collects the changed sessions for one reader.
type Changes struct {
	Wake chan struct{} // has a value when there may be changes

	mu    sync.Mutex
	list  []Change // in the order of the first change
	index map[string]int
}

// A Change is a session with its newest summary, encoded.
type Change struct {
	Session string
	Summary []byte
}

// NewChanges returns a collection without changes.
func NewChanges() *Changes {
	return &Changes{Wake: make(chan struct{}, 1), index: map[string]int{}}
}

// Notify implements Watcher.
func (c *Changes) Notify(key string, line []byte) {
	c.mu.Lock()
	if i, ok := c.index[key]; ok {
		c.list[i].Summary = line
	} else {
		_, session, _ := strings.Cut(key, " ")
		c.index[key] = len(c.list)
		c.list = append(c.list, Change{session, line})
	}
	c.mu.Unlock()
	select {
	case c.Wake <- struct{}{}:
	default:
	}
}

// Take returns the changes and forgets them.
func (c *Changes) Take() []Change {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.list
	c.list = nil
	clear(c.index)
	return list
}
