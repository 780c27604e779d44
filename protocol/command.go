package protocol

import (
	"encoding/json"
	"slices"
)

// A Command is a request of a client. ID pairs the answer with it on the connection and may be any
// string; without one, only an error is answered. Key makes a command that changes state
// idempotent: sent again with the same key, it returns the first answer and does nothing.
type Command struct {
	ID      string          `json:"id,omitempty"`
	Command Verb            `json:"command"`
	Session string          `json:"session,omitempty"` // id, exact name or unique id prefix
	Key     string          `json:"key,omitempty"`     // at most 128 bytes, never used twice
	Data    json.RawMessage `json:"data,omitempty"`
}

// An Answer is the result or the error of the command with the same id.
type Answer struct {
	ID     string          `json:"id,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *Error          `json:"error,omitempty"`
}

// A Verb names what a command does.
type Verb string

// A CommandType describes a command. The role checks of the server, the routes of HTTP, the words of
// errors, the schema, the documentation and the tests of every package that carries commands follow
// from it.
type CommandType struct {
	Verb       Verb
	Data       func() any // returns a pointer to the type of the data
	Result     func() any // returns a pointer to the type of the result
	Role       Role       // the weakest role that may send it
	Connection bool       // the connection carries it out, not the session or the list of sessions
	Session    bool       // Command.Session is required
	Changes    bool       // it changes state, so it takes a key

	// Words name what the command does, in errors for users: "renaming a session". Empty: the verb.
	Words string

	// Examples are two bodies of data, as JSON: a typical one, and another for tests that need a
	// difference, which may be the same if no data differs. Empty: no data.
	Examples [2]string

	// Routes are the requests of HTTP that are this command.
	Routes []Route
}

// A Route is a request of HTTP that is a command. Its data comes from the wildcards of the path,
// which have the names of fields, and from the query or the body.
type Route struct {
	Name    string // of the operation, for generated clients
	Method  string
	Path    string // of a http.ServeMux; {id} is the session
	Summary string
	Query   bool              // the data comes from the query; else from the body
	Fixed   map[string]string // fields of the data that the route sets: name → JSON
	Created bool              // a success has the status 201
}

// Commands lists every command of the protocol, in the order of the documentation. The rows of a
// topic are in its file.
var Commands = slices.Concat(
	connectionCommands,
	listCommands,
	createCommands,
	sessionCommands,
	labelCommands,
	historyCommands,
	searchCommands,
	messageCommands,
	turnCommands,
	queueCommands,
	steeringCommands,
	approvalCommands,
	ruleCommands,
	changesCommands,
	planCommands,
	contextCommands,
	undoCommands,
	archiveCommands,
)

// CommandOf returns the type of a verb, or nil.
func CommandOf(v Verb) *CommandType {
	for i := range Commands {
		if Commands[i].Verb == v {
			return &Commands[i]
		}
	}
	return nil
}

// Empty is the data or result of commands that have none.
type Empty struct{}
