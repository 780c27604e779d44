package pipeline

import (
	"cmp"
	"slices"

	"agentctl/protocol"
)

// maxStoredPaths bounds the paths of the stored changes, in bytes.
const maxStoredPaths = 64 << 10

// storedChanges are the changed files that matter after a restart of the server: those of tasks that
// run, and of tasks that ended since the first of them began.
type storedChanges struct {
	Now       int                     `json:"now"`
	Attempts  []attempt               `json:"attempts,omitempty"`
	Conflicts []protocol.FileConflict `json:"conflicts,omitempty"`
}

// store returns what is to be stored; nil: nothing.
func (c *changedFiles) store() *storedChanges {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.running) == 0 && len(c.conflicts) == 0 {
		return nil
	}
	s := &storedChanges{Now: c.now, Conflicts: slices.Clone(c.conflicts)}
	index := map[*attempt]int{}
	first, size := c.now, 0
	add := func(a *attempt) {
		if _, ok := index[a]; !ok {
			index[a] = len(s.Attempts)
			s.Attempts = append(s.Attempts, *a)
		}
	}
	for _, a := range c.running {
		first = min(first, a.Began)
		add(a)
	}
	if len(c.running) == 0 {
		return s
	}
	for path, by := range c.attempts {
		for _, a := range by {
			if size += len(path); size > maxStoredPaths || a.End != 0 && a.End < first {
				continue
			}
			add(a)
			s.Attempts[index[a]].Paths = append(s.Attempts[index[a]].Paths, path)
		}
	}
	return s
}

// restore takes the stored changes.
func (c *changedFiles) restore(s *storedChanges) {
	c.now, c.conflicts, c.attempts = s.Now, slices.Clone(s.Conflicts), map[string][]*attempt{}
	for _, stored := range s.Attempts {
		a := &stored
		if a.End == 0 {
			c.running = append(c.running, a)
		}
		for _, path := range a.Paths {
			c.attempts[path] = append(c.attempts[path], a)
		}
		a.Paths = nil
	}
	for _, by := range c.attempts {
		slices.SortFunc(by, func(a, b *attempt) int { return cmp.Compare(a.Began, b.Began) })
	}
}
