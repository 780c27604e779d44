// Package replay plays the recorded events of a session. [Read] reads an exported log, and [Player]
// plays it with the interface of a session of a server. It must not know the screen or where a
// recording comes from.
package replay
