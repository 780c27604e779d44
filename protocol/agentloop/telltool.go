package agentloop

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"agentctl/protocol"
)

// settling is how long a call waits to be told: an approval that it needs comes first.
const settling = 200 * time.Millisecond

// A call is a tool's, from its start to its end.
type call struct {
	id, name, title string
	input           json.RawMessage
	typed           []byte // arguments as they stream
	told            bool
	waits           string    // for this request
	due             time.Time // when it is told in any case
	output          []byte
	left            int // bytes of output that are left out
}

// callOf is the open call of that id, made if need be.
func (s *server) callOf(id string) *call {
	i := slices.IndexFunc(s.turn.calls, func(c *call) bool { return c.id == id })
	if i >= 0 {
		return s.turn.calls[i]
	}
	if len(s.turn.calls) == maxOpen { // the oldest has no end any more
		old := s.turn.calls[0]
		s.tellCall(old)
		s.tellOutput(old, &protocol.ToolEndedData{Status: protocol.ToolUnknown})
	}
	c := &call{id: id, due: s.Now.Add(settling)}
	s.turn.calls = append(s.turn.calls, c)
	return c
}

// give keeps output until the call's end.
func (c *call) give(s *server, text string) {
	room := max(0, maxKept-s.turn.kept)
	if len(text) > room {
		c.left += len(text) - room
		text = text[:room]
	}
	c.output = append(c.output, text...)
	s.turn.kept += len(text)
}

// write keeps arguments as they stream. Those that are too long are of no use in part.
func (c *call) write(s *server, text string) {
	if !c.told && s.turn.kept+len(text) <= maxKept {
		c.typed = append(c.typed, text...)
		s.turn.kept += len(text)
	}
}

// tellTool takes an event of a tool.
func (s *server) tellTool(e *protocol.Event) {
	switch e.Type {
	case protocol.ToolStarted:
		d := data[protocol.ToolStartedData](e)
		c := s.callOf(d.Tool)
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
		d := data[protocol.ToolInputData](e)
		c := s.callOf(d.Tool)
		if d.Input != nil {
			c.input = d.Input
		}
		c.write(s, d.Text)
	case protocol.ToolOutput:
		d := data[protocol.ToolOutputData](e)
		c := s.callOf(d.Tool)
		if d.Replace {
			s.turn.kept -= len(c.output)
			c.output, c.left = nil, 0
		}
		c.give(s, d.Text)
		for i := range d.Content {
			c.give(s, contentText(&d.Content[i]))
		}
	case protocol.ToolEnded:
		d := data[protocol.ToolEndedData](e)
		c := s.callOf(d.Tool)
		s.tellCall(c)
		s.tellOutput(c, d)
	}
}

// contentText is a structured piece of output as text.
func contentText(c *protocol.Content) string {
	switch {
	case c.Type == "diff":
		return patchOf(&protocol.Approval{Content: []protocol.Content{*c}}) + "\n"
	case c.Text != "":
		return c.Text
	case c.Blob != "":
		return "[" + c.Type + " " + c.MediaType + " of " + strconv.FormatInt(c.Bytes, 10) + " bytes]\n"
	case c.Data != nil:
		return string(c.Data) + "\n"
	}
	return "[" + c.Type + "]\n"
}

// tellCalls tells the calls that nothing will come before any more: those that are not about to be asked about, when something
// else happens (e) or their time has come.
func (s *server) tellCalls(e *protocol.Event) {
	for _, c := range s.turn.calls {
		if c.told || c.waits != "" || e == nil && s.Now.Before(c.due) || e != nil && about(e, c.id) {
			continue
		}
		s.tellCall(c)
	}
}

// about reports whether an event belongs to the beginning of a call.
func about(e *protocol.Event, id string) bool {
	switch e.Type {
	case protocol.ToolStarted, protocol.ToolInput:
		return data[protocol.ToolStartedData](e).Tool == id
	case protocol.ApprovalRequested:
		return data[protocol.Approval](e).Tool == id
	}
	return false
}

// due is when the first call is to be told.
func (v *turnView) due() (at time.Time) {
	for _, c := range v.calls {
		if !c.told && c.waits == "" && (at.IsZero() || c.due.Before(at)) {
			at = c.due
		}
	}
	return at
}

// waits holds a call back until its request is decided.
func (s *server) waits(a *protocol.Approval) {
	for _, c := range s.turn.calls {
		if c.id == a.Tool && !c.told {
			c.waits = a.Request
		}
	}
}

// tellWaited tells the calls that waited for a request.
func (s *server) tellWaited(request string) {
	for _, c := range s.turn.calls {
		if c.waits == request {
			c.waits = ""
			s.tellCall(c)
		}
	}
}

func (s *server) tellCall(c *call) {
	if c.told {
		return
	}
	typed := strings.TrimSpace(string(c.typed))
	s.turn.kept -= len(c.typed)
	c.told, c.waits, c.typed = true, "", nil
	if c.name == localShell {
		a := &action{Type: "exec", Command: argvOf(c.input)}
		if a.Command == nil {
			a.Command = wordsOf(c.title)
		}
		s.tell(item{ID: c.id, Type: shellItem, CallID: c.id, Action: a, Status: "in_progress"})
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
	s.tell(item{ID: c.id, Type: callItem, CallID: c.id, Name: name, Arguments: &arguments})
}

// tellOutput tells what a call gave, and forgets it.
func (s *server) tellOutput(c *call, d *protocol.ToolEndedData) {
	s.turn.calls = slices.DeleteFunc(slices.Clone(s.turn.calls), func(o *call) bool { return o == c })
	s.turn.kept -= len(c.output)
	out := callOutput{Output: protocol.ValidText(string(c.output))}
	if c.left > 0 {
		out.Output += "\n[" + strconv.Itoa(c.left) + " bytes more]"
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
		out.Output += aborted
		out.Metadata = metadata{ExitCode: d.ExitCode}
	case protocol.ToolFailed:
		code = 1
		fallthrough
	default:
		if d.ExitCode != nil {
			code = *d.ExitCode
		}
		out.Metadata = metadata{&code, &seconds}
	}
	text := string(protocol.MustEncode(out))
	typ := outputItem
	if c.name == localShell {
		typ = shellOutputItem
	}
	s.tell(item{ID: c.id + ".output", Type: typ, CallID: c.id, Output: &text})
}
