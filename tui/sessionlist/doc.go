// Package sessionlist holds the sessions of a server in display order and finds the session that
// needs the user next. A change of one session costs O(log n) comparisons.
//
// It knows session summaries, but no screen, socket or clock. Its types are not safe for concurrent
// use.
package sessionlist
