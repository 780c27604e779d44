package llm

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/llm/arguments"
	"agentctl/server/agent/llm/model"
)

// A Toolbox has the tools of one session. Its methods may be called from any goroutine.
type Toolbox interface {
	// Tools returns the tools for the next request. Their order is stable, so that providers can
	// cache it.
	Tools() []Tool

	// Notes returns notes about the session's directory: its environment, and its files with instructions as
	// they are now, of at most most bytes together.
	Notes(most int) []Note

	// Recall adds files that the model has seen, from the stored state, before the first call.
	Recall(files []SeenFile)

	// Undo restores the files that the tools changed in a turn. It keeps files that were changed
	// since.
	Undo(turn string) (restored, kept []string, err error)

	// Close stops all processes of the tools and returns when they have exited.
	Close() error
}

// A SeenFile is a file as the model last read or wrote it.
type SeenFile struct {
	Path  string `json:"path"`
	Hash  string `json:"hash"`  // of its content; empty: there is no file
	Seen  int    `json:"seen"`  // lines from the first that the model has seen
	Lines int    `json:"lines"` // of the file
}

// Servers is a Toolbox that has contents of servers of the Model Context Protocol. Its methods may be called from any
// goroutine.
type Servers interface {
	// Prepare waits a bounded time for the tools, and publishes them: Tools returns the same until
	// the next Prepare. It fails only if ctx ends.
	Prepare(ctx context.Context) error

	// Commands returns the commands that users write at the start of a message.
	Commands() []protocol.SlashCommand

	// Expand returns the message parts that replace a command and the text after it. nil without an
	// error: there is no such command.
	Expand(ctx context.Context, command, text string) ([]model.Part, error)

	// Resources returns the known contents that users mention in messages.
	Resources() []protocol.Resource

	// ReadResource returns the content of a resource by its name. nil without an error: there is no
	// such resource.
	ReadResource(ctx context.Context, name string) ([]model.Part, error)

	// Notify sets the function that is called when Commands or Resources change.
	Notify(changed func())
}

// A Tool can be called by the model.
type Tool struct {
	Name     string          // [A-Za-z0-9_-]{1,64}
	Kind     string          // protocol.ToolRead and others
	About    string          // for the model
	Schema   json.RawMessage // JSON Schema of the arguments, an object
	Parallel bool            // calls may run at the same time: they change nothing

	// Preview checks a call and describes its effect, without running it. An error is the result of
	// the call: the model gets its text. It may be called from any goroutine.
	Preview func(ctx context.Context, c *ToolCall) (Preview, error)
}

// NewTool returns a tool whose arguments are an In, as package arguments defines them. check is its Preview. The
// input of the call becomes what the tool takes, so that users and rules judge the arguments as they run.
func NewTool[In any](t Tool, check func(ctx context.Context, c *ToolCall, in In) (Preview, error)) Tool {
	schema := arguments.For[In]()
	t.Schema = schema.JSON()
	t.Preview = func(ctx context.Context, c *ToolCall) (Preview, error) {
		var in In
		plain, err := schema.Decode(c.Input, &in)
		if err != nil {
			return Preview{}, err
		}
		c.Input = plain
		return check(ctx, c, in)
	}
	return t
}

// toolSet is tools by name.
type toolSet map[string]Tool

// named returns a tool; an unknown one has only a kind.
func (s toolSet) named(name string) Tool {
	if tool, ok := s[name]; ok {
		return tool
	}
	return Tool{Kind: protocol.ToolOther}
}

// names returns the names of the tools, for the model.
func (s toolSet) names() string { return strings.Join(slices.Sorted(maps.Keys(s)), ", ") }

// A ToolCall is one call of a tool.
type ToolCall struct {
	ID     string          // of the call in the session
	Turn   string          // the id of the turn
	Input  json.RawMessage // a JSON object, as the model sent it until Preview
	Asking Asker           // for questions that arise only during Run

	// Confined: the policy allows the call only as Preview.Confined says.
	Confined bool

	out agent.Output // of the turn

	Edits
}

// Edits are changes of a call by the user who allowed it. Empty: the call is as the model sent it.
type Edits struct {
	Patch   string // to be applied instead
	Command string // to be run instead
	Tasks   []protocol.Task
	Answers map[string][]string // to the questions of the call, by their ids
}

// An Asker asks the users of the session, as agent.Output.Ask does.
type Asker func(ctx context.Context, a protocol.Approval) (Answer, error)

// An Answer is a decision of users. Denied has the text for the model; empty: allowed.
type Answer struct {
	Denied string
	Input  *protocol.ApprovalInput
}

// A Preview describes the effect of a call.
type Preview struct {
	Title     string // for people, one line
	Locations []protocol.Location
	Content   []protocol.Content // diffs

	// Request is the request to users, if one is needed. The agent fills in Request, Tool and Name,
	// and Input except for patches, plans and questions, whose content must show everything that
	// the call does.
	Request protocol.Approval

	// Basis identifies the data that the call was checked against, such as the content of files. A
	// request that waits across a restart is void if Basis has changed: the call would not do what
	// was shown.
	Basis string

	// Safe: the call only reads, within the session's directory. The default policy runs it.
	Safe bool

	// Contained: the call reads and changes only files within the session's directory, and none of
	// git's own. With Confined: it names no other files.
	Contained bool

	// Confined: the call is a command that only reads, and Run can run it where it writes nothing and has no
	// network.
	Confined bool

	// Run runs the call as it was checked. Live output goes to out; the model gets the result. Canceling ctx
	// stops the call with all its processes, and Run returns its result so far. An error is the result of a
	// call that failed: the model gets its text.
	Run func(ctx context.Context, out func(text string)) (ToolResult, error)
}

// A ToolResult is the result of a call.
type ToolResult struct {
	Text     string          // for the model
	Files    []model.File    // for the model: images
	Output   json.RawMessage // structured, for clients; nil: none
	Content  []protocol.Content
	Seen     []SeenFile
	Tasks    []protocol.Task // the steps of the model's work, to be shown; nil: as before
	ExitCode *int
	Failed   bool // the call ran and failed
}
