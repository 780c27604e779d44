package protocol

import "encoding/json"

// Kinds of tools, for icons and policy. An unknown kind counts as other.
const (
	ToolRead    = "read"
	ToolEdit    = "edit"
	ToolDelete  = "delete"
	ToolMove    = "move"
	ToolSearch  = "search"
	ToolExecute = "execute"
	ToolThink   = "think"
	ToolFetch   = "fetch"
	ToolOther   = "other"
)

// ToolStartedData is the data of tool.started. Sent again for the same tool, it updates the fields
// that are set.
type ToolStartedData struct {
	Tool      string          `json:"tool"` // the call's id, unique within the session
	Name      string          `json:"name,omitempty"`
	Kind      string          `json:"kind,omitempty"`
	Title     string          `json:"title,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	Locations []Location      `json:"locations,omitempty"`
}

// A Location is a place in a file. Line counts from 1; 0: the whole file.
type Location struct {
	Path string `json:"path"`
	Line int    `json:"line,omitempty"`
}

// ToolInputData is the data of tool.input: text to append to the arguments, or all arguments.
type ToolInputData struct {
	Tool  string          `json:"tool"`
	Text  string          `json:"text,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`
}

// ToolOutputData is the data of tool.output: text to append, or with Replace the new output.
type ToolOutputData struct {
	Tool    string    `json:"tool"`
	Text    string    `json:"text,omitempty"`
	Content []Content `json:"content,omitempty"`
	Replace bool      `json:"replace,omitempty"`
}

// Content is a structured piece of a tool's output.
type Content struct {
	Type      string          `json:"type"` // text, diff, image, blob, other
	Text      string          `json:"text,omitempty"`
	Path      string          `json:"path,omitempty"`
	Old       *string         `json:"old,omitempty"` // of a diff; absent: a new file
	New       string          `json:"new,omitempty"`
	Blob      string          `json:"blob,omitempty"`
	Bytes     int64           `json:"bytes,omitempty"` // the blob's size
	MediaType string          `json:"media_type,omitempty"`
	Data      json.RawMessage `json:"data,omitempty"` // other JSON
}

// A ToolStatus is the end of a tool call.
type ToolStatus string

// The statuses.
const (
	ToolCompleted ToolStatus = "completed"
	ToolFailed    ToolStatus = "failed"
	ToolCancelled ToolStatus = "cancelled"
	ToolDenied    ToolStatus = "denied"
	ToolUnknown   ToolStatus = "unknown" // the end was not reported, or the server died; the call was not repeated
)

// ToolEndedData is the data of tool.ended.
type ToolEndedData struct {
	Tool       string          `json:"tool"`
	Status     ToolStatus      `json:"status"`
	Output     json.RawMessage `json:"output,omitempty"` // a structured result
	Error      string          `json:"error,omitempty"`
	ExitCode   *int            `json:"exit_code,omitempty"`
	DurationMS int64           `json:"duration_ms,omitempty"`
}
