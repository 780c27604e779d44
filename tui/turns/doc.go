// Package turns is the client's reader of a session's turns. It reduces each event once: to the items
// of the current turn (a protocol.Transcript), to every turn in brief and to the plan
// of the current turn. Pages of history are reduced the same way and prepended.
//
// It knows neither the screen nor a socket nor a clock. Its types are not safe for concurrent use.
package turns
