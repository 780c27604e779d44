package agentloop

import (
	"encoding/json"
	"strings"
)

// Types of items.
const (
	messageItem     = "message"
	callItem        = "function_call"
	outputItem      = "function_call_output"
	shellItem       = "local_shell_call"
	shellOutputItem = "local_shell_call_output"
	reasoningItem   = "reasoning"
)

// Roles of messages.
const (
	assistant = "assistant"
	user      = "user"
	system    = "system"
)

// localShell is a tool with item types of its own.
const localShell = "local_shell"

// An item is a piece of the conversation, the payload of response_item.
type item struct {
	ID         string   `json:"id,omitempty"`
	Type       string   `json:"type"`
	Role       string   `json:"role,omitempty"`
	CallID     string   `json:"call_id,omitempty"`
	Name       string   `json:"name,omitempty"`
	Arguments  *string  `json:"arguments,omitempty"`
	Content    content  `json:"content,omitempty"`
	Summary    content  `json:"summary,omitempty"` // of reasoning; AgentLoop sends it instead of content
	Action     *action  `json:"action,omitempty"`
	Status     string   `json:"status,omitempty"`
	Output     *string  `json:"output,omitempty"`
	DurationMS *float64 `json:"duration_ms,omitempty"`
}

type action struct {
	Type    string             `json:"type,omitempty"`
	Command []string           `json:"command"`
	Env     *map[string]string `json:"env,omitempty"` // AgentLoop always sends it, mostly empty
}

// content is the parts of a message. A string decodes as one part.
type content []part

type part struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// Types of parts. Of received parts, every one with a text counts as text.
const (
	inputText   = "input_text"
	outputText  = "output_text"
	summaryText = "summary_text"
)

// UnmarshalJSON decodes parts or a string.
func (c *content) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		if *c = nil; s != "" {
			*c = content{{inputText, s}}
		}
		return nil
	}
	return json.Unmarshal(b, (*[]part)(c))
}

// text joins the parts. plain is false if a part has no text.
func (c content) text() (_ string, plain bool) {
	var b strings.Builder
	plain = true
	for _, p := range c {
		b.WriteString(p.Text)
		plain = plain && (p.Text != "" || strings.HasSuffix(p.Type, "text"))
	}
	return b.String(), plain
}

// newMessageItem returns an item of type message.
func newMessageItem(id, role, text string) item {
	return item{ID: id, Type: messageItem, Role: role, Content: content{{inputText, text}}}
}

// callOutput is the output of a call, encoded as a string in its item.
type callOutput struct {
	Output   string   `json:"output"`
	Metadata metadata `json:"metadata"`
}

type metadata struct {
	ExitCode *int     `json:"exit_code,omitempty"`
	Seconds  *float64 `json:"duration_seconds,omitempty"`
}

// Marks of failures.
const (
	warningSign      = "⚠️ "
	failurePrefix    = "error"      // of the id of a failure's item
	incompleteStatus = "incomplete" // of an item that is a failure, with incompletePrefix
	incompletePrefix = "Error: "
)

// aborted is the last line of output of a call that did not run, or not to its end.
const aborted = "aborted"
