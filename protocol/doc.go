// Package protocol is the native protocol of agentctl: events, commands, answers, snapshots, error
// codes and positions, their encoding, and two reducers over events: State (the session's status,
// queue and approvals) and Transcript (its messages and tool calls). Server, client and tests share
// it.
//
// Two tables define the protocol: Commands and EventTypes. Tests hold every package that carries
// commands or events to them.
//
// The package has no I/O, goroutine or clock and imports the standard library only. It must not
// know servers, sockets or screens.
package protocol

// Version is the version of the native protocol, the suffix of its WebSocket subprotocol.
const Version = "v1"

// Subprotocol is the WebSocket subprotocol of the native protocol.
const Subprotocol = "agentctl." + Version

// ProtocolHeader is the HTTP header in which an agentctl server names the protocol of a path:
// Subprotocol, or the name of a dialect.
const ProtocolHeader = "Agentctl-Speaks"

// Path is the URL path of the native protocol.
const Path = "/v1/ws"

// Limits, in bytes. The log enforces them and a peer may rely on them.
const (
	MaxEvent   = 256 << 10 // one encoded event
	MaxJoined  = 128 << 10 // the text of one joined run
	MaxMessage = 1 << 20   // one WebSocket message of a client, unless the answer to hello differs
	MaxResult  = 15 << 20  // the result of a command
	MaxHistory = 1 << 20   // the events of one answer to history, about
	MaxText    = 40 << 10  // the text of one delta event; fits MaxEvent with every byte escaped as \u00XX
)

// MaxOutgoing bounds one WebSocket message of a server, in bytes.
const MaxOutgoing = MaxResult + 1<<20

// DefaultWindow is the window of a client that asks for one without a size: bytes sent and not
// acknowledged.
const DefaultWindow = 256 << 10
