// Package replica holds the client's copy of a session: its state, its connection and how far it has
// caught up. It applies the updates of the session; it knows nothing of the screen.
package replica
