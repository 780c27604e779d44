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

	"agentctl/protocol"
)

// A told session is what the dialect leaves of a native one: what our client's end must make of it. Each loss that
// docs/dialects/agentloop.md names is made here, and none else is.
type told struct {
	t     tester
	now   func() time.Time
	state *protocol.State
	story *protocol.Transcript

	sending  *protocol.Message // that our client sent
	deciding protocol.Decision // of our client, on its way
	why      string
	requests int
	present  bool // the client has caught up: requests are shown

	// of the turn
	turn    string // at the server
	started time.Time
	parts   map[string]bool // text parts of the client; true: open
	order   []*toldThought
	calls   []*toldCall
	pending []*protocol.Approval
	shown   string
	held    []func() // shell calls that wait for a decision
	fault   *protocol.Error
	failed  bool // and the end need not say so
	stopped bool
}

type toldThought struct{ id, text string }

type toldCall struct {
	id, name, title, typed, output, waits string
	input                                 json.RawMessage
	told                                  bool
}

func newTold(t tester, now func() time.Time) *told {
	o := &told{t: t, now: now, present: true}
	o.begin()
	return o
}

// begin begins a log of the client. Lost: the session's name, title, directory and agent, and all turns that ended before.
func (o *told) begin() {
	*o = told{t: o.t, now: o.now, present: o.present, state: &protocol.State{}, story: &protocol.Transcript{}}
	o.add(protocol.SessionCreated, nil, protocol.SessionCreatedData{Name: Name, Agent: Name})
}

// rejoins begins anew: the turn under way is told again, the request that is pending once all else is.
func (o *told) rejoins() {
	o.present = false
	o.begin()
}

// add is an event of the client's log. Lost: ids of turns, tasks and parents, and times but for when it was heard.
func (o *told) add(typ protocol.Type, by *protocol.Actor, data any) {
	o.t.Helper()
	e := &protocol.Event{Session: Name, Seq: o.state.Seq + 1, Time: o.now(), Type: typ, By: by, Data: protocol.MustEncode(data)}
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

// event takes an event of the server. Lost: every type that is not named here and for which lineOf has no words.
func (o *told) event(e *protocol.Event) {
	if !e.Durable() {
		if e.Type == protocol.CaughtUp && !o.present {
			o.present = true
			o.ask()
		}
		return
	}
	for _, c := range o.calls { // a call is told when anything else happens
		if !about(e, c.id) && c.waits == "" {
			o.call(c)
		}
	}
	switch e.Type {
	case protocol.TextDelta:
		d := data[protocol.PartDeltaData](e)
		o.delta(e, protocol.KindText, d.Part, d.Text)
		return
	case protocol.ReasoningStart:
		return
	case protocol.ReasoningDelta:
		d := data[protocol.PartDeltaData](e)
		o.delta(e, protocol.KindReasoning, d.Part, d.Text)
		return
	case protocol.ReasoningEnd:
		o.thoughts(func(id string) bool { return id != e.Turn+"."+data[protocol.PartEndData](e).Part })
		return
	case protocol.JoinedDeltas:
		for _, p := range data[protocol.JoinedData](e).Parts {
			o.delta(e, p.Kind, p.Part, p.Text)
		}
		return
	}
	o.thoughts(nil) // reasoning is told when anything else but reasoning happens
	switch e.Type {
	case protocol.MessageUser:
		o.user(e)
	case protocol.TurnEnded:
		o.ended(data[protocol.TurnEndedData](e))
	case protocol.ToolStarted, protocol.ToolInput, protocol.ToolOutput, protocol.ToolEnded:
		o.tool(e)
	case protocol.ApprovalRequested:
		a := data[protocol.Approval](e)
		o.pending = append(o.pending, a)
		for _, c := range o.calls {
			if c.id == a.Tool && !c.told {
				c.waits = a.Request
			}
		}
		o.ask()
	case protocol.ApprovalExplained:
		o.explained(e, data[protocol.ApprovalExplainedData](e))
	case protocol.ApprovalResolved:
		o.resolved(e, data[protocol.ApprovalResolvedData](e))
	case protocol.ContextUpdated:
		o.add(e.Type, nil, data[protocol.ContextInfo](e))
	case protocol.ContextCompacted: // lost: that it was not automatic
		d := data[protocol.ContextCompactedData](e)
		d.Automatic = true
		o.add(e.Type, nil, d)
	case protocol.ErrorRaised:
		d := data[protocol.ErrorData](e)
		if d.Recoverable { // lost: that it is an error
			o.notice("⚠️ " + d.Message)
			return
		}
		o.error(d.Message, d.Code, d.Details["provider_status"], slices.Sorted(maps.Keys(d.Fields)))
		o.failed = true
	default: // lost: all but a line
		if line := lineOf(e); line != "" {
			o.notice(line)
		}
	}
}

// user begins a turn. Lost: who said it, unless our client did, and parts but for their names in brackets.
func (o *told) user(e *protocol.Event) {
	m := protocol.Message{Text: spoken(&data[protocol.MessageUserData](e).Message)}
	if o.sending != nil {
		m, o.sending = *o.sending, nil
	}
	o.turn, o.started, o.parts, o.fault, o.failed, o.stopped = e.Turn, o.now(), map[string]bool{}, nil, false, false
	o.add(protocol.MessageUser, m.By, protocol.MessageUserData{Message: m})
	o.add(protocol.TurnStarted, nil, protocol.TurnStartedData{})
}

// works is a sign of the agent: after an error it goes on.
func (o *told) works() { o.fault, o.failed = nil, false }

// delta is what the agent says. Lost: who speaks, and when a part of text ends; reasoning comes whole.
func (o *told) delta(e *protocol.Event, kind protocol.Kind, part, text string) {
	id := e.Turn + "." + part
	switch kind {
	case protocol.KindReasoning:
		o.thoughts(func(other string) bool { return other == id })
		i := slices.IndexFunc(o.order, func(t *toldThought) bool { return t.id == id })
		if i < 0 {
			i = len(o.order)
			o.order = append(o.order, &toldThought{id: id})
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
		if c := o.callOf(part); !c.told {
			c.typed += text
		}
	}
}

// says is a chunk of a part, which ends all others.
func (o *told) says(id, text string) {
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

// close ends the open text parts but one.
func (o *told) close(but string) {
	for _, id := range slices.Sorted(maps.Keys(o.parts)) {
		if o.parts[id] && id != but {
			o.parts[id] = false
			o.add(protocol.TextEnd, nil, protocol.PartEndData{Part: id})
		}
	}
}

// thoughts tells all reasoning but what is to be kept.
func (o *told) thoughts(keep func(id string) bool) {
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

// notice is a system message.
func (o *told) notice(line string) {
	level := protocol.LevelInfo
	if warning, is := strings.CutPrefix(line, "⚠️ "); is {
		level, line = protocol.LevelWarning, warning
	}
	o.add(protocol.Notice, nil, protocol.NoticeData{Level: level, Message: line})
}

// error is an error that ends the turn, unless the agent goes on. Lost: kind, stage, times, what fields are wrong; the code, where
// there is a status of the provider.
func (o *told) error(message string, code protocol.Code, status string, names []string) {
	d := protocol.ErrorData{Kind: protocol.ErrorKindExecution, Code: protocol.CodeAgentFailed, Message: inputFailed + ": " + message, Details: map[string]string{}}
	switch {
	case status != "":
		d.Details["provider_status"] = status
	case slices.Contains(known, code):
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

func (o *told) callOf(id string) *toldCall {
	for _, c := range o.calls {
		if c.id == id {
			return c
		}
	}
	c := &toldCall{id: id}
	o.calls = append(o.calls, c)
	return c
}

// tool is an event of a call. Lost: its start until 200 ms passed, anything happens or it is allowed, and what its start says
// later; output until its end, and pieces of output but for their text.
func (o *told) tool(e *protocol.Event) {
	switch e.Type {
	case protocol.ToolStarted:
		d := data[protocol.ToolStartedData](e)
		c := o.callOf(d.Tool)
		c.name, c.title = cmp.Or(d.Name, c.name), cmp.Or(d.Title, c.title)
		if d.Input != nil {
			c.input = d.Input
		}
	case protocol.ToolInput:
		d := data[protocol.ToolInputData](e)
		c := o.callOf(d.Tool)
		if d.Input != nil {
			c.input = d.Input
		}
		if !c.told {
			c.typed += d.Text
		}
	case protocol.ToolOutput:
		d := data[protocol.ToolOutputData](e)
		c := o.callOf(d.Tool)
		if d.Replace {
			c.output = ""
		}
		c.output += d.Text
		for i := range d.Content {
			c.output += contentText(&d.Content[i])
		}
	case protocol.ToolEnded:
		d := data[protocol.ToolEndedData](e)
		c := o.callOf(d.Tool)
		o.call(c)
		o.output(c, d)
	}
}

// call is the start of a call. Lost: title, kind and places; arguments that are no JSON are a string.
func (o *told) call(c *toldCall) {
	if c.told {
		return
	}
	c.told, c.waits = true, ""
	d := protocol.ToolStartedData{Tool: c.id, Name: c.name, Kind: protocol.ToolOther}
	argv := argvOf(c.input)
	switch {
	case c.name == localShell:
		if argv == nil {
			argv = wordsOf(c.title)
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
		d.Kind, d.Title = protocol.ToolExecute, join(argv)
	}
	o.item(c, func() { o.add(protocol.ToolStarted, nil, d) })
}

// item is the start or end of a call. That of a shell waits while a request is pending.
func (o *told) item(c *toldCall, do func()) {
	o.works()
	if c.name == localShell && len(o.state.Approvals) > 0 {
		o.held = append(o.held, do)
		return
	}
	o.close("")
	do()
}

// output is the end of a call. Lost: denied and unknown are cancelled; structured output and errors are text; there is always an exit code.
func (o *told) output(c *toldCall, d *protocol.ToolEndedData) {
	o.calls = slices.DeleteFunc(o.calls, func(other *toldCall) bool { return other == c })
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

// passes lets time pass: calls are told that waited for a request that did not come.
func (o *told) passes() {
	for _, c := range o.calls {
		if c.waits == "" {
			o.call(c)
		}
	}
}

// ask shows the oldest request, one at a time. Lost: title, kind but command and patch, the call it is for, why, directory, tasks,
// questions, times and options: it is words, or a patch.
func (o *told) ask() {
	if !o.present || o.shown != "" || len(o.pending) == 0 {
		return
	}
	o.works()
	a := o.pending[0]
	o.shown = a.Request
	o.requests++
	seen := protocol.Approval{
		Request: "a" + strconv.Itoa(o.requests), Kind: protocol.ApproveCommand, Title: "Run a command", Options: choices(), Asked: o.now(),
	}
	words := commandOf(a, "")
	switch a.Kind {
	case protocol.ApprovePatch:
		seen.Kind, seen.Title, seen.Name, seen.Patch, seen.Paths = protocol.ApprovePatch, "Change files", "apply_patch", a.Patch, a.Paths
		seen.Editable = a.Editable
	case protocol.ApproveCommand:
		seen.Command = a.Command
		seen.Input = protocol.MustEncode(map[string]any{"command": words})
	default:
		seen.Command = join(words)
		seen.Input = protocol.MustEncode(map[string]any{"command": words})
	}
	o.close("")
	o.add(protocol.ApprovalRequested, nil, seen)
}

func (o *told) request() string { return "a" + strconv.Itoa(o.requests) }

// explained is why. Lost: who asked, if it was not our client: then it is the agent's words.
func (o *told) explained(e *protocol.Event, d *protocol.ApprovalExplainedData) {
	o.works()
	if d.Request == o.shown && o.deciding == protocol.Explain {
		o.deciding = ""
		o.close("") // it is asked again
		o.add(protocol.ApprovalExplained, &protocol.Actor{Name: "ada"}, protocol.ApprovalExplainedData{Request: o.request(), Text: d.Text})
		return
	}
	o.says(fmt.Sprintf("%s.explained%d", e.Turn, e.Seq), d.Text)
	if d.Request == o.shown { // it is asked again
		o.close("")
	}
}

// resolved is the end of a request. Lost: that of one that was not shown; and of one that another decided all but who and how.
func (o *told) resolved(e *protocol.Event, d *protocol.ApprovalResolvedData) {
	o.pending = slices.DeleteFunc(o.pending, func(a *protocol.Approval) bool { return a.Request == d.Request })
	if d.Request == o.shown {
		over := protocol.ApprovalResolvedData{Request: o.request(), Outcome: d.Outcome}
		by := e.By
		if o.deciding != "" {
			by = &protocol.Actor{Name: "ada"}
			over.Decision, over.Option, over.Reason = o.deciding, reviewOf(o.deciding), o.why
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

func (o *told) release() {
	held := o.held
	o.held = nil
	for _, do := range held {
		o.close("")
		do()
	}
}

// ended is the end of a turn. Lost: usage, how long it took, and every reason but completed, denied by our client, and error: that is
// told when an error is the last that happened, else made of the reason.
func (o *told) ended(d *protocol.TurnEndedData) {
	for _, c := range slices.Clone(o.calls) {
		o.call(c)
		o.output(c, &protocol.ToolEndedData{Status: protocol.ToolCancelled})
	}
	if d.Failed() && !o.failed {
		o.error(cmp.Or(d.Message, "the turn ended: "+string(d.Reason)), cmp.Or(d.Code, protocol.Code(d.Reason)), "", nil)
	}
	if d.Reason == protocol.ReasonInterrupted {
		o.notice("Interrupted.")
	}
	end := protocol.TurnEndedData{Reason: protocol.ReasonCompleted, DurationMS: o.now().Sub(o.started).Milliseconds()}
	switch {
	case o.fault != nil:
		end.Reason, end.Code, end.Message = protocol.ReasonError, o.fault.Code, o.fault.Message
	case o.stopped:
		end.Reason = protocol.ReasonDenied
	}
	o.close("")
	o.add(protocol.TurnEnded, nil, end)
	o.turn, o.calls, o.shown, o.pending = "", nil, "", nil
}
