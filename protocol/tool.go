package protocol

import (
	"encoding/json"
	"slices"
	"strings"
)

// Types of the events of tool calls.
const (
	ToolStarted Type = "tool.started"
	ToolInput   Type = "tool.input"
	ToolOutput  Type = "tool.output"
	ToolEnded   Type = "tool.ended"
)

var toolEvents = []EventType{
	{
		Type: ToolStarted, New: of[ToolStartedData], AgentMay: true, Exported: true,
		reduce: decoded((*State).startTool),
	},
	{Type: ToolInput, New: of[ToolInputData], AgentMay: true, Exported: true},
	{Type: ToolOutput, New: of[ToolOutputData], AgentMay: true, Exported: true},
	{
		Type: ToolEnded, New: of[ToolEndedData], AgentMay: true, Exported: true,
		reduce: decoded(func(s *State, _ *Event, d *ToolEndedData) {
			if s.Turn != nil {
				s.Turn.Tools = slices.DeleteFunc(s.Turn.Tools, func(t OpenTool) bool { return t.Tool == d.Tool })
			}
		}),
	},
}

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
	Session   string          `json:"session,omitempty"` // of the sub-agent that the call runs
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

// Content is a structured piece of a tool's output, or of an agent's message in addition to its
// text.
type Content struct {
	Type      string          `json:"type"` // text, diff, image, audio, blob, link, other
	Text      string          `json:"text,omitempty"`
	Name      string          `json:"name,omitempty"` // as the agent names a file or a link
	Path      string          `json:"path,omitempty"` // a path or a URI
	Old       *string         `json:"old,omitempty"`  // of a diff; absent: a new file
	New       string          `json:"new,omitempty"`
	Blob      string          `json:"blob,omitempty"`
	Bytes     int64           `json:"bytes,omitempty"` // the blob's size; of a link: as the agent gave it
	MediaType string          `json:"media_type,omitempty"`
	Data      json.RawMessage `json:"data,omitempty"` // base64 of a small image, audio or blob; else other JSON
}

// Label returns the type of a file and its name, or the last part of its path: "image plot.png".
func (c *Content) Label() string {
	name := c.Name
	if name == "" {
		name = c.Path[strings.LastIndexByte(c.Path, '/')+1:]
	}
	return strings.TrimSpace(c.Type + " " + name)
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

const maxOpenText = 1 << 10 // bytes of a text of an open tool; the transcript has all of it

func (s *State) startTool(e *Event, d *ToolStartedData) {
	if s.Turn == nil {
		return
	}
	i := slices.IndexFunc(s.Turn.Tools, func(t OpenTool) bool { return t.Tool == d.Tool })
	if i < 0 {
		s.Turn.Tools = append(s.Turn.Tools, OpenTool{Tool: d.Tool, Task: e.Task, Parent: e.Parent, Started: e.Time})
		i = len(s.Turn.Tools) - 1
	}
	t := &s.Turn.Tools[i]
	for _, f := range []struct {
		field *string
		v     string
	}{{&t.Name, d.Name}, {&t.Kind, d.Kind}, {&t.Title, d.Title}} {
		if f.v != "" {
			*f.field = SplitText(f.v, maxOpenText)[0]
		}
	}
}
