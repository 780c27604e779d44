package protocol

import (
	"slices"
	"time"
)

// Types of the events of sessions.
const (
	SessionCreated Type = "session.created"
	SessionUpdated Type = "session.updated"
	SessionClosed  Type = "session.closed"
)

var sessionEvents = []EventType{
	{
		Type: SessionCreated, New: of[SessionCreatedData],
		reduce: decoded(func(s *State, e *Event, d *SessionCreatedData) {
			s.Session, s.Name, s.Title, s.Agent, s.CWD, s.Created = e.Session, d.Name, d.Title, d.Agent, d.CWD, e.Time
			s.Parent, s.Sandbox, s.Labels = d.Parent, d.Sandbox, ChangeLabels(nil, d.Labels)
			s.MCPServers, s.DiscardUnused = d.MCPServers, d.DiscardUnused
			s.SubAgent = d.SubAgent
		}),
	},
	{Type: SessionUpdated, New: of[SessionUpdatedData], reduce: decoded((*State).updateSession)},
	{
		Type: SessionClosed, New: of[SessionClosedData],
		reduce: decoded(func(s *State, _ *Event, _ *SessionClosedData) { s.Closed = true }),
		line: func(e *Event) Line {
			return Line{Level: LevelWarning, Text: "the session was closed" + after(dataOf[SessionClosedData](e).Reason)}
		},
	},
}

// Commands about a session.
const (
	DoSnapshot Verb = "snapshot"
	DoRename   Verb = "rename"
	DoClose    Verb = "close"
)

var sessionCommands = []CommandType{
	{
		Verb: DoSnapshot, Data: of[Empty], Result: of[SnapshotResult], Role: RoleObserver, Session: true,
		Words: "the status of a session",
		Routes: []Route{
			{
				Name: "getState", Method: "GET", Path: "/api/sessions/{id}/state",
				Summary: "Get the state.", Query: true,
			},
		},
	},
	{
		Verb: DoRename, Data: of[RenameData], Result: of[Empty], Role: RoleOperator, Session: true, Changes: true,
		Words:    "renaming a session",
		Examples: [2]string{`{"name":"a name"}`, `{"name":"another name"}`},
		Routes: []Route{
			{
				Name: "renameSession", Method: "PATCH", Path: "/api/sessions/{id}",
				Summary: "Change the name or the title.",
			},
		},
	},
	{
		Verb: DoClose, Data: of[CloseData], Result: of[CloseResult],
		Role: RoleOperator, Session: true, Changes: true,
		Words:    "removing a session",
		Examples: [2]string{"{}", `{"reason":"done"}`},
		Routes: []Route{
			{
				Name: "deleteSession", Method: "DELETE", Path: "/api/sessions/{id}",
				Summary: "Close a session and remove its data.", Query: true, Fixed: map[string]string{"delete": "true"},
			},
			{
				Name: "closeSession", Method: "POST", Path: "/api/sessions/{id}/close",
				Summary: "Interrupt the turn and stop the agent; the session stays readable.", Fixed: map[string]string{"delete": "false"},
			},
		},
	},
}

// A Status is the status of a session.
type Status string

// The statuses.
const (
	Idle    Status = "idle"
	Running Status = "running"
	Waiting Status = "waiting" // at least one approval is pending
	Closed  Status = "closed"
)

// SessionCreatedData is the data of session.created, the first event of every session.
type SessionCreatedData struct {
	Name  string `json:"name,omitempty"`
	Title string `json:"title,omitempty"`
	Agent string `json:"agent"`
	CWD   string `json:"cwd,omitempty"`

	Parent   string            `json:"parent,omitempty"`    // the session whose agent created this one
	SubAgent bool              `json:"sub_agent,omitempty"` // it shows a sub-agent of the parent's agent
	Sandbox  Sandbox           `json:"sandbox,omitzero"`    // of the agent; absent: none
	Labels   map[string]string `json:"labels,omitempty"`

	MCPServers    []string `json:"mcp_servers,omitempty"`    // names of those that its creator gave its agent
	DiscardUnused bool     `json:"discard_unused,omitempty"` // as CreateData.DiscardUnused
}

// SessionUpdatedData is the data of session.updated. Absent fields are unchanged.
type SessionUpdatedData struct {
	Name    *string `json:"name,omitempty"`
	Title   *string `json:"title,omitempty"`
	Agent   *string `json:"agent,omitempty"`
	Revoked string  `json:"revoked,omitempty"` // a revoked rule

	Labels map[string]string `json:"labels,omitempty"` // changed labels; an empty value removes a label
}

// SessionClosedData is the data of session.closed.
type SessionClosedData struct {
	Reason string `json:"reason,omitempty"`
}

// RenameData changes the fields that are not nil. An empty name removes the name.
type RenameData struct {
	Name  *string `json:"name,omitempty"`
	Title *string `json:"title,omitempty"`
}

// CloseData ends a session: its turn is interrupted and its agent stopped. Delete removes all its
// data and the git worktree that was made for it, unless the worktree has work that would be lost.
type CloseData struct {
	Reason       string `json:"reason,omitempty"`
	Delete       bool   `json:"delete,omitempty"`
	KeepWorktree bool   `json:"keep_worktree,omitempty"`
}

// CloseResult names the git worktree of a deleted session if it stays.
type CloseResult struct {
	Worktree string `json:"worktree,omitempty"` // its directory
	Reason   string `json:"reason,omitempty"`   // why it stays
}

func (s *State) updateSession(_ *Event, d *SessionUpdatedData) {
	set := func(field, v *string) {
		if v != nil {
			*field = *v
		}
	}
	set(&s.Name, d.Name)
	set(&s.Title, d.Title)
	set(&s.Agent, d.Agent)
	s.Labels = ChangeLabels(s.Labels, d.Labels)
	if d.Revoked != "" {
		s.Rules = slices.DeleteFunc(s.Rules, func(r Rule) bool { return r.ID == d.Revoked })
	}
}

// SnapshotResult is a session's visible state and its subscribers.
type SnapshotResult struct {
	Snapshot Snapshot `json:"snapshot"`
	Status   Status   `json:"status"`
	Clients  []Client `json:"clients"` // the 32 that have been attached longest

	ClientCount int           `json:"client_count,omitempty"` // of all clients, if Clients lacks some
	Process     *AgentProcess `json:"process,omitempty"`      // nil: the agent has none
}

// Phases of an AgentProcess.
const (
	ProcessStarting = "starting"
	ProcessRunning  = "running"
	ProcessEnded    = "ended" // the next message starts it
)

// Steps of the start of an agent.
const (
	StepStart      = "start"      // of its process, or the connection to it
	StepInitialize = "initialize" // agreement on the protocol
	StepSession    = "session"    // a new session of the agent, or a restored one
	StepSettings   = "settings"
)

// AgentProcess is the process of a session's agent, the data of agent.process.
type AgentProcess struct {
	Phase    string     `json:"phase"`
	Since    *time.Time `json:"since,omitempty"`    // when running or starting, or when it ended for idleness
	Step     string     `json:"step,omitempty"`     // of the start; empty: not known
	StepAt   *time.Time `json:"step_at,omitempty"`  // when the step began
	Idle     bool       `json:"idle,omitempty"`     // it ended for idleness
	Restores bool       `json:"restores,omitempty"` // it may end when idle: the next one continues the conversation
}
