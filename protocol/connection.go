package protocol

// HelloData opens a connection: who the client is and what it wants. It may be left out: then the name is the peer's, and
// there is no window.
type HelloData struct {
	Version string `json:"version,omitempty"` // Version; another one is refused with unsupported
	Name    string `json:"name,omitempty"`    // of the person; a verified credential's name wins
	Agent   string `json:"agent,omitempty"`   // of the program
	Acks    bool   `json:"acks,omitempty"`    // the client acknowledges; it gets a window
	Window  int64  `json:"window,omitempty"`  // bytes; 0: DefaultWindow
}

// HelloResult tells what the server is and allows.
type HelloResult struct {
	Version     string   `json:"version"`
	Server      string   `json:"server"` // the program and its version
	Connection  string   `json:"connection"`
	By          Actor    `json:"by"`       // what this connection's actions are attributed to
	Commands    []Verb   `json:"commands"` // that the server knows and the role allows
	Agents      []string `json:"agents,omitempty"`
	Limits      Limits   `json:"limits"`
	Window      int64    `json:"window,omitempty"` // bytes; absent: none
	HeartbeatMS int64    `json:"heartbeat_ms,omitempty"`
}

// Limits of a server, in bytes and counts.
type Limits struct {
	Message  int64 `json:"message"`  // of one WebSocket message
	Event    int64 `json:"event"`    // of one event
	InFlight int   `json:"inflight"` // commands under way per connection; more wait
}

// SubscribeData asks to follow a session. Without Position: the snapshot of the last turn boundary and the events since. With
// one: exactly the events after it, or a reset.
type SubscribeData struct {
	Position *Position `json:"position,omitempty"`
	Raw      bool      `json:"raw,omitempty"` // never folded, not when lagging either
}

// Modes of an attachment.
const (
	ModeSnapshot = "snapshot"
	ModeResume   = "resume"
	ModeReset    = "reset"
)

// Reasons of a reset.
const (
	ResetEpoch   = "epoch_changed" // the log was restored, imported or repaired
	ResetPastEnd = "past_end"      // the position lies beyond the log

	// Over a dialect, whose connections have no positions in common:

	ResetFresh        = "fresh_snapshot" // this is how the session is now
	ResetResubscribed = "resubscribed"   // the turn under way and what comes are told; what ended meanwhile is not
)

// Reasons of a resume over a dialect: how what was missed is told.
const (
	ResumeReplayed = "replayed"       // the server tells it again
	ResumeRestored = "state_restored" // the session goes on from its exported state
)

// SubscribeResult tells how the session is followed: events after After come next, then caught_up at Position or later. With
// mode snapshot and reset, Snapshot is the state at After.
type SubscribeResult struct {
	Session  string    `json:"session"`
	Mode     string    `json:"mode"`
	Reason   string    `json:"reason,omitempty"` // of a reset; over a dialect, of a resume too
	After    Position  `json:"after"`
	Position Position  `json:"position"` // the end of the visible log now
	Snapshot *Snapshot `json:"snapshot,omitempty"`
	Clients  []Client  `json:"clients"`
}

// AckData says that everything up to Seq was received. It is not answered.
type AckData struct {
	Seq uint64 `json:"seq"`
}

// WatchData asks for the summaries of all sessions now and their changes from now on (session.summary, the newest of each
// session). Off ends it.
type WatchData struct {
	Off bool `json:"off,omitempty"`
}

// ListData asks for summaries, newest activity first. Closed includes closed sessions.
type ListData struct {
	Closed bool `json:"closed,omitempty"`
}

// ListResult holds summaries.
type ListResult struct {
	Sessions []Summary `json:"sessions"`
}

// SnapshotResult is a session's visible state now, with who follows it.
type SnapshotResult struct {
	Snapshot Snapshot `json:"snapshot"`
	Status   Status   `json:"status"`
	Clients  []Client `json:"clients"`
}
