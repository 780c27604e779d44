package multiagent

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"agentctl/protocol"
)

// A told session is what the dialect leaves of a native one: what our client's end must make of it. Each loss that
// docs/dialects/multiagent.md names is made here, and none else is.
type told struct {
	t     tester
	now   func() time.Time
	state *protocol.State
	story *protocol.Transcript

	agent    string // the session's: nobody is told it, but what it says is under its name
	before   string // the agent when the last turn ended, where a snapshot begins
	thinking bool   // reasoning was asked for
	sending  string // text of the message that our client is sending
	deciding protocol.Decision
	why      string // of the decision
	refused  map[string]bool

	turn *toldTurn // of the server
}

// A toldTurn is a turn at the server.
type toldTurn struct {
	mine, begun bool
	message     protocol.Message
	agent       string
	started     time.Time
	said        bool
	stopped     bool   // by a decision of our client
	open        string // the client's text part; empty: none
	speaker     string
	n           int
	parts       []*toldPart
	tools       map[string]*toldTool
	asks        []*toldAsk
}

type toldPart struct {
	id    string
	kind  protocol.Kind
	agent string
	whole bool
	said  bool
	kept  string
}

type toldTool struct{ name, title, kind, output, request string }

type toldAsk struct {
	id, tool, name string
	output         string
	allowed        bool
}

func newTold(t tester, now func() time.Time) *told {
	o := &told{t: t, now: now, state: &protocol.State{}, story: &protocol.Transcript{}, agent: "agent_id", refused: map[string]bool{}}
	o.add(protocol.SessionCreated, nil, protocol.SessionCreatedData{Agent: Name}) // lost: name, title, directory, agent
	return o
}

// add is an event of the client's log. Lost: ids, times, tasks and parents.
func (o *told) add(typ protocol.Type, by *protocol.Actor, data any) {
	o.t.Helper()
	e := &protocol.Event{Session: "uuid", Seq: o.state.Seq + 1, Time: o.now(), Type: typ, By: by, Data: protocol.MustEncode(data)}
	if o.turn != nil && o.turn.begun {
		e.Turn = "t"
	}
	if err := o.state.Apply(e); err != nil {
		o.t.Fatal(err)
	}
	if _, err := o.story.Apply(e); err != nil {
		o.t.Fatal(err)
	}
}

func read[T any](o *told, e *protocol.Event) *T {
	d := new(T)
	if err := e.Decode(d); err != nil {
		o.t.Fatal(err)
	}
	return d
}

// event takes an event of the server. Lost: every type that is not named here.
func (o *told) event(e *protocol.Event) {
	switch e.Type {
	case protocol.SessionCreated:
		o.agent = read[protocol.SessionCreatedData](o, e).Agent
	case protocol.SessionUpdated:
		if a := read[protocol.SessionUpdatedData](o, e).Agent; a != nil {
			o.agent = *a
		}
	case protocol.MessageUser:
		o.turn = &toldTurn{agent: o.agent, tools: map[string]*toldTool{}, mine: o.sending != ""}
		if o.turn.mine { // lost: of whose message it is otherwise, and what it says
			o.turn.message = protocol.Message{Text: o.sending, By: &protocol.Actor{Name: "ada"}}
			o.sending = ""
		}
	case protocol.TurnStarted:
		o.turn.agent = cmp.Or(read[protocol.TurnStartedData](o, e).Agent, o.turn.agent)
	case protocol.TurnEnded:
		o.ended(read[protocol.TurnEndedData](o, e))
	case protocol.TextStart, protocol.ReasoningStart:
		d := read[protocol.PartStartData](o, e)
		p := o.part(e, d.Part, partKind(e.Type))
		p.agent = cmp.Or(d.Agent, p.agent)
	case protocol.TextDelta, protocol.ReasoningDelta:
		d := read[protocol.PartDeltaData](o, e)
		o.delta(o.part(e, d.Part, partKind(e.Type)), d.Text)
	case protocol.TextEnd, protocol.ReasoningEnd:
		o.utter(o.part(e, read[protocol.PartEndData](o, e).Part, partKind(e.Type)))
	case protocol.JoinedDeltas:
		for _, p := range read[protocol.JoinedData](o, e).Parts {
			switch p.Kind {
			case protocol.KindText, protocol.KindReasoning:
				o.delta(o.part(&protocol.Event{Task: p.Task, Parent: p.Parent}, p.Part, p.Kind), p.Text)
			case protocol.KindOutput:
				o.tool(p.Part).output += p.Text
			}
		}
	case protocol.ToolStarted: // told when it ends, or with the request for it. Lost: its input as it grows, its places
		d := read[protocol.ToolStartedData](o, e)
		k := o.tool(d.Tool)
		k.name, k.title, k.kind = cmp.Or(d.Name, k.name), cmp.Or(d.Title, k.title), cmp.Or(d.Kind, k.kind)
	case protocol.ToolOutput: // lost: until its end, and all of a diff, an image or a blob
		d := read[protocol.ToolOutputData](o, e)
		k := o.tool(d.Tool)
		if d.Replace {
			k.output = ""
		}
		k.output += d.Text
		for _, c := range d.Content {
			k.output += c.Text
		}
	case protocol.ToolEnded:
		o.toolEnded(read[protocol.ToolEndedData](o, e))
	case protocol.ApprovalRequested:
		o.asked(read[protocol.Approval](o, e))
	case protocol.ApprovalResolved:
		o.resolved(read[protocol.ApprovalResolvedData](o, e))
	}
}

// begin lets the client know of the turn: at its first word or, of its own message, once that was not refused.
func (o *told) begin() *toldTurn {
	if u := o.turn; !u.begun {
		u.begun, u.started = true, o.now()
		o.add(protocol.MessageUser, u.message.By, protocol.MessageUserData{Message: u.message})
		o.add(protocol.TurnStarted, nil, protocol.TurnStartedData{})
	}
	return o.turn
}

func (o *told) part(e *protocol.Event, id string, kind protocol.Kind) *toldPart {
	for _, p := range o.turn.parts {
		if p.id == id && p.kind == kind {
			return p
		}
	}
	p := &toldPart{id: id, kind: kind, agent: o.turn.agent, whole: e.Task != "" || e.Parent != "" || kind == protocol.KindReasoning}
	o.turn.parts = append(o.turn.parts, p)
	return p
}

func (o *told) tool(id string) *toldTool {
	if o.turn.tools[id] == nil {
		o.turn.tools[id] = &toldTool{}
	}
	return o.turn.tools[id]
}

// delta is text. What belongs to a task or a tool, and reasoning, is told whole: at the part's end.
func (o *told) delta(p *toldPart, text string) {
	if p.kept += text; !p.whole {
		o.utter(p)
	}
}

// utter tells what a part said. Lost: the borders of text parts. A turn is one message, in which an empty line sets them apart; the
// client sees a part for each speaker in a row, between one tool and the next.
func (o *told) utter(p *toldPart) {
	text := p.kept
	p.kept = ""
	switch {
	case text == "" || p.kind == protocol.KindReasoning && !o.thinking:
		return
	case p.kind == protocol.KindReasoning:
		u := o.begin()
		u.n++
		id := "p" + strconv.Itoa(u.n)
		o.add(protocol.ReasoningStart, nil, protocol.PartStartData{Part: id, Agent: p.agent})
		o.add(protocol.ReasoningDelta, nil, protocol.PartDeltaData{Part: id, Text: text})
		o.add(protocol.ReasoningEnd, nil, protocol.PartEndData{Part: id})
		return
	}
	u := o.begin()
	if !p.said && u.said {
		text = "\n\n" + text
	}
	p.said, u.said = true, true
	if u.open == "" || u.speaker != p.agent {
		o.close()
		u.n++
		u.open, u.speaker = "p"+strconv.Itoa(u.n), p.agent
		o.add(protocol.TextStart, nil, protocol.PartStartData{Part: u.open, Agent: p.agent})
	}
	o.add(protocol.TextDelta, nil, protocol.PartDeltaData{Part: u.open, Text: text})
}

// close ends the open text part.
func (o *told) close() {
	if u := o.turn; u.open != "" {
		o.add(protocol.TextEnd, nil, protocol.PartEndData{Part: u.open})
		u.open = ""
	}
}

// asked is a request. Lost: its options but to allow and to deny; its kind, where a tool has a name; what it is for stands in the
// arguments, and its command there or before why.
func (o *told) asked(a *protocol.Approval) {
	u := o.begin()
	r := &toldAsk{id: a.Request, tool: a.Tool, name: cmp.Or(a.Name, a.Kind)}
	u.asks = append(u.asks, r)
	delete(o.refused, r.id)
	seen := protocol.Approval{
		Request: r.id, Kind: protocol.ApproveTool, Title: a.Title, Tool: r.id, Name: r.name, Options: options, Asked: o.now(), Input: a.Input,
		Command: a.Command, CWD: a.CWD, Why: a.Why,
	}
	switch r.name {
	case protocol.ApproveCommand, protocol.ApprovePatch, protocol.ApprovePlan, protocol.ApproveQuestion:
		seen.Kind = r.name
	}
	if len(a.Input) > 0 && a.Input[0] == '{' {
		var args struct{ Command, CWD string }
		_ = json.Unmarshal(a.Input, &args)
		seen.Command, seen.CWD = args.Command, args.CWD
	} else {
		seen.Input = toolArgs(a)
	}
	for _, q := range a.Questions {
		seen.Why = strings.TrimPrefix(seen.Why+"\n"+q.Text, "\n")
	}
	o.close()
	o.add(protocol.ToolStarted, nil, protocol.ToolStartedData{Tool: r.id, Name: r.name, Title: seen.Title, Input: seen.Input})
	o.add(protocol.ApprovalRequested, nil, seen)
}

// resolved is the end of a request. Lost: who decided, always and stop, and until its tool ends that somebody else allowed it.
func (o *told) resolved(d *protocol.ApprovalResolvedData) {
	u := o.turn
	i := slices.IndexFunc(u.asks, func(r *toldAsk) bool { return r.id == d.Request })
	if i < 0 {
		return
	}
	r := u.asks[i]
	if o.deciding != "" { // our client knows what it decided
		u.stopped = o.deciding == protocol.DenyStop
		o.outcome(&protocol.Actor{Name: "ada"}, protocol.ApprovalResolvedData{
			Request: r.id, Outcome: d.Outcome, Decision: o.deciding, Option: string(o.deciding), Reason: o.why,
		})
		o.deciding = ""
	}
	if d.Outcome == protocol.Allowed && r.tool != "" {
		r.allowed = true
		return
	}
	u.asks = slices.Delete(u.asks, i, i+1)
	if d.Outcome == protocol.Allowed {
		o.executed(r, &protocol.ToolEndedData{Output: protocol.MustEncode(map[string]any{"decision": d.Decision})}, "")
		return
	}
	if r.tool != "" {
		o.tool(r.tool).request = r.id
	}
	o.executed(r, nil, cmp.Or(d.Reason, string(d.Outcome)))
}

func (o *told) outcome(by *protocol.Actor, d protocol.ApprovalResolvedData) {
	if o.state.PendingApproval(d.Request) != nil {
		o.refused[d.Request] = d.Outcome != protocol.Allowed
		o.add(protocol.ApprovalResolved, by, d)
	}
}

// toolEnded is the end of a tool. Lost: how long it took and, where it has a structured result, all other output.
func (o *told) toolEnded(d *protocol.ToolEndedData) {
	u := o.turn
	k := o.tool(d.Tool)
	delete(u.tools, d.Tool)
	if k.request != "" { // it was not run, and the end of the request said so
		return
	}
	as := &toldAsk{id: d.Tool, name: cmp.Or(k.name, k.title, k.kind)}
	if i := slices.IndexFunc(u.asks, func(r *toldAsk) bool { return r.tool == d.Tool && r.allowed }); i >= 0 {
		as = u.asks[i]
		u.asks = slices.Delete(u.asks, i, i+1)
	}
	end := protocol.ToolEndedData{Output: d.Output}
	if len(d.Output) == 0 {
		as.output, end.ExitCode = k.output, d.ExitCode
	}
	why := ""
	if d.Status != protocol.ToolCompleted {
		why = cmp.Or(d.Error, string(d.Status))
	}
	o.executed(as, &end, why)
}

// executed is what the client hears of a tool or a request: how it ended, or nil, and why it failed.
func (o *told) executed(r *toldAsk, end *protocol.ToolEndedData, why string) {
	o.begin()
	d := protocol.ApprovalResolvedData{Request: r.id, Outcome: protocol.Allowed, Decision: protocol.AllowOnce}
	if why != "" && end == nil {
		switch protocol.Outcome(why) {
		case protocol.Expired, protocol.Cancelled:
			d.Outcome, d.Decision = protocol.Outcome(why), ""
		default:
			d.Outcome, d.Decision = protocol.Denied, protocol.Deny
			if d.Reason = why; why == string(protocol.Denied) {
				d.Reason = ""
			}
		}
	}
	o.outcome(nil, d)
	if !slices.ContainsFunc(o.state.Turn.Tools, func(t protocol.OpenTool) bool { return t.Tool == r.id }) {
		o.close()
		o.add(protocol.ToolStarted, nil, protocol.ToolStartedData{Tool: r.id, Name: r.name})
	}
	if end == nil {
		end = &protocol.ToolEndedData{}
	}
	end.Tool, end.Status = r.id, protocol.ToolCompleted
	if r.output != "" {
		o.add(protocol.ToolOutput, nil, protocol.ToolOutputData{Tool: r.id, Text: r.output})
	}
	if why != "" {
		end.Status, end.Error = protocol.ToolFailed, why
		switch s := protocol.ToolStatus(why); s {
		case protocol.ToolFailed, protocol.ToolCancelled, protocol.ToolDenied, protocol.ToolUnknown:
			end.Status, end.Error = s, ""
		}
		if o.refused[r.id] {
			end.Status = protocol.ToolDenied
		}
	}
	o.add(protocol.ToolEnded, nil, end)
}

// ended is the end of a turn. Lost: tools that did not end, usage but what was said, how long an unfinished turn took, and
// every reason but completed, interrupted and error. A turn of which nothing was said is known only if it is finished or is our
// client's own; one of ours that failed before it counted as sent was refused.
func (o *told) ended(d *protocol.TurnEndedData) {
	u := o.turn
	for _, p := range u.parts {
		o.utter(p)
	}
	for _, r := range u.asks {
		var end *protocol.ToolEndedData
		if r.allowed {
			end = &protocol.ToolEndedData{}
		}
		o.executed(r, end, "the turn ended")
	}
	end := protocol.TurnEndedData{Reason: d.Reason}
	switch {
	case d.Reason == protocol.ReasonCompleted:
		o.begin()
		end.DurationMS = d.DurationMS
		if d.Usage != nil && d.Usage.Output > 0 {
			end.Usage = &protocol.Usage{Output: d.Usage.Output}
		}
	case d.Reason == protocol.ReasonInterrupted || d.Reason == protocol.ReasonDenied:
		if end.Reason = protocol.ReasonInterrupted; u.stopped {
			end.Reason = protocol.ReasonDenied
		}
		if u.mine {
			o.begin()
		}
	case u.begun:
		end.Reason, end.Code, end.Message = protocol.ReasonError, protocol.CodeAgentFailed, cmp.Or(d.Message, string(d.Reason))
		o.add(protocol.ErrorRaised, nil, protocol.ErrorData{
			Kind: protocol.ErrorKindExecution, Code: end.Code, Message: end.Message, Details: map[string]string{"code": streamError},
		})
	}
	if u.begun {
		o.close()
		end.DurationMS = cmp.Or(end.DurationMS, o.now().Sub(u.started).Milliseconds())
		o.add(protocol.TurnEnded, nil, end)
	}
	o.turn, o.before = nil, o.agent
}

// lost is a lost connection: it ends the turn, and what the client has of its turn is told anew as somebody else's.
func (o *told) lost() {
	if u := o.turn; u != nil && u.begun {
		o.close()
		for _, a := range slices.Clone(o.state.Approvals) {
			o.outcome(nil, protocol.ApprovalResolvedData{Request: a.Request, Outcome: protocol.Cancelled})
		}
		tools := slices.Clone(o.state.Turn.Tools)
		slices.SortFunc(tools, func(a, b protocol.OpenTool) int { return strings.Compare(a.Tool, b.Tool) })
		for _, k := range tools {
			o.add(protocol.ToolEnded, nil, protocol.ToolEndedData{Tool: k.Tool, Status: protocol.ToolUnknown})
		}
		o.add(protocol.TurnEnded, nil, protocol.TurnEndedData{
			Reason: protocol.ReasonError, Code: protocol.CodeAgentFailed, Message: "the connection was lost: what came since is not known",
			DurationMS: o.now().Sub(u.started).Milliseconds(),
		})
	}
	o.turn, o.agent, o.thinking, o.story = nil, o.before, false, &protocol.Transcript{}
}
