package agentloop

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"agentctl/internal/dev/codectest"
	"agentctl/protocol"
	"agentctl/protocol/agentloop/wire"
	"agentctl/protocol/codec"
)

// expectedEvents models the events that the client's codec should make of a native session. It
// implements each loss that docs/dialects/agentloop.md names, and no other.
type expectedEvents struct {
	t     codectest.T
	now   func() time.Time
	state *protocol.State
	story *protocol.Transcript

	sending  *protocol.Message // sent by the client
	deciding protocol.Decision // of the client, not yet confirmed
	why      string
	requests int
	present  bool // the client caught up, so requests are shown

	// of the turn
	turn    string // at the server
	started time.Time
	parts   map[string]bool // text parts of the client; true: open
	order   []*expectedReasoning
	calls   []*expectedCall
	pending []*protocol.Approval
	shown   string
	held    []func() // shell calls held back for a decision
	fault   *protocol.Error
	failed  bool // so that the end does not repeat it
	stopped bool
}

type expectedReasoning struct{ id, text string }

type expectedCall struct {
	id, name, title, typed, output, waits string
	input                                 json.RawMessage
	sent                                  bool
}

func newExpectedEvents(t codectest.T, now func() time.Time) *expectedEvents {
	o := &expectedEvents{t: t, now: now, present: true}
	o.begin()
	return o
}

// begin starts a log of the client. Lost: the session's name, title, directory and agent, and all
// earlier turns.
func (o *expectedEvents) begin() {
	*o = expectedEvents{t: o.t, now: o.now, present: o.present, state: &protocol.State{}, story: &protocol.Transcript{}}
	o.add(protocol.SessionCreated, nil, protocol.SessionCreatedData{Name: wire.Name, Agent: wire.Name})
}

// rejoins starts again: the server repeats the current turn, then the pending request.
func (o *expectedEvents) rejoins() {
	o.present = false
	o.begin()
}

// add adds an event to the client's log. Lost: ids of turns, tasks and parents, and the original
// times.
func (o *expectedEvents) add(typ protocol.Type, by *protocol.Actor, data any) {
	o.t.Helper()
	e := &protocol.Event{
		Session: wire.Name, Seq: o.state.Seq + 1, Time: o.now(), Type: typ, By: by,
		Data: protocol.MustEncode(data),
	}
	if o.turn != "" {
		e.Turn = "t"
	}
	if err := o.state.Apply(e); err != nil {
		o.t.Fatal(err)
	}
	if _, err := o.story.Apply(e); err != nil {
		o.t.Fatal(err)
	}
}

// event translates an event of the server. Lost: every type that is not named here and has no
// wire.NoticeText.
func (o *expectedEvents) event(e *protocol.Event) {
	if !e.Durable() {
		if e.Type == protocol.CaughtUp && !o.present {
			o.present = true
			o.ask()
		}
		return
	}
	for _, c := range o.calls { // a call is sent when anything else happens
		if !startsCall(e, c.id) && c.waits == "" {
			o.call(c)
		}
	}
	switch e.Type {
	case protocol.TextDelta:
		d := codec.DecodeEvent[protocol.PartDeltaData](e)
		o.delta(e, protocol.KindText, d.Part, d.Text)
		return
	case protocol.ReasoningStart:
		return
	case protocol.ReasoningDelta:
		d := codec.DecodeEvent[protocol.PartDeltaData](e)
		o.delta(e, protocol.KindReasoning, d.Part, d.Text)
		return
	case protocol.ReasoningEnd:
		o.thoughts(func(id string) bool { return id != e.Turn+"."+codec.DecodeEvent[protocol.PartEndData](e).Part })
		return
	case protocol.JoinedDeltas:
		for _, p := range codec.DecodeEvent[protocol.JoinedData](e).Parts {
			o.delta(e, p.Kind, p.Part, p.Text)
		}
		return
	}
	o.thoughts(nil) // reasoning is sent when any other event happens
	switch e.Type {
	case protocol.MessageUser:
		o.user(e)
	case protocol.MessageSteered: // lost: what it is
		text := wire.MessageText(&codec.DecodeEvent[protocol.MessageSteeredData](e).Message)
		o.notice(text)
	case protocol.MessageResolved:
		if d := codec.DecodeEvent[protocol.MessageResolvedData](e); d.Outcome != protocol.SteerTakenIn {
			line, _ := e.Line()
			o.notice(wire.WarningSign + line.Text)
		}
	case protocol.TurnEnded:
		o.ended(codec.DecodeEvent[protocol.TurnEndedData](e))
	case protocol.ToolStarted, protocol.ToolInput, protocol.ToolOutput, protocol.ToolEnded:
		o.tool(e)
	case protocol.ApprovalRequested:
		a := codec.DecodeEvent[protocol.Approval](e)
		o.pending = append(o.pending, a)
		for _, c := range o.calls {
			if c.id == a.Tool && !c.sent {
				c.waits = a.Request
			}
		}
		o.ask()
	case protocol.ApprovalExplained:
		o.explained(e, codec.DecodeEvent[protocol.ApprovalExplainedData](e))
	case protocol.ApprovalResolved:
		o.resolved(e, codec.DecodeEvent[protocol.ApprovalResolvedData](e))
	case protocol.ContextUpdated:
		o.add(e.Type, nil, codec.DecodeEvent[protocol.ContextInfo](e))
	case protocol.ContextCompacted: // lost: that it was not automatic
		d := codec.DecodeEvent[protocol.ContextCompactedData](e)
		d.Automatic = true
		o.add(e.Type, nil, d)
	case protocol.ErrorRaised:
		d := codec.DecodeEvent[protocol.ErrorData](e)
		if d.Recoverable { // lost: that it is an error
			o.notice("⚠️ " + d.Message)
			return
		}
		o.error(d.Message, d.Code, d.Details["provider_status"], slices.Sorted(maps.Keys(d.Fields)))
		o.failed = true
	default: // lost: everything except a line
		if line := wire.NoticeText(e); line != "" {
			o.notice(line)
		}
	}
}

// user starts a turn. Lost: the user, unless it is the client's, and parts except their names in
// brackets.
func (o *expectedEvents) user(e *protocol.Event) {
	m := protocol.Message{Text: wire.MessageText(&codec.DecodeEvent[protocol.MessageUserData](e).Message)}
	if o.sending != nil {
		m, o.sending = *o.sending, nil
	}
	o.turn, o.started, o.parts, o.fault, o.failed, o.stopped = e.Turn, o.now(), map[string]bool{}, nil, false, false
	o.add(protocol.MessageUser, m.By, protocol.MessageUserData{Message: m})
	o.add(protocol.TurnStarted, nil, protocol.TurnStartedData{})
}

// works notes that the agent continued after an error.
func (o *expectedEvents) works() { o.fault, o.failed = nil, false }

// delta adds text. Lost: the speaker, and the end of text parts; reasoning is sent whole.
func (o *expectedEvents) delta(e *protocol.Event, kind protocol.Kind, part, text string) {
	id := e.Turn + "." + part
	switch kind {
	case protocol.KindReasoning:
		o.thoughts(func(other string) bool { return other == id })
		i := slices.IndexFunc(o.order, func(t *expectedReasoning) bool { return t.id == id })
		if i < 0 {
			i = len(o.order)
			o.order = append(o.order, &expectedReasoning{id: id})
		}
		o.order[i].text += text
		return
	}
	o.thoughts(nil)
	switch kind {
	case protocol.KindText:
		if text != "" {
			o.says(id, text)
		}
	case protocol.KindOutput:
		o.callOf(part).output += text
	case protocol.KindInput:
		if c := o.callOf(part); !c.sent {
			c.typed += text
		}
	}
}

// says adds a chunk of a part and ends all other parts.
func (o *expectedEvents) says(id, text string) {
	o.works()
	o.close(id)
	if _, known := o.parts[id]; !known {
		o.parts[id] = true
		o.add(protocol.TextStart, nil, protocol.PartStartData{Part: id})
	}
	if text != "" {
		o.add(protocol.TextDelta, nil, protocol.PartDeltaData{Part: id, Text: text})
	}
}

// close ends the open text parts except one.
func (o *expectedEvents) close(but string) {
	for _, id := range slices.Sorted(maps.Keys(o.parts)) {
		if o.parts[id] && id != but {
			o.parts[id] = false
			o.add(protocol.TextEnd, nil, protocol.PartEndData{Part: id})
		}
	}
}

// thoughts flushes all reasoning except that to keep.
func (o *expectedEvents) thoughts(keep func(id string) bool) {
	all := o.order
	o.order = nil
	for _, t := range all {
		if keep != nil && keep(t.id) {
			o.order = append(o.order, t)
			continue
		}
		if t.text != "" {
			o.works()
			o.close("")
			o.add(protocol.ReasoningStart, nil, protocol.PartStartData{Part: t.id})
			o.add(protocol.ReasoningDelta, nil, protocol.PartDeltaData{Part: t.id, Text: t.text})
			o.add(protocol.ReasoningEnd, nil, protocol.PartEndData{Part: t.id})
		}
	}
}

// notice adds a system message.
func (o *expectedEvents) notice(line string) {
	level := protocol.LevelInfo
	if warning, is := strings.CutPrefix(line, "⚠️ "); is {
		level, line = protocol.LevelWarning, warning
	}
	o.add(protocol.Notice, nil, protocol.NoticeData{Level: level, Message: line})
}

// error adds an error that ends the turn, unless the agent continues. Lost: kind, stage, times and
// the problems of fields; the code, if there is a provider's status.
func (o *expectedEvents) error(message string, code protocol.Code, status string, names []string) {
	d := protocol.ErrorData{
		Kind: protocol.ErrorKindExecution, Code: protocol.CodeAgentFailed,
		Message: wire.InputFailed + ": " + message, Details: map[string]string{},
	}
	switch {
	case status != "":
		d.Details["provider_status"] = status
	case slices.Contains(wire.KnownCodes, code):
		d.Code = code
	case code != "":
		d.Details["provider_status"] = string(code)
	}
	if len(names) > 0 {
		d.Details["fields"] = string(protocol.MustEncode(names))
	}
	o.add(protocol.ErrorRaised, nil, d)
	if o.turn != "" {
		o.fault = protocol.Errorf(d.Code, "%s", d.Message)
	}
}

func (o *expectedEvents) callOf(id string) *expectedCall {
	for _, c := range o.calls {
		if c.id == id {
			return c
		}
	}
	c := &expectedCall{id: id}
	o.calls = append(o.calls, c)
	return c
}

// tool translates an event of a call. Lost: its start until 200 ms passed, another event, or its
// approval; later changes of the start; output until the end, and content except its text.
func (o *expectedEvents) tool(e *protocol.Event) {
	switch e.Type {
	case protocol.ToolStarted:
		d := codec.DecodeEvent[protocol.ToolStartedData](e)
		c := o.callOf(d.Tool)
		c.name, c.title = cmp.Or(d.Name, c.name), cmp.Or(d.Title, c.title)
		if d.Input != nil {
			c.input = d.Input
		}
	case protocol.ToolInput:
		d := codec.DecodeEvent[protocol.ToolInputData](e)
		c := o.callOf(d.Tool)
		if d.Input != nil {
			c.input = d.Input
		}
		if !c.sent {
			c.typed += d.Text
		}
	case protocol.ToolOutput:
		d := codec.DecodeEvent[protocol.ToolOutputData](e)
		c := o.callOf(d.Tool)
		if d.Replace {
			c.output = ""
		}
		c.output += d.Text
		for i := range d.Content {
			c.output += wire.ContentText(&d.Content[i])
		}
	case protocol.ToolEnded:
		d := codec.DecodeEvent[protocol.ToolEndedData](e)
		c := o.callOf(d.Tool)
		o.call(c)
		o.output(c, d)
	}
}

// call adds the start of a call. Lost: title, kind and locations; arguments that are not JSON
// become a string.
func (o *expectedEvents) call(c *expectedCall) {
	if c.sent {
		return
	}
	c.sent, c.waits = true, ""
	d := protocol.ToolStartedData{Tool: c.id, Name: c.name, Kind: protocol.ToolOther}
	argv := wire.ArgvOf(c.input)
	switch {
	case c.name == wire.LocalShell:
		if argv == nil {
			argv = wire.SplitCommand(c.title)
		}
		d.Input, d.Kind = protocol.MustEncode(map[string]any{"command": argv}), protocol.ToolExecute
	case c.input != nil:
		d.Input = c.input
	case c.typed != "":
		d.Input = protocol.MustEncode(c.typed)
	default:
		d.Input = json.RawMessage("{}")
	}
	d.Name = cmp.Or(c.name, c.title)
	d.Title = d.Name
	if argv != nil {
		d.Kind, d.Title = protocol.ToolExecute, protocol.JoinCommand(argv)
	}
	o.item(c, func() { o.add(protocol.ToolStarted, nil, d) })
}

// item adds the start or end of a call. A shell call waits while a request is pending.
func (o *expectedEvents) item(c *expectedCall, do func()) {
	o.works()
	if c.name == wire.LocalShell && len(o.state.Approvals) > 0 {
		o.held = append(o.held, do)
		return
	}
	o.close("")
	do()
}

// output adds the end of a call. Lost: denied and unknown become cancelled; structured output and
// errors become text; there is always an exit code.
func (o *expectedEvents) output(c *expectedCall, d *protocol.ToolEndedData) {
	o.calls = slices.DeleteFunc(o.calls, func(other *expectedCall) bool { return other == c })
	text := cmp.Or(c.output, string(d.Output))
	if d.Error != "" && !strings.Contains(text, d.Error) {
		text = strings.TrimPrefix(text+"\n"+d.Error, "\n")
	}
	end := protocol.ToolEndedData{Tool: c.id, Status: d.Status, ExitCode: d.ExitCode, DurationMS: d.DurationMS}
	switch d.Status {
	case protocol.ToolDenied, protocol.ToolCancelled, protocol.ToolUnknown:
		end.Status, end.DurationMS = protocol.ToolCancelled, 0
	default:
		if end.ExitCode == nil {
			end.ExitCode = new(int)
			if d.Status == protocol.ToolFailed {
				*end.ExitCode = 1
			}
		}
	}
	o.item(c, func() {
		if text != "" {
			o.add(protocol.ToolOutput, nil, protocol.ToolOutputData{Tool: c.id, Text: text})
		}
		o.add(protocol.ToolEnded, nil, end)
	})
}

// passes lets time pass: calls without a request are sent.
func (o *expectedEvents) passes() {
	for _, c := range o.calls {
		if c.waits == "" {
			o.call(c)
		}
	}
}

// ask shows the oldest request, one at a time. Lost: title, kind except command and patch, call,
// reason, directory, tasks, questions, times and options.
func (o *expectedEvents) ask() {
	if !o.present || o.shown != "" || len(o.pending) == 0 {
		return
	}
	o.works()
	a := o.pending[0]
	o.shown = a.Request
	o.requests++
	seen := protocol.Approval{
		Request: "a" + strconv.Itoa(o.requests), Kind: protocol.ApproveCommand, Title: "Run a command",
		Options: wire.ApprovalOptions(), Asked: o.now(),
	}
	words := wire.ApprovalCommand(a, "", "")
	switch a.Kind {
	case protocol.ApprovePatch:
		seen.Kind, seen.Title, seen.Name = protocol.ApprovePatch, "Change files", "apply_patch"
		seen.Patch, seen.Paths = a.Patch, a.Paths
		seen.Editable = a.Editable
	case protocol.ApproveCommand:
		seen.Command = a.Command
		seen.Input = protocol.MustEncode(map[string]any{"command": words})
	default:
		seen.Command = protocol.JoinCommand(words)
		seen.Input = protocol.MustEncode(map[string]any{"command": words})
	}
	o.close("")
	o.add(protocol.ApprovalRequested, nil, seen)
}

func (o *expectedEvents) request() string { return "a" + strconv.Itoa(o.requests) }

// explained adds an explanation. Lost: the user who asked, unless it is the client's: then it is
// the agent's text.
func (o *expectedEvents) explained(e *protocol.Event, d *protocol.ApprovalExplainedData) {
	o.works()
	if d.Request == o.shown && o.deciding == protocol.Explain {
		o.deciding = ""
		o.close("") // the request is repeated
		o.add(protocol.ApprovalExplained, &protocol.Actor{Name: "ada"},
			protocol.ApprovalExplainedData{Request: o.request(), Text: d.Text})
		return
	}
	o.says(fmt.Sprintf("%s.explained%d", e.Turn, e.Seq), d.Text)
	if d.Request == o.shown { // it is asked again
		o.close("")
	}
}

// resolved adds the end of a request. Lost: the end of a request that was not shown, and everything
// except user and outcome of another user's decision.
func (o *expectedEvents) resolved(e *protocol.Event, d *protocol.ApprovalResolvedData) {
	o.pending = slices.DeleteFunc(o.pending, func(a *protocol.Approval) bool { return a.Request == d.Request })
	if d.Request == o.shown {
		over := protocol.ApprovalResolvedData{Request: o.request(), Outcome: d.Outcome}
		by := e.By
		if o.deciding != "" {
			by = &protocol.Actor{Name: "ada"}
			over.Decision, over.Option, over.Reason = o.deciding, wire.ReviewOf(o.deciding), o.why
			o.stopped = o.stopped || o.deciding == protocol.DenyStop
			o.deciding = ""
		} else if by != nil {
			by = &protocol.Actor{Name: by.Name}
		}
		o.add(protocol.ApprovalResolved, by, over)
		o.shown = ""
		o.release()
	}
	for _, c := range o.calls {
		if c.waits == d.Request {
			o.call(c)
		}
	}
	o.ask()
}

func (o *expectedEvents) release() {
	held := o.held
	o.held = nil
	for _, do := range held {
		o.close("")
		do()
	}
}

// ended adds the end of a turn. Lost: usage, duration, and every reason except completed, denied and
// error.
func (o *expectedEvents) ended(d *protocol.TurnEndedData) {
	for _, c := range slices.Clone(o.calls) {
		o.call(c)
		o.output(c, &protocol.ToolEndedData{Status: protocol.ToolCancelled})
	}
	if d.Failed() && !o.failed {
		o.error(cmp.Or(d.Message, "the turn ended: "+string(d.Reason)), cmp.Or(d.Code, protocol.Code(d.Reason)), "",
			nil)
	}
	if d.Reason == protocol.ReasonInterrupted {
		o.notice("Interrupted.")
	}
	end := protocol.TurnEndedData{Reason: protocol.ReasonCompleted, DurationMS: o.now().Sub(o.started).Milliseconds()}
	switch {
	case o.fault != nil:
		end.Reason, end.Code, end.Message = protocol.ReasonError, o.fault.Code, o.fault.Message
	case o.stopped, d.Reason == protocol.ReasonDenied:
		end.Reason = protocol.ReasonDenied
	}
	o.close("")
	o.add(protocol.TurnEnded, nil, end)
	o.turn, o.calls, o.shown, o.pending = "", nil, "", nil
}

// startsCall reports whether an event belongs to the start of a call.
func startsCall(e *protocol.Event, id string) bool {
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
