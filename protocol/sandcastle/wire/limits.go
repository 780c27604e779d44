package wire

// Bounds of one connection, at both ends.
const (
	MaxRequests      = 256 // open requests, including streams
	MaxSubscriptions = 64  // subscribed sessions
)

// Bounds of one turn, at both ends.
const (
	MaxOpen       = 4096    // parts and tools
	MaxToolOutput = 1 << 20 // bytes of one tool's output that are repeated
	MaxToolsBytes = 8 << 20 // of all tools
)
