package server

import (
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

// openCall returns the open call of an id, creating it if needed.
func (s *Conn) openCall(id string) *toolCall {
	i := slices.IndexFunc(s.turn.calls, func(c *toolCall) bool { return c.id == id })
	if i >= 0 {
		return s.turn.calls[i]
	}
	if len(s.turn.calls) == maxOpen { // drop the oldest
		old := s.turn.calls[0]
		s.sendCall(old)
		s.sendOutput(old, &protocol.ToolEndedData{Status: protocol.ToolUnknown})
	}
	c := &toolCall{id: id, due: s.Now.Add(callDelay)}
	s.turn.calls = append(s.turn.calls, c)
	return c
}

// appendOutput buffers output until the call's end.
func (c *toolCall) appendOutput(s *Conn, text string) {
	room := max(0, maxBuffered-s.turn.buffered)
	if len(text) > room {
		c.omitted += len(text) - room
		text = text[:room]
	}
	c.output = append(c.output, text...)
	s.turn.buffered += len(text)
}

// appendArguments buffers streamed arguments. It ignores those over the bound, since arguments are
// useless in part.
func (c *toolCall) appendArguments(s *Conn, text string) {
	if !c.sent && s.turn.buffered+len(text) <= maxBuffered {
		c.arguments = append(c.arguments, text...)
		s.turn.buffered += len(text)
	}
}

// encodeTool buffers or sends an event of a tool.
func (s *Conn) encodeTool(e *protocol.Event) {
	switch e.Type {
	case protocol.ToolStarted:
		d := codec.DecodeEvent[protocol.ToolStartedData](e)
		c := s.openCall(d.Tool)
		if d.Name != "" {
			c.name = d.Name
		}
		if d.Title != "" {
			c.title = d.Title
		}
		if d.Input != nil {
			c.input = d.Input
		}
	case protocol.ToolInput:
		d := codec.DecodeEvent[protocol.ToolInputData](e)
		c := s.openCall(d.Tool)
		if d.Input != nil {
			c.input = d.Input
		}
		c.appendArguments(s, d.Text)
	case protocol.ToolOutput:
		d := codec.DecodeEvent[protocol.ToolOutputData](e)
		c := s.openCall(d.Tool)
		if d.Replace {
			s.turn.buffered -= len(c.output)
			c.output, c.omitted = nil, 0
		}
		c.appendOutput(s, d.Text)
		for i := range d.Content {
			c.appendOutput(s, wire.ContentText(&d.Content[i]))
		}
	case protocol.ToolEnded:
		d := codec.DecodeEvent[protocol.ToolEndedData](e)
		c := s.openCall(d.Tool)
		s.sendCall(c)
		s.sendOutput(c, d)
	}
}

// sendDueCalls sends the calls that are not held back, when another event (e) comes or, without
// one, when their time came.
func (s *Conn) sendDueCalls(e *protocol.Event) {
	for _, c := range s.turn.calls {
		if c.sent || c.request != "" || e == nil && s.Now.Before(c.due) || e != nil && belongsToStart(e, c.id) {
			continue
		}
		s.sendCall(c)
	}
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
func (v *turnEncoder) nextDue() (at time.Time) {
	for _, c := range v.calls {
		if !c.sent && c.request == "" && (at.IsZero() || c.due.Before(at)) {
			at = c.due
		}
	}
	return at
}

// holdCall holds back a call until its request is decided.
func (s *Conn) holdCall(a *protocol.Approval) {
	for _, c := range s.turn.calls {
		if c.id == a.Tool && !c.sent {
			c.request = a.Request
		}
	}
}

// releaseCall sends the calls held back for a request.
func (s *Conn) releaseCall(request string) {
	for _, c := range s.turn.calls {
		if c.request == request {
			c.request = ""
			s.sendCall(c)
		}
	}
}

func (s *Conn) sendCall(c *toolCall) {
	if c.sent {
		return
	}
	typed := strings.TrimSpace(string(c.arguments))
	s.turn.buffered -= len(c.arguments)
	c.sent, c.request, c.arguments = true, "", nil
	if c.name == wire.LocalShell {
		a := &wire.Action{Type: "exec", Command: wire.ArgvOf(c.input), Env: &map[string]string{}}
		if a.Command == nil {
			a.Command = wire.SplitCommand(c.title)
		}
		s.sendItem(wire.Item{ID: c.id, Type: wire.ShellItem, CallID: c.id, Action: a, Status: "in_progress"})
		return
	}
	arguments := string(c.input)
	if arguments == "" {
		arguments = typed
	}
	if arguments == "" {
		arguments = "{}"
	}
	name := c.name
	if name == "" {
		name = c.title
	}
	s.sendItem(wire.Item{ID: c.id, Type: wire.CallItem, CallID: c.id, Name: name, Arguments: &arguments})
}

// sendOutput sends a call's output and removes the call.
func (s *Conn) sendOutput(c *toolCall, d *protocol.ToolEndedData) {
	s.turn.calls = slices.DeleteFunc(slices.Clone(s.turn.calls), func(o *toolCall) bool { return o == c })
	s.turn.buffered -= len(c.output)
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
	s.sendItem(wire.Item{ID: c.id + ".output", Type: typ, CallID: c.id, Output: &text})
}
