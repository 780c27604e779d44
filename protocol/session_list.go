package protocol

import "time"

// Types of the events of summaries. They are ephemeral: no seq, never stored, never replayed.
const (
	SummaryChanged Type = "session.summary"
)

var summaryEvents = []EventType{
	{Type: SummaryChanged, New: of[Summary], Ephemeral: true},
}

// Commands about the list of sessions.
const (
	DoWatch Verb = "watch"
	DoList  Verb = "list"
)

var listCommands = []CommandType{
	{
		Verb: DoWatch, Data: of[WatchData], Result: of[ListResult], Role: RoleObserver, Connection: true,
		Words:    "listing sessions",
		Examples: [2]string{"{}", `{"off":true}`},
	},
	{
		Verb: DoList, Data: of[ListData], Result: of[ListResult], Role: RoleObserver,
		Words:    "listing sessions",
		Examples: [2]string{"{}", `{"closed":true}`},
	},
}

// A Summary is a row of the session list, the data of session.summary.
type Summary struct {
	Session   string     `json:"session"`
	Name      string     `json:"name,omitempty"`
	Title     string     `json:"title,omitempty"`
	Agent     string     `json:"agent"`
	CWD       string     `json:"cwd,omitempty"`
	Project   string     `json:"project,omitempty"` // the repository that cwd is in, if it is another directory
	Status    Status     `json:"status"`
	Turn      string     `json:"turn,omitempty"`
	Doing     string     `json:"doing,omitempty"` // the pending request, the running tool, the newest line, or the message
	Since     *time.Time `json:"since,omitempty"` // when the running tool, or else the turn, started
	Seq       uint64     `json:"seq"`
	Epoch     string     `json:"epoch"`
	Queue     int        `json:"queue"`
	Held      bool       `json:"held,omitempty"`
	Approvals int        `json:"approvals"`
	Asked     *time.Time `json:"asked,omitempty"` // the oldest pending approval
	Clients   int        `json:"clients"`
	Updated   time.Time  `json:"updated"`
	Reason    Reason     `json:"reason,omitempty"`    // of the last turn's end
	Error     string     `json:"error,omitempty"`     // why the last turn failed, shortened
	ResetsAt  *time.Time `json:"resets_at,omitempty"` // of the usage limit that ended it, if known
	Deleted   bool       `json:"deleted,omitempty"`

	Attributes
	Progress
}

// Attributes are the creation of a session and the labels that users gave it. Labels must not be
// changed in place: states and summaries share the map.
type Attributes struct {
	Labels   map[string]string `json:"labels,omitempty"`
	Parent   string            `json:"parent,omitempty"`    // the session whose agent created it
	SubAgent bool              `json:"sub_agent,omitempty"` // it shows a sub-agent of the parent's agent
	Sandbox  Sandbox           `json:"sandbox,omitzero"`    // of its agent; absent: none
	Created  time.Time         `json:"created,omitzero"`

	DiscardUnused bool `json:"discard_unused,omitempty"` // as CreateData.DiscardUnused
}

// Progress is a session's progress and usage, in its summary.
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

// ListData requests summaries, newest activity first. Closed includes closed sessions.
type ListData struct {
	Closed bool `json:"closed,omitempty"`
}

// ListResult holds summaries.
type ListResult struct {
	Sessions []Summary `json:"sessions"`
}
