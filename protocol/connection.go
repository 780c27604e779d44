package protocol

// Types of the events of connections. They are ephemeral: no seq, never stored, never replayed.
const (
	Heartbeat Type = "heartbeat"
	CaughtUp  Type = "caught_up"
)

var connectionEvents = []EventType{
	{Type: Heartbeat, New: of[HeartbeatData], Ephemeral: true},
	{Type: CaughtUp, New: of[CaughtUpData], Ephemeral: true},
}

// Commands about a connection.
const (
	DoHello       Verb = "hello"
	DoPing        Verb = "ping"
	DoSubscribe   Verb = "subscribe"
	DoUnsubscribe Verb = "unsubscribe"
	DoAck         Verb = "ack"
)

var connectionCommands = []CommandType{
	{
		Verb: DoHello, Data: of[HelloData], Result: of[HelloResult], Role: RoleObserver, Connection: true,
		Examples: [2]string{`{"name":"ann"}`, `{"name":"bob"}`},
	},
	{
		Verb: DoPing, Data: of[Empty], Result: of[Empty], Role: RoleObserver, Connection: true,
	},
	{
		Verb: DoSubscribe, Data: of[SubscribeData], Result: of[SubscribeResult],
		Role: RoleObserver, Connection: true, Session: true,
		Words:    "following a session",
		Examples: [2]string{"{}", `{"raw":true}`},
	},
	{
		Verb: DoUnsubscribe, Data: of[Empty], Result: of[Empty], Role: RoleObserver, Connection: true, Session: true,
	},
	{
		Verb: DoAck, Data: of[AckData], Result: of[Empty], Role: RoleObserver, Connection: true, Session: true,
		Examples: [2]string{`{"seq":1}`, `{"seq":2}`},
	},
}

// HelloData describes the client. It is optional: without it, the name is the peer's address and
// there is no window.
type HelloData struct {
	Version string `json:"version,omitempty"` // Version; the server refuses others with unsupported
	Name    string `json:"name,omitempty"`    // of the user; the name of a verified credential wins
	Agent   string `json:"agent,omitempty"`   // the client program
	Acks    bool   `json:"acks,omitempty"`    // the client sends acks and gets a window
	Window  int64  `json:"window,omitempty"`  // bytes; 0: DefaultWindow
}

// HelloResult describes the server and the connection.
type HelloResult struct {
	Version     string   `json:"version"`
	Server      string   `json:"server"` // the program and its version
	Connection  string   `json:"connection"`
	By          Actor    `json:"by"`             // the actor of this connection's commands
	Role        Role     `json:"role,omitempty"` // of the client; absent: every command is allowed
	Commands    []Verb   `json:"commands"`       // known to the server and allowed by the role
	Agents      []string `json:"agents,omitempty"`
	Sandbox     *Sandbox `json:"sandbox,omitempty"` // of a create that chooses none; absent: the client can choose none
	Limits      Limits   `json:"limits"`
	Window      int64    `json:"window,omitempty"` // bytes; absent: none
	HeartbeatMS int64    `json:"heartbeat_ms,omitempty"`
}

// Limits of a server, in bytes and counts.
type Limits struct {
	Message  int64 `json:"message"`  // of one WebSocket message
	Event    int64 `json:"event"`    // of one event
	InFlight int   `json:"inflight"` // concurrent commands per connection; others wait

	FoldMS int64 `json:"fold_ms,omitempty"` // largest SubscribeData.FoldMS; absent: the server does not know it

	// HistoryBytes is the largest HistoryData.Bytes; absent: the server does not know it.
	HistoryBytes int64 `json:"history_bytes,omitempty"`
}

// SubscribeData subscribes to a session. Without Position: the snapshot of the last turn boundary
// and the events since. With one: exactly the events after it, or a reset.
type SubscribeData struct {
	Position *Position `json:"position,omitempty"`
	Raw      bool      `json:"raw,omitempty"` // never join deltas, even when lagging

	// FoldMS joins live deltas too: deltas that become visible within this many milliseconds of the
	// last ones sent wait and arrive as one event. Any other event is sent immediately, after the
	// deltas before it. It needs Limits.FoldMS; larger values are reduced to it.
	FoldMS int64 `json:"fold_ms,omitempty"`
}

// Modes of a subscription.
const (
	ModeSnapshot = "snapshot"
	ModeResume   = "resume"
	ModeReset    = "reset"
)

// Reasons of a reset.
const (
	ResetEpoch   = "epoch_changed" // the log was restored, imported or repaired
	ResetPastEnd = "past_end"      // the position lies beyond the log

	// Over a dialect, whose connections share no positions:

	ResetFresh        = "fresh_snapshot" // the snapshot is the session's current state
	ResetResubscribed = "resubscribed"   // turns that ended during the gap are missing
)

// Reasons of a resume over a dialect: the source of the missed events.
const (
	ResumeReplayed = "replayed"       // the server replays them
	ResumeRestored = "state_restored" // the session continues from its exported state
)

// SubscribeResult describes a subscription: the events after After follow, then caught_up at
// Position or later. In the modes snapshot and reset, Snapshot is the state at After.
type SubscribeResult struct {
	Session  string    `json:"session"`
	Mode     string    `json:"mode"`
	Reason   string    `json:"reason,omitempty"` // of a reset; over a dialect also of a resume
	After    Position  `json:"after"`
	Position Position  `json:"position"` // the end of the visible log now
	Snapshot *Snapshot `json:"snapshot,omitempty"`
	Clients  []Client  `json:"clients"` // this client, and the 32 that have been attached longest

	ClientCount int           `json:"client_count,omitempty"` // of all clients, if Clients lacks some
	Process     *AgentProcess `json:"process,omitempty"`      // of an agent that is starting
}

// AckData acknowledges all events up to Seq. It has no answer.
type AckData struct {
	Seq uint64 `json:"seq"`
}

// WatchData requests the summaries of all sessions, now and on every change (session.summary, the
// newest of each session). Off ends it.
type WatchData struct {
	Off bool `json:"off,omitempty"`
}

// HeartbeatData is the data of heartbeat.
type HeartbeatData struct {
	Server string `json:"server,omitempty"`
}

// CaughtUpData is the data of caught_up: all events up to Position were sent, so clients can
// render.
type CaughtUpData struct {
	Position Position `json:"position"`
}

// Version is the version of the native protocol, the suffix of its WebSocket subprotocol.
const Version = "v1"

// Subprotocol is the WebSocket subprotocol of the native protocol.
const Subprotocol = "agentctl." + Version

// ProtocolHeader is the HTTP header in which an agentctl server names the protocol of a path:
// Subprotocol, or the name of a dialect.
const ProtocolHeader = "Agentctl-Speaks"

// Path is the URL path of the native protocol.
const Path = "/v1/ws"

// Types of the events of clients. They are ephemeral: no seq, never stored, never replayed.
const (
	ClientAttached Type = "client.attached"
	ClientDetached Type = "client.detached"
	ClientLag      Type = "client.lag"

	AgentProcessChanged Type = "agent.process" // also sent to the connection whose create waits for the agent
)

var clientEvents = []EventType{
	{Type: ClientAttached, New: of[Client], Ephemeral: true},
	{Type: ClientDetached, New: of[Client], Ephemeral: true},
	{Type: ClientLag, New: of[Client], Ephemeral: true},
	{Type: AgentProcessChanged, New: of[AgentProcess], Ephemeral: true},
}

// A Client is a subscriber of a session, the data of client.attached, client.detached and
// client.lag.
type Client struct {
	Client    string `json:"client"` // the connection's id
	By        Actor  `json:"by"`
	Agent     string `json:"agent,omitempty"` // the client program
	Acked     uint64 `json:"acked,omitempty"`
	LagEvents uint64 `json:"lag_events,omitempty"`
	LagBytes  int64  `json:"lag_bytes,omitempty"` // sent but not acknowledged
	Reason    string `json:"reason,omitempty"`    // of detached
	Message   string `json:"message,omitempty"`   // with a reason that is an error code: the error's text
}
