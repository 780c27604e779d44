package host

// SpareFiles is the number of files in addition to connections: of the store, and of some agents.
const SpareFiles = 512

// NeededFiles returns the number of files that a server may have open beside so many connections.
func NeededFiles(connections int) uint64 { return uint64(connections) + SpareFiles }
