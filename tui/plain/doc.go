// Package plain owns the client for output that is not a terminal, and for screen readers: events
// as lines, and commands typed as lines. It must not move the cursor, and must not write what was
// read from the server without making control characters visible.
package plain
