package wire

// Bounds of a conversation, at both ends.
const (
	MaxOpenItems = 1024    // tools and approval requests of a turn
	MaxContent   = 4 << 20 // bytes of a message that message_complete repeats
)
