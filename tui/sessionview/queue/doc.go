// Package queue implements the panel of the messages that wait in a session: the queue, the
// scheduled messages, the holds of those that are edited, and the undo of removals. It does not know
// the composer: a text for it goes through [Config], a message to edit through [panel.Result].
package queue
