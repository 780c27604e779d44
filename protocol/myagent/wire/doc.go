// Package wire has the frames of MyAgent's WebSocket protocol, as both ends send and decode them:
// names of events, capabilities, ids of frames and steps, tasks of a plan, bounds. It must not know
// sessions or turns.
package wire

// Name is the name of the dialect.
const Name = "myagent"
