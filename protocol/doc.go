// Package protocol is the native language of agentctl: events, commands, answers, snapshots, coded errors and positions,
// how they are encoded and decoded, and the two pure folds over events: State (what a session is) and Transcript (what was
// said and done in it). Server, client and tests share it.
//
// It is pure: standard library only, no I/O, no goroutine, no clock. It must not know servers, sockets or screens.
package protocol

// Version is the native protocol's version, the WebSocket subprotocol's suffix.
const Version = "v1"

// Subprotocol is the WebSocket subprotocol of the native protocol.
const Subprotocol = "agentctl." + Version

// ProtocolHeader is the HTTP header in which a server of ours says what it speaks at a path: Subprotocol, or the name of a dialect.
const ProtocolHeader = "Agentctl-Speaks"

// Path is where a server serves the native protocol.
const Path = "/v1/ws"

// Limits, in bytes. What enters the log obeys them; a peer may rely on them.
const (
	MaxEvent   = 256 << 10 // one encoded event
	MaxJoined  = 128 << 10 // the text of one folded run
	MaxMessage = 1 << 20   // one WebSocket message of a client, unless the server's hello says otherwise
	MaxText    = 40 << 10  // the text of one delta event: even if every byte is escaped as \u00XX it fits MaxEvent
)

// DefaultWindow is the number of unacknowledged bytes a server lets a connection have when its client asks for a window
// and names no size.
const DefaultWindow = 256 << 10
