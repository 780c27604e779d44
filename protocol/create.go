package protocol

// Commands about new sessions.
const (
	DoCreate Verb = "create"
)

var createCommands = []CommandType{
	{
		Verb: DoCreate, Data: of[CreateData], Result: of[CreateResult], Role: RoleOperator, Changes: true,
		Words:    "creating a session",
		Examples: [2]string{`{"agent":"main","prompt":"hi"}`, `{"agent":"main","prompt":"ho"}`},
		Routes: []Route{
			{
				Name: "createSession", Method: "POST", Path: "/api/sessions",
				Summary: "Create a session.", Created: true,
			},
		},
	},
}

// CreateData creates a session. Agent is a configured agent, a preset, or an ad hoc command
// ("acp:COMMAND ARG…", "script:FILE"); empty: the server's default. Settings are applied before the
// first message. A Prompt, or its Parts, is sent in the same step.
//
// With Load the agent continues a session that it has stored itself, instead of a new one. An agent
// that cannot is answered unsupported with Check, or fails the first turn.
//
// MCPServers are given to the agent in addition to the configured ones; a configured server with the same
// name is used instead. The log and states have their names.
//
// The agent starts with the session. With Lazy it starts with the first message. With Check the
// answer waits until the agent is ready; if it cannot start, needs a login or refuses a setting,
// the command fails and no session is created.
type CreateData struct {
	Name            string            `json:"name,omitempty"` // unique among sessions, at most 128 bytes
	Title           string            `json:"title,omitempty"`
	Agent           string            `json:"agent,omitempty"`
	CWD             string            `json:"cwd,omitempty"`
	Env             map[string]string `json:"env,omitempty"` // never in the log; "": without the server's variable
	Settings        map[string]string `json:"settings,omitempty"`
	Policy          *PolicyFile       `json:"policy,omitempty"`      // decides requests instead of a user
	Sandbox         Sandbox           `json:"sandbox,omitzero"`      // of the agent; what it leaves open is the server's choice
	MCPServers      []MCPServer       `json:"mcp_servers,omitempty"` // of its agent; of admins alone, never in the log
	Load            string            `json:"load,omitempty"`        // the agent's own id of a session to continue
	Labels          map[string]string `json:"labels,omitempty"`
	Lazy            bool              `json:"lazy,omitempty"`
	DiscardUnused   bool              `json:"discard_unused,omitempty"` // remove it after a day without a turn and a client
	Check           bool              `json:"check,omitempty"`
	Prompt          string            `json:"prompt,omitempty"`
	Parts           []Part            `json:"parts,omitempty"` // of the prompt
	ClientMessageID string            `json:"client_message_id,omitempty"`
}

// CreateResult names the new session.
type CreateResult struct {
	Session  string      `json:"session"`
	Name     string      `json:"name,omitempty"`
	Position Position    `json:"position"`
	Sandbox  Sandbox     `json:"sandbox,omitzero"`  // of the agent; absent: none
	Message  *SendResult `json:"message,omitempty"` // of the prompt
}
