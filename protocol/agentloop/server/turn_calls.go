package server

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/agentloop/wire"
	"agentctl/protocol/codec"
)

// callDelay is the time that a call is held back, so that its approval comes first.
const callDelay = 200 * time.Millisecond

// A toolCall is an open tool call.
type toolCall struct {
	id, name, title string
	input           json.RawMessage
	arguments       []byte // streamed
	sent            bool
	request         string    // held back for this request
	due             time.Time // when it is sent at the latest
	output          []byte
	omitted         int // dropped bytes of output
}

// openCall returns the open call of an id, creating it if needed. out are the messages of a call that
// was dropped for it.
func (t *turnEncoder) openCall(id string) (c *toolCall, out []message) {
	i := slices.IndexFunc(t.calls, func(c *toolCall) bool { return c.id == id })
	if i >= 0 {
		return t.calls[i], nil
	}
	if len(t.calls) == maxOpen { // drop the oldest
		old := t.calls[0]
		out = append(t.sendCall(old), t.sendOutput(old, &protocol.ToolEndedData{Status: protocol.ToolUnknown}))
	}
	c = &toolCall{id: id, due: t.now.Add(callDelay)}
	t.calls = append(t.calls, c)
	return c, out
}

// appendOutput buffers output until the call's end.
func (t *turnEncoder) appendOutput(c *toolCall, text string) {
	room := max(0, maxBuffered-t.buffered)
	if len(text) > room {
		c.omitted += len(text) - room
		text = text[:room]
	}
	c.output = append(c.output, text...)
	t.buffered += len(text)
}

// appendArguments buffers streamed arguments. It ignores arguments over the bound, since incomplete
// ones are useless.
func (t *turnEncoder) appendArguments(c *toolCall, text string) {
	if !c.sent && t.buffered+len(text) <= maxBuffered {
		c.arguments = append(c.arguments, text...)
		t.buffered += len(text)
	}
}

// tool buffers or sends an event of a tool.
func (t *turnEncoder) tool(e *protocol.Event) (out []message) {
	var c *toolCall
	switch e.Type {
	case protocol.ToolStarted:
		d := codec.DecodeEvent[protocol.ToolStartedData](e)
		c, out = t.openCall(d.Tool)
		c.name, c.title = cmp.Or(d.Name, c.name), cmp.Or(d.Title, c.title)
		if d.Input != nil {
			c.input = d.Input
		}
	case protocol.ToolInput:
		d := codec.DecodeEvent[protocol.ToolInputData](e)
		c, out = t.openCall(d.Tool)
		if d.Input != nil {
			c.input = d.Input
		}
		t.appendArguments(c, d.Text)
	case protocol.ToolOutput:
		d := codec.DecodeEvent[protocol.ToolOutputData](e)
		c, out = t.openCall(d.Tool)
		if d.Replace {
			t.buffered -= len(c.output)
			c.output, c.omitted = nil, 0
		}
		t.appendOutput(c, d.Text)
		for i := range d.Content {
			t.appendOutput(c, wire.ContentText(&d.Content[i]))
		}
	case protocol.ToolEnded:
		d := codec.DecodeEvent[protocol.ToolEndedData](e)
		c, out = t.openCall(d.Tool)
		return append(append(out, t.sendCall(c)...), t.sendOutput(c, d))
	}
	return out
}

// sendDueCalls sends the calls that are not held back, when another event (e) comes or, without
// one, when their time came.
func (t *turnEncoder) sendDueCalls(e *protocol.Event) (out []message) {
	for _, c := range t.calls {
		if c.sent || c.request != "" || e == nil && t.now.Before(c.due) || e != nil && belongsToStart(e, c.id) {
			continue
		}
		out = append(out, t.sendCall(c)...)
	}
	return out
}

// wake sends the calls whose time came.
func (t *turnEncoder) wake(now time.Time) []message {
	t.now = now
	return t.sendDueCalls(nil)
}

// belongsToStart reports whether an event belongs to the start of a call. An agent may count the
// tokens of a response between its call and the request.
func belongsToStart(e *protocol.Event, id string) bool {
	switch e.Type {
	case protocol.UsageUpdated, protocol.ContextUpdated:
		return true
	case protocol.ToolStarted, protocol.ToolInput:
		return codec.DecodeEvent[protocol.ToolStartedData](e).Tool == id
	case protocol.ApprovalRequested:
		return codec.DecodeEvent[protocol.Approval](e).Tool == id
	}
	return false
}

// nextDue returns when the first call is due.
func (t *turnEncoder) nextDue() (at time.Time) {
	for _, c := range t.calls {
		if !c.sent && c.request == "" && (at.IsZero() || c.due.Before(at)) {
			at = c.due
		}
	}
	return at
}

// holdCall holds back a call until its request is decided.
func (t *turnEncoder) holdCall(a *protocol.Approval) {
	for _, c := range t.calls {
		if c.id == a.Tool && !c.sent {
			c.request = a.Request
		}
	}
}

// releaseCall sends the calls held back for a request.
func (t *turnEncoder) releaseCall(request string) (out []message) {
	for _, c := range t.calls {
		if c.request == request {
			c.request = ""
			out = append(out, t.sendCall(c)...)
		}
	}
	return out
}

// sendCall sends a call, unless it was sent.
func (t *turnEncoder) sendCall(c *toolCall) []message {
	if c.sent {
		return nil
	}
	typed := strings.TrimSpace(string(c.arguments))
	t.buffered -= len(c.arguments)
	c.sent, c.request, c.arguments = true, "", nil
	it := wire.Item{ID: c.id, Type: wire.CallItem, CallID: c.id}
	if c.name == wire.LocalShell {
		it.Type, it.Status = wire.ShellItem, "in_progress"
		it.Action = &wire.Action{Type: "exec", Command: wire.ArgvOf(c.input), Env: &map[string]string{}}
		if it.Action.Command == nil {
			it.Action.Command = wire.SplitCommand(c.title)
		}
	} else {
		arguments := cmp.Or(string(c.input), typed, "{}")
		it.Name, it.Arguments = cmp.Or(c.name, c.title), &arguments
	}
	return []message{t.item(it)}
}

// sendOutput sends a call's output and removes the call.
func (t *turnEncoder) sendOutput(c *toolCall, d *protocol.ToolEndedData) message {
	t.calls = slices.DeleteFunc(slices.Clone(t.calls), func(o *toolCall) bool { return o == c })
	t.buffered -= len(c.output)
	out := wire.CallOutput{Output: protocol.ValidText(string(c.output))}
	if c.omitted > 0 {
		out.Output += "\n[" + strconv.Itoa(c.omitted) + " bytes more]"
	}
	if out.Output == "" && d.Output != nil {
		out.Output = string(d.Output)
	}
	if d.Error != "" && !strings.Contains(out.Output, d.Error) {
		out.Output = strings.TrimPrefix(out.Output+"\n"+d.Error, "\n")
	}
	code := 0
	seconds := float64(d.DurationMS) / 1000
	switch d.Status {
	case protocol.ToolDenied, protocol.ToolCancelled, protocol.ToolUnknown:
		if out.Output != "" {
			out.Output += "\n"
		}
		out.Output += wire.Aborted
		out.Metadata = wire.Metadata{ExitCode: d.ExitCode}
	case protocol.ToolFailed:
		code = 1
		fallthrough
	default:
		if d.ExitCode != nil {
			code = *d.ExitCode
		}
		out.Metadata = wire.Metadata{ExitCode: &code, Seconds: &seconds}
	}
	text := string(protocol.MustEncode(out))
	typ := wire.OutputItem
	if c.name == wire.LocalShell {
		typ = wire.ShellOutputItem
	}
	return t.item(wire.Item{ID: c.id + ".output", Type: typ, CallID: c.id, Output: &text})
}
