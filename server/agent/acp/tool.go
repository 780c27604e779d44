package acp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// tool is the known state of a tool call.
type tool struct {
	id       string // unique in the session
	parent   string // tool id of the parent
	call     protocol.ToolStartedData
	text     string              // output, if all of it is text
	content  []protocol.Content  // output, if it is more than text
	terminal string              // output that came from a terminal, part of text or content
	raw      json.RawMessage     // last raw output
	dir      string              // directory in the latest arguments
	exit     *int                // exit status of its command
	start    time.Time           // when it started or was allowed
	shown    *shownArguments     // by its last request; nil: it was not asked
	refused  protocol.ToolStatus // how it ends unless it completes: denied or cancelled; "": not refused
	ended    bool
}

// errToolEnded is returned for updates after the end of a call, so they do not reopen it.
var errToolEnded = errors.New("the tool call has ended")

// toolID returns a tool id that is unique in the session: an agent may restart the numbers of its
// calls in each turn. The session shortens long ids.
func (t *turn) toolID(id string) string { return t.id + "/" + id }

// upsertTool applies a tool_call, tool_call_update or permission request, in any order, and emits
// changes. Output and status are applied only with output: in a permission request they describe
// the request.
func (t *turn) upsertTool(c *toolCall, output bool) error {
	known := t.tools[c.ID]
	first := known == nil
	if first {
		known = &tool{id: t.toolID(c.ID), parent: t.parentCall(&c.Meta), start: time.Now()}
		known.call.Tool = known.id
		t.tools[c.ID] = known
		if err := t.endPart(); err != nil {
			return err
		}
	}
	if known.ended {
		return errToolEnded
	}
	if output {
		t.checkShown(known, c.Input)
	}
	told := *c
	if !output && present(known.call.Input) {
		// Keep the title and arguments of the call: the request's may differ.
		told.Title, told.Input = "", nil
	}
	if err := t.describeTool(known, &told, first); err != nil || !output {
		return err
	}
	if content, ok := t.output(c); ok {
		if err := t.updateOutput(known, content); err != nil {
			return err
		}
	}
	if err := t.appendOutput(known, c.Meta.Terminal()); err != nil {
		return err
	}
	if code := c.Meta.ExitCode(); code != nil {
		known.exit = code
	}
	if err := t.applyTerminal(known, c.terminal); err != nil {
		return err
	}
	if present(c.Output) {
		known.raw = c.Output
	}
	switch c.Status {
	case "completed":
		return t.endTool(known, protocol.ToolCompleted)
	case "failed":
		return t.endTool(known, cmp.Or(known.refused, protocol.ToolFailed))
	case "cancelled": // of version 2
		return t.endTool(known, cmp.Or(known.refused, protocol.ToolCancelled))
	}
	return nil
}

// describeTool emits tool.started with the changed fields, if any.
func (t *turn) describeTool(known *tool, c *toolCall, first bool) error {
	now, changed := known.call, protocol.ToolStartedData{Tool: known.id}
	differs := first
	set := func(field, change *string, v string) {
		if v != "" && v != *field {
			*field, *change, differs = v, v, true
		}
	}
	set(&now.Name, &changed.Name, c.name())
	set(&now.Title, &changed.Title, withoutName(c.Title, now.Name))
	// "other" never replaces a specific kind.
	if kind := toolKind(c.ToolKind); kind != protocol.ToolOther || now.Kind == "" {
		set(&now.Kind, &changed.Kind, kind)
	}
	if present(c.Input) && !bytes.Equal(c.Input, now.Input) {
		now.Input, changed.Input, differs = c.Input, c.Input, true
		if in := protocol.ReadArguments(c.Input); in.Dir() != "" {
			known.dir = in.Dir()
		}
	}
	if v := c.locations(); len(v) > 0 && !slices.Equal(v, now.Locations) {
		now.Locations, changed.Locations, differs = v, v, true
	}
	known.call = now
	if !differs {
		return nil
	}
	return t.emitTool(known, protocol.ToolStarted, changed)
}

// updateOutput replaces the output of a tool. For text that only grew it emits the added text.
func (t *turn) updateOutput(known *tool, content []protocol.Content) error {
	if known.terminal != "" {
		content = append(content, protocol.Content{Type: contentText, Text: known.terminal})
	}
	text, plain := plainText(content)
	switch {
	case !plain:
		if reflect.DeepEqual(content, known.content) {
			return nil
		}
		known.text, known.content = "", content
		data := protocol.ToolOutputData{Tool: known.id, Content: content, Replace: true}
		return t.emitTool(known, protocol.ToolOutput, data)
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

// appendOutput appends text to the output of a tool.
func (t *turn) appendOutput(known *tool, text string) error {
	if text == "" {
		return nil
	}
	known.text += text
	known.terminal += text
	return t.emitTool(known, protocol.ToolOutput, protocol.ToolOutputData{Tool: known.id, Text: text})
}

// applyTerminal applies output of a terminal; nil: none.
func (t *turn) applyTerminal(known *tool, o *terminalOutput) error {
	if o == nil {
		return nil
	}
	known.exit = cmp.Or(o.exit, known.exit)
	rest, grew := strings.CutPrefix(o.text, known.terminal)
	switch {
	case !o.whole:
		return t.appendOutput(known, o.text)
	case grew:
		return t.appendOutput(known, rest)
	}
	before := known.content // without the terminal
	if known.content != nil {
		before = known.content[:len(known.content)-1]
	} else if text := strings.TrimSuffix(known.text, known.terminal); text != "" {
		before = []protocol.Content{{Type: contentText, Text: text}}
	}
	known.terminal = o.text
	return t.updateOutput(known, slices.Clone(before))
}

// endTool emits the end of a call. Output that is only in the raw output is emitted first.
func (t *turn) endTool(known *tool, status protocol.ToolStatus) error {
	known.ended = true
	if t.part.message == "" { // without ids, text after a call is another message
		if err := t.endPart(); err != nil {
			return err
		}
	}
	result := parseResult(known.raw)
	if known.text == "" && known.content == nil && result.text != "" {
		known.text = result.text
		data := protocol.ToolOutputData{Tool: known.id, Text: result.text}
		if err := t.emitTool(known, protocol.ToolOutput, data); err != nil {
			return err
		}
	}
	data := protocol.ToolEndedData{
		Tool: known.id, Status: status, ExitCode: cmp.Or(result.exit, known.exit),
		DurationMS: time.Since(known.start).Milliseconds(),
	}
	if !result.textOnly || result.text != known.text {
		data.Output = result.raw
	}
	if status == protocol.ToolFailed {
		data.Error = result.failure
		if known.call.Kind == protocol.ToolExecute && data.ExitCode == nil {
			data.ExitCode = t.agent.ExitInText(result.text)
		}
	}
	return t.emitTool(known, protocol.ToolEnded, data)
}

func (t *turn) emitTool(known *tool, kind protocol.Type, data any) error {
	return t.out.Emit(agent.Event{Type: kind, Parent: known.parent, Data: data})
}

// withoutName returns a title without the name of the tool before it: clients show the name too.
func withoutName(title, name string) string {
	rest, ok := strings.CutPrefix(title, name)
	if name == "" || !ok || rest == "" || rest[0] != ' ' && rest[0] != ':' {
		return title
	}
	return cmp.Or(strings.TrimLeft(rest, ": "), title)
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
