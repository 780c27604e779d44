// Package compaction makes conversations smaller. It measures them, drops large results of tools,
// chooses which messages a summary replaces, and writes the request for the summary. It requests
// nothing itself and has no state.
package compaction
