// Package tuitest has the helpers of the TUI tests: recorded sessions, scenes, histories, keys,
// random events and golden screens.
package tuitest
