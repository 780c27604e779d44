package host

import "agentctl/server"

// SpareFiles is the number of files in addition to connections: of the store, and of some agents.
const SpareFiles = 512

// NeededFiles returns the number of files that a server with the limits may have open.
func NeededFiles(l server.Limits) uint64 { return uint64(l.Sockets()) + SpareFiles }
