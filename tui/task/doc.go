// Package task runs work outside of the event loop of a Bubble Tea program. A Runner runs single
// tasks and addresses their messages to their owner. Pump reads a source of updates. The owner
// stops both and waits for them.
package task
