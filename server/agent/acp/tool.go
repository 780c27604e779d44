package acp

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/server/session"
)

// tool is what has been told of a tool call so far.
type tool struct {
	id      string // ours
	parent  string // ours
	call    protocol.ToolStartedData
	text    string             // output that is nothing but text
	content []protocol.Content // output that is more than text
	dir     string             // where a command runs, as the arguments told last
	start   time.Time          // it began, or was allowed
	denied  bool
	ended   bool
}

// errToolEnded keeps what is told of a call after its end from opening it again.
var errToolEnded = errors.New("the tool call has ended")

// toolID makes the agent's id unique in the session: an agent may count its calls anew in each turn. The session shortens a long one.
func (t *turn) toolID(id string) string { return t.id + "/" + id }

// upsertTool notes what a tool_call, an update of one or a permission request tells, in whatever order they come, and emits what
// is new. Only with output are content and status looked at: those of a permission request are about the request.
func (t *turn) upsertTool(c *toolCall, output bool) error {
	known := t.tools[c.ID]
	first := known == nil
	if first {
		known = &tool{id: t.toolID(c.ID), start: time.Now()}
		known.call.Tool = known.id
		if p := c.Meta.Claude.Parent; p != "" {
			known.parent = t.toolID(p)
		}
		t.tools[c.ID] = known
		if err := t.endPart(); err != nil {
			return err
		}
	}
	if known.ended {
		return errToolEnded
	}
	if err := t.describeTool(known, c, first); err != nil || !output {
		return err
	}
	if c.Content != nil {
		if err := t.updateOutput(known, c.Content); err != nil {
			return err
		}
	}
	switch c.Status {
	case "completed":
		return t.endTool(known, protocol.ToolCompleted, c)
	case "failed":
		if known.denied {
			return t.endTool(known, protocol.ToolDenied, c)
		}
		return t.endTool(known, protocol.ToolFailed, c)
	}
	return nil
}

// describeTool emits tool.started with what is new about the call, or nothing.
func (t *turn) describeTool(known *tool, c *toolCall, first bool) error {
	now, news := known.call, protocol.ToolStartedData{Tool: known.id}
	if v := c.Meta.Claude.Tool; v != "" && v != now.Name {
		now.Name, news.Name = v, v
	}
	if c.Title != "" && c.Title != now.Title {
		now.Title, news.Title = c.Title, c.Title
	}
	// "other" says less than what was said before.
	if v := toolKind(c.ToolKind); v != "" && v != now.Kind && (v != protocol.ToolOther || now.Kind == "") {
		now.Kind, news.Kind = v, v
	}
	if present(c.Input) && !bytes.Equal(c.Input, now.Input) {
		now.Input, news.Input = c.Input, c.Input
		if dir := parseInput(c.Input).cwd; dir != "" {
			known.dir = dir
		}
	}
	if v := c.locations(); len(v) > 0 && !slices.Equal(v, now.Locations) {
		now.Locations, news.Locations = v, v
	}
	known.call = now
	if !first && reflect.DeepEqual(news, protocol.ToolStartedData{Tool: known.id}) {
		return nil
	}
	return t.emitTool(known, protocol.ToolStarted, news)
}

// updateOutput replaces the tool's output. Text that only grew is told as what was added.
func (t *turn) updateOutput(known *tool, raw json.RawMessage) error {
	content := mapContents(raw)
	text, plain := plainText(content)
	switch {
	case !plain:
		if reflect.DeepEqual(content, known.content) {
			return nil
		}
		known.text, known.content = "", content
		return t.emitTool(known, protocol.ToolOutput, protocol.ToolOutputData{Tool: known.id, Content: content, Replace: true})
	case text == known.text && known.content == nil:
		return nil
	}
	data := protocol.ToolOutputData{Tool: known.id, Text: text, Replace: true}
	if rest, grew := strings.CutPrefix(text, known.text); grew && known.content == nil {
		data.Text, data.Replace = rest, false
	}
	known.text, known.content = text, nil
	return t.emitTool(known, protocol.ToolOutput, data)
}

// endTool tells how the call ended. Output that came in no other way is shown now.
func (t *turn) endTool(known *tool, status protocol.ToolStatus, c *toolCall) error {
	known.ended = true
	result := parseResult(c.Output)
	if known.text == "" && known.content == nil && result.text != "" {
		known.text = result.text
		data := protocol.ToolOutputData{Tool: known.id, Text: result.text}
		if err := t.emitTool(known, protocol.ToolOutput, data); err != nil {
			return err
		}
	}
	data := protocol.ToolEndedData{
		Tool: known.id, Status: status, ExitCode: result.exit, DurationMS: time.Since(known.start).Milliseconds(),
	}
	if !result.textOnly || result.text != known.text {
		data.Output = result.raw
	}
	if status == protocol.ToolFailed {
		data.Error = result.failure
	}
	return t.emitTool(known, protocol.ToolEnded, data)
}

func (t *turn) emitTool(known *tool, kind protocol.Type, data any) error {
	return t.out.Emit(session.Event{Type: kind, Parent: known.parent, Data: data})
}

func toolKind(kind string) string {
	switch kind {
	case protocol.ToolRead, protocol.ToolEdit, protocol.ToolDelete, protocol.ToolMove, protocol.ToolSearch,
		protocol.ToolExecute, protocol.ToolThink, protocol.ToolFetch, "":
		return kind
	}
	return protocol.ToolOther
}

func (c *toolCall) locations() []protocol.Location {
	var out []protocol.Location
	for _, l := range c.Locations {
		if l.Path != "" {
			out = append(out, protocol.Location{Path: l.Path, Line: max(l.Line, 0)})
		}
	}
	return out
}
