// Package unidiff reads the unified diffs that agents send, exactly: a line that it does not know
// makes a diff unreadable. It must not guess what a diff changes: users decide on what it returns.
package unidiff
