package protocol

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
