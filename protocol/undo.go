package protocol

// Commands about earlier turns.
const (
	DoUndo  Verb = "undo"
	DoRetry Verb = "retry"
	DoFork  Verb = "fork"
)

var undoCommands = []CommandType{
	{
		Verb: DoUndo, Data: of[Empty], Result: of[UndoResult], Role: RoleOperator, Session: true, Changes: true,
		Words: "undoing a turn",
		Routes: []Route{
			{
				Name: "undoTurn", Method: "POST", Path: "/api/sessions/{id}/undo",
				Summary: "Let the agent forget its last turn, and restore its files.",
			},
		},
	},
	{
		Verb: DoRetry, Data: of[Empty], Result: of[SendResult], Role: RoleOperator, Session: true, Changes: true,
		Words: "repeating a turn",
		Routes: []Route{
			{
				Name: "retryTurn", Method: "POST", Path: "/api/sessions/{id}/retry",
				Summary: "Let the agent forget its last turn, and send its messages again.",
			},
		},
	},
	{
		Verb: DoFork, Data: of[ForkData], Result: of[CreateResult], Role: RoleOperator, Session: true, Changes: true,
		Words:    "forking a session",
		Examples: [2]string{`{"name":"one"}`, "{}"},
		Routes: []Route{
			{
				Name: "forkSession", Method: "POST", Path: "/api/sessions/{id}/fork",
				Summary: "Create a session with the first turns of another.", Created: true,
			},
		},
	},
}

// UndoResult reports what the agent forgot: its last turn with that message, and those that joined it. Restored are files
// with their content from before the turn. Kept are files that were changed since, and were left as
// they are.
type UndoResult struct {
	Turn     string    `json:"turn"`
	Message  Message   `json:"message"`
	Steered  []Message `json:"steered,omitempty"`
	Restored []string  `json:"restored,omitempty"`
	Kept     []string  `json:"kept,omitempty"`
}

// ForkData makes a new session from the turns through the given one, or from the turns before it.
// The turn is an id, or a number counted from 1; empty: the last finished turn.
type ForkData struct {
	Turn   string `json:"turn,omitempty"`
	Before bool   `json:"before,omitempty"`
	Name   string `json:"name,omitempty"`
}
