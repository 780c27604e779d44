package protocol

import "time"

// A Status is the status of a session.
type Status string

// The statuses.
const (
	Idle    Status = "idle"
	Running Status = "running"
	Waiting Status = "waiting" // a turn runs and at least one approval is pending
	Closed  Status = "closed"
)

// SessionCreatedData is the data of session.created, the first event of every session.
type SessionCreatedData struct {
	Name  string `json:"name,omitempty"`
	Title string `json:"title,omitempty"`
	Agent string `json:"agent"`
	CWD   string `json:"cwd,omitempty"`

	Parent string            `json:"parent,omitempty"` // the session whose agent created this one
	Labels map[string]string `json:"labels,omitempty"`
}

// SessionUpdatedData is the data of session.updated. Absent fields are unchanged.
type SessionUpdatedData struct {
	Name    *string `json:"name,omitempty"`
	Title   *string `json:"title,omitempty"`
	Agent   *string `json:"agent,omitempty"`
	Revoked string  `json:"revoked,omitempty"` // a revoked rule

	Labels map[string]string `json:"labels,omitempty"` // those that changed; an empty value removes a label
}

// SessionClosedData is the data of session.closed.
type SessionClosedData struct {
	Reason string `json:"reason,omitempty"`
}

// StateExportedData is the data of state.exported. Bytes is the size of the signed state.
type StateExportedData struct {
	Expires time.Time `json:"expires"`
	Bytes   int       `json:"bytes"`
}

// StateRestoredData is the data of state.restored: the session continues an exported one.
type StateRestoredData struct {
	Session  string    `json:"session"` // the exported one
	Position Position  `json:"position"`
	Exported time.Time `json:"exported"`
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

// A Summary is a row of the session list, the data of session.summary.
type Summary struct {
	Session   string     `json:"session"`
	Name      string     `json:"name,omitempty"`
	Title     string     `json:"title,omitempty"`
	Agent     string     `json:"agent"`
	CWD       string     `json:"cwd,omitempty"`
	Status    Status     `json:"status"`
	Turn      string     `json:"turn,omitempty"`
	Doing     string     `json:"doing,omitempty"` // the pending request, the running tool, or the message
	Seq       uint64     `json:"seq"`
	Epoch     string     `json:"epoch"`
	Queue     int        `json:"queue"`
	Held      bool       `json:"held,omitempty"`
	Approvals int        `json:"approvals"`
	Asked     *time.Time `json:"asked,omitempty"` // the oldest pending approval
	Clients   int        `json:"clients"`
	Updated   time.Time  `json:"updated"`
	Reason    Reason     `json:"reason,omitempty"` // of the last turn's end
	Deleted   bool       `json:"deleted,omitempty"`

	Attributes
	Progress
}

// Attributes are the creation of a session and the labels that users gave it. Labels must not be
// changed in place: states and summaries share the map.
type Attributes struct {
	Labels  map[string]string `json:"labels,omitempty"`
	Parent  string            `json:"parent,omitempty"` // the session whose agent created it
	Created time.Time         `json:"created,omitzero"`
}

// Progress is what a session has done and used, in its summary.
type Progress struct {
	Turns    int     `json:"turns,omitempty"`   // number of turns that ended
	Percent  float64 `json:"percent,omitempty"` // of the agent's context
	Tokens   int64   `json:"tokens,omitempty"`  // input and output of all turns
	Cost     float64 `json:"cost,omitempty"`    // of all turns
	Currency string  `json:"currency,omitempty"`
	Output   string  `json:"output,omitempty"` // the last line that the agent wrote, shortened
	Policy   string  `json:"policy,omitempty"` // as State.Policy

	Scheduled *time.Time `json:"scheduled,omitempty"` // as State.NextScheduled
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
