// Package item opens and closes the items of a turn: parts of text, tool calls and tasks of the plan.
// An agent may leave out their starts and ends; the log has them all.
//
// It must not know agents, or how events are recorded.
package item
