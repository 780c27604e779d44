package split

import (
	"cmp"
	"slices"
)

// MaxPanes is the maximum number of sessions of a layout.
const MaxPanes = 4

// Layout says which sessions are side by side and which one has the focus. It is immutable: its
// methods return a changed layout. The zero value has no session. A session is in a layout once.
type Layout struct {
	root   *node // nil: no session
	focus  string
	zoomed bool // the session with the focus covers the screen
}

// node is a session, or a split of two nodes. It is immutable.
type node struct {
	Session string  `json:"session,omitempty"`
	Below   bool    `json:"below,omitempty"`  // Second is below First, else to its right
	Share   float64 `json:"share,omitempty"`  // part of the space that First gets
	First   *node   `json:"first,omitempty"`  // nil: the node is a session
	Second  *node   `json:"second,omitempty"` // nil: the node is a session
}

// New returns the layout of one session.
func New(session string) Layout { return Layout{root: &node{Session: session}, focus: session} }

// Row returns the layout of up to MaxPanes sessions side by side, of equal width. The first has the
// focus.
func Row(sessions []string) Layout {
	var l Layout
	for i := min(len(sessions), MaxPanes) - 1; i >= 0; i-- {
		n := &node{Session: sessions[i]}
		if l.root != nil {
			rest := len(l.Sessions())
			n = &node{Share: 1 / float64(rest+1), First: n, Second: l.root}
		}
		l = Layout{root: n, focus: sessions[i]}
	}
	return l
}

// Focus returns the session with the focus.
func (l Layout) Focus() string { return l.focus }

// Zoomed reports whether the session with the focus covers the others.
func (l Layout) Zoomed() bool { return l.zoomed }

// Sessions returns the sessions from left to right and from top to bottom.
func (l Layout) Sessions() []string { return l.root.sessions(nil) }

// Len returns the number of sessions.
func (l Layout) Len() int { return len(l.Sessions()) }

// Has reports whether a session is in the layout.
func (l Layout) Has(session string) bool { return l.root.leaf(session) != nil }

// Open gives a session the focus. A session that is not in the layout replaces the one with the
// focus.
func (l Layout) Open(session string) Layout {
	switch {
	case l.root == nil:
		return New(session)
	case !l.Has(session):
		l.root = l.root.replace(l.root.leaf(l.focus), &node{Session: session})
	}
	l.focus = session
	return l
}

// Split adds a session beside the one with the focus, to its right or below. The new session gets
// half of the space and the focus. If it is in the layout, it gets the focus only. A full layout
// does not change.
func (l Layout) Split(session string, below bool) Layout {
	switch {
	case l.root == nil || l.Has(session):
		l = l.Open(session)
		l.zoomed = false
		return l
	case l.Len() == MaxPanes:
		return l
	}
	old := l.root.leaf(l.focus)
	l.root = l.root.replace(old, &node{Below: below, Share: 0.5, First: old, Second: &node{Session: session}})
	l.focus, l.zoomed = session, false
	return l
}

// Remove removes a session. Its neighbour gets the space, and the focus if the session had it.
func (l Layout) Remove(session string) Layout {
	leaf := l.root.leaf(session)
	parent, heir := l.root.parent(leaf)
	switch {
	case leaf == nil:
		return l
	case parent == nil:
		return Layout{}
	}
	l.root = l.root.replace(parent, heir)
	if l.focus == session {
		l.focus, l.zoomed = heir.sessions(nil)[0], false
	}
	l.zoomed = l.zoomed && l.root.First != nil
	return l
}

// Keep removes the sessions for which keep is false.
func (l Layout) Keep(keep func(session string) bool) Layout {
	for _, session := range l.Sessions() {
		if !keep(session) {
			l = l.Remove(session)
		}
	}
	return l
}

// ToggleZoom lets the session with the focus cover the others, or shows all again.
func (l Layout) ToggleZoom() Layout {
	l.zoomed = !l.zoomed && l.Len() > 1
	return l
}

// Next gives the next session the focus, after the last one the first.
func (l Layout) Next() Layout {
	all := l.Sessions()
	if len(all) > 0 {
		l.focus = all[(slices.Index(all, l.focus)+1)%len(all)]
	}
	return l
}

// sessions appends the sessions of a tree to a list.
func (n *node) sessions(to []string) []string {
	switch {
	case n == nil:
		return to
	case n.First == nil:
		return append(to, n.Session)
	}
	return n.Second.sessions(n.First.sessions(to))
}

// leaf returns the node of a session in a tree, or nil.
func (n *node) leaf(session string) *node {
	switch {
	case n == nil || n.First == nil && n.Session != session:
		return nil
	case n.First == nil:
		return n
	}
	return cmp.Or(n.First.leaf(session), n.Second.leaf(session))
}

// parent returns the split that has a node as a side, and its other side. Both are nil without one.
func (n *node) parent(side *node) (parent, other *node) {
	switch {
	case n == nil || n.First == nil:
		return nil, nil
	case n.First == side:
		return n, n.Second
	case n.Second == side:
		return n, n.First
	}
	if parent, other = n.First.parent(side); parent == nil {
		parent, other = n.Second.parent(side)
	}
	return parent, other
}

// replace returns the tree with another node in place of old.
func (n *node) replace(old, by *node) *node {
	switch {
	case n == old:
		return by
	case n == nil || n.First == nil:
		return n
	}
	changed := *n
	changed.First, changed.Second = n.First.replace(old, by), n.Second.replace(old, by)
	return &changed
}
