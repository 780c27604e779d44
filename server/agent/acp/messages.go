package acp

import (
	"cmp"
	"encoding/json"
	"errors"

	"agentctl/server/agent/acp/catalog"
)

// codeAuthRequired is the error code of a request that requires a login.
const codeAuthRequired = -32000

type implementation struct {
	Name    string `json:"name"`
	Title   string `json:"title,omitempty"`
	Version string `json:"version"`
}

type initializeParams struct {
	Version      int                `json:"protocolVersion"`
	Capabilities clientCapabilities `json:"clientCapabilities"`
	Client       implementation     `json:"clientInfo"`
}

type clientCapabilities struct {
	FS struct {
		Read  bool `json:"readTextFile"`
		Write bool `json:"writeTextFile"`
	} `json:"fs"`
	Terminal bool `json:"terminal"`

	Elicitation *elicitationCapabilities `json:"elicitation"`
	SubAgents   *struct{}                `json:"subagents,omitempty"` // present: they are shown

	Session struct {
		Compaction struct{} `json:"compaction"` // present: compactions are updates instead of calls
		Config     struct {
			Boolean struct{} `json:"boolean"` // present: boolean options are supported
		} `json:"configOptions"`
		Notices struct{} `json:"notices"` // present: notices are updates
	} `json:"session"`
	Plan struct{} `json:"plan"` // present: several plans are supported
	Auth struct {
		Terminal bool `json:"terminal"` // agents login runs the program of the agent
	} `json:"auth"`
	Meta struct {
		TerminalOutput bool `json:"terminal_output"` // extension: output and exit codes in _meta of updates
	} `json:"_meta"`
}

// elicitationCapabilities are the ways in which the agent may ask users. Present: supported.
type elicitationCapabilities struct {
	Form struct{} `json:"form"`
	URL  struct{} `json:"url"`
}

type initializeResult struct {
	Version      int             `json:"protocolVersion"`
	Agent        *implementation `json:"agentInfo"`
	Capabilities struct {
		LoadSession bool `json:"loadSession"`
		Session     struct {
			Resume *struct{} `json:"resume"`
			Fork   *struct{} `json:"fork"`
			List   *struct{} `json:"list"`
		} `json:"sessionCapabilities"`
		MCP    mcpCapabilities `json:"mcpCapabilities"`
		Prompt struct {
			Image    bool `json:"image"`
			Audio    bool `json:"audio"`
			Embedded bool `json:"embeddedContext"`
		} `json:"promptCapabilities"`
		Meta map[string]json.RawMessage `json:"_meta"`
	} `json:"agentCapabilities"`
	AuthMethods []authMethod   `json:"authMethods"`
	Meta        initializeMeta `json:"_meta"`
}

// initializeMeta holds extensions that the agent announces.
type initializeMeta struct {
	Steering struct {
		Supported bool `json:"supported"` // steerMethod
	} `json:"steering"`
}

// mcpCapabilities are the transports of MCP servers that the agent accepts in addition to commands.
type mcpCapabilities struct {
	HTTP bool `json:"http"`
	SSE  bool `json:"sse"`
}

type sessionParams struct {
	Session string `json:"sessionId,omitempty"`
	CWD     string `json:"cwd"`
	Servers []any  `json:"mcpServers"` // mcpCommand and mcpURL
}

// sessionResult is the result of session/new, session/load, session/resume and session/fork.
type sessionResult struct {
	Session string         `json:"sessionId"`
	Modes   *modes         `json:"modes"`
	Models  *models        `json:"models"`
	Config  []configOption `json:"configOptions"`

	Commands []availableCommand `json:"-"` // of version 2; nil: not reported
}

type modes struct {
	Current   string `json:"currentModeId"`
	Available []struct {
		ID          string `json:"id"`
		Name        string `json:"name"`
		Description string `json:"description"`
	} `json:"availableModes"`
}

type models struct {
	Current   string `json:"currentModelId"`
	Available []struct {
		ID          string `json:"modelId"`
		Name        string `json:"name"`
		Description string `json:"description"`
	} `json:"availableModels"`
}

// configOption is a select or boolean option. Choices may be in groups.
type configOption struct {
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Category string          `json:"category"`
	Type     string          `json:"type"`
	Value    json.RawMessage `json:"currentValue"`
	Options  []configChoice  `json:"options"`
}

type configChoice struct {
	Value       string         `json:"value"`
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Options     []configChoice `json:"options"` // choices of a group
}

type setModeParams struct {
	Session string `json:"sessionId"`
	Mode    string `json:"modeId"`
}

type setModelParams struct {
	Session string `json:"sessionId"`
	Model   string `json:"modelId"`
}

type setConfigParams struct {
	Session string `json:"sessionId"`
	ID      string `json:"configId"`
	Type    string `json:"type,omitempty"` // "boolean" with a boolean value, else absent
	Value   any    `json:"value"`
}

type promptParams struct {
	Session string  `json:"sessionId"`
	Prompt  []block `json:"prompt"`
}

// block is a content block.
type block struct {
	Type     string    `json:"type"`
	Text     string    `json:"text,omitempty"`
	Data     string    `json:"data,omitempty"`
	MIMEType string    `json:"mimeType,omitempty"`
	URI      string    `json:"uri,omitempty"`
	Name     string    `json:"name,omitempty"`
	Title    string    `json:"title,omitempty"`
	Size     int64     `json:"size,omitempty"`
	Resource *resource `json:"resource,omitempty"`
}

// resource is the content of an embedded resource: a text, or base64.
type resource struct {
	URI      string `json:"uri"`
	Text     string `json:"text,omitempty"`
	Blob     string `json:"blob,omitempty"`
	MIMEType string `json:"mimeType,omitempty"`
}

type promptResult struct {
	Reason string             `json:"stopReason"`
	Usage  *catalog.Tokens    `json:"usage"`
	Meta   catalog.ResultMeta `json:"_meta"`
}

type updateParams struct {
	Session string          `json:"sessionId"`
	Update  json.RawMessage `json:"update"`
}

// kind returns the kind of the update, as far as it can be read.
func (p *updateParams) kind() string {
	var u struct {
		Kind string `json:"sessionUpdate"`
	}
	_ = decode(p.Update, &u) // "" then
	return u.Kind
}

// update is an update of an ACP session. Content is a block in a chunk and a list in a tool call.
type update struct {
	Kind      string `json:"sessionUpdate"`
	MessageID string `json:"messageId"`
	toolCall

	Entries []planEntry `json:"entries"`
	Plan    namedPlan   `json:"plan"`
	PlanID  string      `json:"planId"`

	Severity    string          `json:"severity"` // of a notice; its title is in the call's field
	Description string          `json:"description"`
	Error       json.RawMessage `json:"error"` // of a compaction; its status is in the call's field

	Commands []availableCommand `json:"availableCommands"`
	Mode     string             `json:"currentModeId"`
	Config   []configOption     `json:"configOptions"`

	Used int64 `json:"used"`
	Size int64 `json:"size"`
	Cost *cost `json:"cost"`
}

// toolCall is the tool of a tool_call, a tool_call_update or a permission request. Empty fields are
// unchanged.
type toolCall struct {
	ID        string          `json:"toolCallId"`
	Name      string          `json:"name"`
	Title     string          `json:"title"`
	ToolKind  string          `json:"kind"`
	Status    string          `json:"status"`
	Content   json.RawMessage `json:"content"`
	Locations []toolLocation  `json:"locations"`
	Input     json.RawMessage `json:"rawInput"`
	Output    json.RawMessage `json:"rawOutput"`
	Meta      catalog.Meta    `json:"_meta"`

	terminal *terminalOutput // of version 2; nil: none
}

type toolLocation struct {
	Path string `json:"path"`
	Line int    `json:"line"`
}

// terminalOutput is output of a command in a terminal: what follows the output before, or all of it.
type terminalOutput struct {
	text  string
	whole bool
	exit  *int // nil: the command runs, or has none
}

type availableCommand struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Input       *struct {
		Hint string `json:"hint"`
	} `json:"input"`
}

// name returns the name of the tool, or "".
func (c *toolCall) name() string { return cmp.Or(c.Name, c.Meta.ToolName()) }

type permissionParams struct {
	Session string             `json:"sessionId"`
	Tool    toolCall           `json:"toolCall"`
	Options []permissionOption `json:"options"`

	Description string `json:"-"` // of version 2
}

type permissionOption struct {
	ID   string `json:"optionId"`
	Name string `json:"name"`
	Kind string `json:"kind"`
}

type permissionResult struct {
	Outcome permissionOutcome `json:"outcome"`
	Answers map[string]string `json:"answers,omitempty"` // of Qwen Code's questions, by their ids
}

type permissionOutcome struct {
	Outcome string `json:"outcome"`
	Option  string `json:"optionId,omitempty"`
}

// decode decodes JSON of an agent. A field of the wrong type stays empty; the other fields are
// decoded.
func decode(raw json.RawMessage, v any) error {
	if len(raw) == 0 {
		return nil
	}
	err := json.Unmarshal(raw, v)
	if _, mistyped := errors.AsType[*json.UnmarshalTypeError](err); mistyped {
		return nil
	}
	return err
}

// present reports whether a raw field has a value.
func present(raw json.RawMessage) bool {
	switch string(raw) {
	case "", "null", "{}":
		return false
	}
	return true
}
