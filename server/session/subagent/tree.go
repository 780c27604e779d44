package subagent

import (
	"crypto/sha256"
	"encoding/base32"
	"maps"
	"slices"
	"sync"

	"agentctl/protocol"
)

// maxDepth bounds how deep sub-agents are below their root.
const maxDepth = 16

// ids encodes the hash of an id as the random ids of sessions are.
var ids = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// SessionID returns the id of the session of a sub-agent: the same for each call with the session of
// its agent, the root, and the agent's own id of it.
func SessionID(root, id string) string {
	sum := sha256.Sum256([]byte(root + "\x00" + id))
	return "s_" + ids.EncodeToString(sum[:10])
}

// A Tree holds the sessions of sub-agents below their parents. Its methods may be called from any
// goroutine.
type Tree struct {
	mu       sync.Mutex
	parents  map[string]string          // of each sub-agent
	children map[string]map[string]bool // by parent
	sizes    map[string]int             // how many are below each session; absent: none
}

// NewTree returns an empty tree.
func NewTree() *Tree {
	return &Tree{parents: map[string]string{}, children: map[string]map[string]bool{}, sizes: map[string]int{}}
}

// Add adds a sub-agent below a parent, unless the root has that many already. One that is known stays
// where it is. The error has the code session_limit.
func (t *Tree) Add(child, parent string, most int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.parents[child] != "" {
		return nil
	}
	root, depth := t.root(parent)
	if depth >= maxDepth {
		return protocol.Errorf(protocol.CodeSessionLimit, "sub-agents are at most %d levels deep", maxDepth)
	}
	if t.sizes[root] >= most {
		return protocol.Exceeded(protocol.CodeSessionLimit, most,
			"the session has too many sub-agents: remove some of their sessions")
	}
	t.put(child, parent)
	return nil
}

// Load adds a stored sub-agent. Its parent may be loaded later.
func (t *Tree) Load(child, parent string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.put(child, parent)
}

// put adds a sub-agent that the tree lacks.
func (t *Tree) put(child, parent string) {
	t.parents[child] = parent
	t.resize(child, 1+t.sizes[child])
	if t.children[parent] == nil {
		t.children[parent] = map[string]bool{}
	}
	t.children[parent][child] = true
}

// Remove removes a sub-agent.
func (t *Tree) Remove(child string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	parent, known := t.parents[child]
	if !known {
		return
	}
	t.resize(child, -1-t.sizes[child])
	delete(t.parents, child)
	delete(t.children[parent], child)
	if len(t.children[parent]) == 0 {
		delete(t.children, parent)
	}
}

// resize adds n to the sizes of the sessions above a sub-agent.
func (t *Tree) resize(child string, n int) {
	above := t.parents[child]
	for depth := 0; above != "" && depth <= maxDepth; depth++ {
		if t.sizes[above] += n; t.sizes[above] == 0 {
			delete(t.sizes, above)
		}
		above = t.parents[above]
	}
}

// Children returns the sub-agents directly below a session, sorted.
func (t *Tree) Children(parent string) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Sorted(maps.Keys(t.children[parent]))
}

// Below returns all sub-agents below a session, each after its parent.
func (t *Tree) Below(session string) (all []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.below(session)
}

// below requires mu.
func (t *Tree) below(session string) (all []string) {
	seen := map[string]bool{session: true} // a damaged store may have a circle
	for next := []string{session}; len(next) > 0; next = next[1:] {
		for _, child := range slices.Sorted(maps.Keys(t.children[next[0]])) {
			if !seen[child] {
				seen[child] = true
				all, next = append(all, child), append(next, child)
			}
		}
	}
	return all
}

// Any reports whether f returns true for a sub-agent below a session. f must not use the tree.
func (t *Tree) Any(session string, f func(id string) bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.any(session, maxDepth, f)
}

// any requires mu.
func (t *Tree) any(session string, depth int, f func(id string) bool) bool {
	for child := range t.children[session] {
		if f(child) || depth > 0 && t.any(child, depth-1, f) {
			return true
		}
	}
	return false
}

// Root returns the session of the agent that a session shows a sub-agent of; any other session is
// its own root.
func (t *Tree) Root(session string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	root, _ := t.root(session)
	return root
}

// All returns all sub-agents with their parents.
func (t *Tree) All() map[string]string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.parents)
}

// root requires mu. Damaged parents that form a circle end after maxDepth levels.
func (t *Tree) root(session string) (root string, depth int) {
	for ; t.parents[session] != "" && depth < maxDepth; depth++ {
		session = t.parents[session]
	}
	return session, depth
}
