// Package sessionlist holds the sessions of a server in the order of the screen, and finds the
// session that needs the user next. A change of one session costs O(log n).
//
// It knows session summaries, but no screen, socket or clock. Nothing in it is safe for concurrent
// use.
package sessionlist
