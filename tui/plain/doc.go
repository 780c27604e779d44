// Package plain is the client for output that is not a terminal, and for screen readers. It prints
// events as lines, and reads messages and commands as lines. It must not move the cursor, and must
// not write untrusted text without removing control characters or making them visible.
package plain
