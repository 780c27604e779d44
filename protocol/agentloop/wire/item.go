package wire

import (
	"encoding/json"
	"strings"
)

// Types of items.
const (
	MessageItem     = "message"
	CallItem        = "function_call"
	OutputItem      = "function_call_output"
	ShellItem       = "local_shell_call"
	ShellOutputItem = "local_shell_call_output"
	ReasoningItem   = "reasoning"
)

// Roles of messages.
const (
	Assistant = "assistant"
	User      = "user"
	System    = "system"
)

// LocalShell is a tool that has its own item types.
const LocalShell = "local_shell"

// An Item is a piece of the conversation, the payload of response_item.
type Item struct {
	ID         string   `json:"id,omitempty"`
	Type       string   `json:"type"`
	Role       string   `json:"role,omitempty"`
	CallID     string   `json:"call_id,omitempty"`
	Name       string   `json:"name,omitempty"`
	Arguments  *string  `json:"arguments,omitempty"`
	Content    Content  `json:"content,omitempty"`
	Summary    Content  `json:"summary,omitempty"` // of reasoning; AgentLoop sends it instead of content
	Action     *Action  `json:"action,omitempty"`
	Status     string   `json:"status,omitempty"`
	Output     *string  `json:"output,omitempty"`
	DurationMS *float64 `json:"duration_ms,omitempty"`
}

// An Action is the command of a shell call.
type Action struct {
	Type    string             `json:"type,omitempty"`
	Command []string           `json:"command"`
	Env     *map[string]string `json:"env,omitempty"` // AgentLoop always sends it, mostly empty
}

// Content is the parts of a message. A string decodes as one part.
type Content []Part

// A Part is a piece of content.
type Part struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// Types of parts. Of received parts, every one with a text counts as text.
const (
	InputText   = "input_text"
	OutputText  = "output_text"
	SummaryText = "summary_text"
)

// UnmarshalJSON decodes parts or a string.
func (c *Content) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		if *c = nil; s != "" {
			*c = Content{{InputText, s}}
		}
		return nil
	}
	return json.Unmarshal(b, (*[]Part)(c))
}

// Text joins the parts. plain is false if a part has no text.
func (c Content) Text() (_ string, plain bool) {
	var b strings.Builder
	plain = true
	for _, p := range c {
		b.WriteString(p.Text)
		plain = plain && (p.Text != "" || strings.HasSuffix(p.Type, "text"))
	}
	return b.String(), plain
}

// NewMessageItem returns an item of type message.
func NewMessageItem(id, role, text string) Item {
	return Item{ID: id, Type: MessageItem, Role: role, Content: Content{{InputText, text}}}
}

// CallOutput is the output of a call, encoded as a string in its item.
type CallOutput struct {
	Output   string   `json:"output"`
	Metadata Metadata `json:"metadata"`
}

// Metadata is how a call ended.
type Metadata struct {
	ExitCode *int     `json:"exit_code,omitempty"`
	Seconds  *float64 `json:"duration_seconds,omitempty"`
}

// IsShell reports whether an item is a call of the shell tool or its output.
func (it *Item) IsShell() bool { return it.Type == ShellItem || it.Type == ShellOutputItem }

// FailureText returns the text of an item that reports the failure of a model; ok is false for any
// other item.
func (it *Item) FailureText() (text string, ok bool) {
	if it.Status != incompleteStatus || it.Type != MessageItem {
		return "", false
	}
	text, _ = it.Content.Text()
	return strings.CutPrefix(text, incompletePrefix)
}

// Marks of failures.
const (
	WarningSign      = "⚠️ "
	FailurePrefix    = "error"      // of the id of a failure's item
	incompleteStatus = "incomplete" // of an item that is a failure, with incompletePrefix
	incompletePrefix = "Error: "
)

// Aborted is the last line of output of a call that did not run, or not to its end.
const Aborted = "aborted"
