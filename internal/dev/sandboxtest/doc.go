// Package sandboxtest attacks sandboxes and works in them (build tag sandbox). It owns the table of
// the ways in which an agent could decide its own requests, which docs/security.md shows.
package sandboxtest
