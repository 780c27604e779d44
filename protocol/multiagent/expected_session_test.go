package multiagent

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"agentctl/internal/dev/codectest"
	"agentctl/protocol"
	"agentctl/protocol/multiagent/wire"
)

// An expectedSession is the part of a native session that the dialect preserves, and thus the
// result that the client end must produce. It applies each loss listed in
// docs/dialects/multiagent.md and no other.
type expectedSession struct {
	t          codectest.T
	now        func() time.Time
	state      *protocol.State
	transcript *protocol.Transcript

	agent     string // of the session: hidden, but used as the speaker
	lastAgent string // at the end of the last turn, where a snapshot starts
	thinking  bool   // reasoning was requested
	sending   string // text of the message being sent
	deciding  protocol.Decision
	reason    string // of the decision
	refused   map[string]bool

	turn *expectedTurn // at the server
}

// An expectedTurn is a turn at the server.
type expectedTurn struct {
	own, started bool
	message      protocol.Message
	agent        string
	startedAt    time.Time
	hasText      bool
	stopped      bool   // by a decision of the client
	open         string // the client's open text part; empty: none
	speaker      string
	n            int
	parts        []*expectedPart
	tools        map[string]*expectedTool
	approvals    []*expectedApproval
}

type expectedPart struct {
	id       string
	kind     protocol.Kind
	agent    string
	buffered bool
	started  bool
	buffer   string
}

type expectedTool struct{ name, title, kind, output, request string }

type expectedApproval struct {
	id, tool, name string
	output         string
	allowed        bool
}

func newExpectedSession(t codectest.T, now func() time.Time) *expectedSession {
	o := &expectedSession{
		t: t, now: now, state: &protocol.State{}, transcript: &protocol.Transcript{}, agent: "agent_id",
		refused: map[string]bool{},
	}
	// lost: name, title, directory, agent
	o.append(protocol.SessionCreated, nil, protocol.SessionCreatedData{Agent: wire.Name})
	return o
}

// append adds an event to the client's log. Lost: ids, times, tasks and parents.
func (o *expectedSession) append(typ protocol.Type, by *protocol.Actor, data any) {
	o.t.Helper()
	e := &protocol.Event{
		Session: "uuid", Seq: o.state.Seq + 1, Time: o.now(), Type: typ, By: by, Data: protocol.MustEncode(data),
	}
	if o.turn != nil && o.turn.started {
		e.Turn = "t"
	}
	if err := o.state.Apply(e); err != nil {
		o.t.Fatal(err)
	}
	if _, err := o.transcript.Apply(e); err != nil {
		o.t.Fatal(err)
	}
}

func mustDecode[T any](o *expectedSession, e *protocol.Event) *T {
	d := new(T)
	if err := e.Decode(d); err != nil {
		o.t.Fatal(err)
	}
	return d
}

// handleEvent handles an event of the server. Lost: every type not listed.
func (o *expectedSession) handleEvent(e *protocol.Event) {
	switch e.Type {
	case protocol.SessionCreated:
		o.agent = mustDecode[protocol.SessionCreatedData](o, e).Agent
	case protocol.SessionUpdated:
		if a := mustDecode[protocol.SessionUpdatedData](o, e).Agent; a != nil {
			o.agent = *a
		}
	case protocol.MessageUser:
		o.turn = &expectedTurn{agent: o.agent, tools: map[string]*expectedTool{}, own: o.sending != ""}
		if o.turn.own { // lost otherwise: the author and the text
			o.turn.message = protocol.Message{Text: o.sending, By: &protocol.Actor{Name: "ada"}}
			o.sending = ""
		}
	case protocol.TurnStarted:
		o.turn.agent = cmp.Or(mustDecode[protocol.TurnStartedData](o, e).Agent, o.turn.agent)
	case protocol.TurnEnded:
		o.turnEnded(mustDecode[protocol.TurnEndedData](o, e))
	case protocol.TextStart, protocol.ReasoningStart:
		d := mustDecode[protocol.PartStartData](o, e)
		p := o.part(e, d.Part, partKind(e.Type))
		p.agent = cmp.Or(d.Agent, p.agent)
	case protocol.TextDelta, protocol.ReasoningDelta:
		d := mustDecode[protocol.PartDeltaData](o, e)
		o.appendText(o.part(e, d.Part, partKind(e.Type)), d.Text)
	case protocol.TextEnd, protocol.ReasoningEnd:
		o.flush(o.part(e, mustDecode[protocol.PartEndData](o, e).Part, partKind(e.Type)))
	case protocol.JoinedDeltas:
		for _, p := range mustDecode[protocol.JoinedData](o, e).Parts {
			switch p.Kind {
			case protocol.KindText, protocol.KindReasoning:
				o.appendText(o.part(&protocol.Event{Task: p.Task, Parent: p.Parent}, p.Part, p.Kind), p.Text)
			case protocol.KindOutput:
				o.tool(p.Part).output += p.Text
			}
		}
	// sent at its end, or with its approval request. Lost: streamed input and locations
	case protocol.ToolStarted:
		d := mustDecode[protocol.ToolStartedData](o, e)
		k := o.tool(d.Tool)
		k.name, k.title, k.kind = cmp.Or(d.Name, k.name), cmp.Or(d.Title, k.title), cmp.Or(d.Kind, k.kind)
	case protocol.ToolOutput: // lost: streaming, and diffs, images and blobs
		d := mustDecode[protocol.ToolOutputData](o, e)
		k := o.tool(d.Tool)
		if d.Replace {
			k.output = ""
		}
		k.output += d.Text
		for _, c := range d.Content {
			k.output += c.Text
		}
	case protocol.ToolEnded:
		o.toolEnded(mustDecode[protocol.ToolEndedData](o, e))
	case protocol.ApprovalRequested:
		o.approvalRequested(mustDecode[protocol.Approval](o, e))
	case protocol.ApprovalResolved:
		o.approvalResolved(mustDecode[protocol.ApprovalResolvedData](o, e))
	}
}

// startTurn makes the turn known to the client: with its first text or, for the client's own
// message, once it counts as accepted.
func (o *expectedSession) startTurn() *expectedTurn {
	if u := o.turn; !u.started {
		u.started, u.startedAt = true, o.now()
		o.append(protocol.MessageUser, u.message.By, protocol.MessageUserData{Message: u.message})
		o.append(protocol.TurnStarted, nil, protocol.TurnStartedData{})
	}
	return o.turn
}

func partKind(t protocol.Type) protocol.Kind {
	switch t {
	case protocol.ReasoningStart, protocol.ReasoningDelta, protocol.ReasoningEnd:
		return protocol.KindReasoning
	}
	return protocol.KindText
}

func (o *expectedSession) part(e *protocol.Event, id string, kind protocol.Kind) *expectedPart {
	for _, p := range o.turn.parts {
		if p.id == id && p.kind == kind {
			return p
		}
	}
	p := &expectedPart{
		id: id, kind: kind, agent: o.turn.agent,
		buffered: e.Task != "" || e.Parent != "" || kind == protocol.KindReasoning,
	}
	o.turn.parts = append(o.turn.parts, p)
	return p
}

func (o *expectedSession) tool(id string) *expectedTool {
	if o.turn.tools[id] == nil {
		o.turn.tools[id] = &expectedTool{}
	}
	return o.turn.tools[id]
}

// appendText handles text. Text of a task or tool, and reasoning, is sent whole at the part's end.
func (o *expectedSession) appendText(p *expectedPart, text string) {
	if p.buffer += text; !p.buffered {
		o.flush(p)
	}
}

// flush sends a part's text. Lost: the boundaries of text parts. A turn is one message with blank
// lines between parts; the client sees one part per run of the same speaker between two tools.
func (o *expectedSession) flush(p *expectedPart) {
	text := p.buffer
	p.buffer = ""
	switch {
	case text == "" || p.kind == protocol.KindReasoning && !o.thinking:
		return
	case p.kind == protocol.KindReasoning:
		u := o.startTurn()
		u.n++
		id := "p" + strconv.Itoa(u.n)
		o.append(protocol.ReasoningStart, nil, protocol.PartStartData{Part: id, Agent: p.agent})
		o.append(protocol.ReasoningDelta, nil, protocol.PartDeltaData{Part: id, Text: text})
		o.append(protocol.ReasoningEnd, nil, protocol.PartEndData{Part: id})
		return
	}
	u := o.startTurn()
	if !p.started && u.hasText {
		text = "\n\n" + text
	}
	p.started, u.hasText = true, true
	if u.open == "" || u.speaker != p.agent {
		o.closePart()
		u.n++
		u.open, u.speaker = "p"+strconv.Itoa(u.n), p.agent
		o.append(protocol.TextStart, nil, protocol.PartStartData{Part: u.open, Agent: p.agent})
	}
	o.append(protocol.TextDelta, nil, protocol.PartDeltaData{Part: u.open, Text: text})
}

// closePart ends the open text part.
func (o *expectedSession) closePart() {
	if u := o.turn; u.open != "" {
		o.append(protocol.TextEnd, nil, protocol.PartEndData{Part: u.open})
		u.open = ""
	}
}

// approvalRequested handles a request. Lost: all options except allow and deny, and the kind if a
// tool has a name. The arguments hold the details, and the command precedes why.
func (o *expectedSession) approvalRequested(a *protocol.Approval) {
	u := o.startTurn()
	r := &expectedApproval{id: a.Request, tool: a.Tool, name: cmp.Or(a.Name, a.Kind)}
	u.approvals = append(u.approvals, r)
	delete(o.refused, r.id)
	seen := protocol.Approval{
		Request: r.id, Kind: protocol.ApproveTool, Title: a.Title, Tool: r.id, Name: r.name, Options: []protocol.Option{
			{ID: string(protocol.AllowOnce), Kind: protocol.AllowOnce, Label: "Allow"},
			{ID: string(protocol.Deny), Kind: protocol.Deny, Label: "Deny"},
			{ID: string(protocol.DenyStop), Kind: protocol.DenyStop, Label: "Deny and stop"},
		},
		Asked: o.now(), Input: a.Input,
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
		seen.Input = wire.ApprovalArgs(a)
	}
	for _, q := range a.Questions {
		seen.Why = strings.TrimPrefix(seen.Why+"\n"+q.Prompt(), "\n")
	}
	if q := a.MustAnswer(); q != nil {
		seen.Why += "\nThis can only be denied here: " + q.Text + " needs an answer, and an approval takes none."
	}
	if a.Page != nil {
		seen.Why = strings.TrimPrefix(seen.Why+"\n"+a.Page.Prompt(), "\n")
	}
	o.closePart()
	o.append(protocol.ToolStarted, nil, protocol.ToolStartedData{
		Tool: r.id, Name: r.name, Title: seen.Title, Input: seen.Input,
	})
	o.append(protocol.ApprovalRequested, nil, seen)
}

// approvalResolved handles the end of a request. Lost: who decided, always and stop, and until the
// tool ends another client's permission.
func (o *expectedSession) approvalResolved(d *protocol.ApprovalResolvedData) {
	u := o.turn
	i := slices.IndexFunc(u.approvals, func(r *expectedApproval) bool { return r.id == d.Request })
	if i < 0 {
		return
	}
	r := u.approvals[i]
	if o.deciding != "" { // the client knows its own decision
		u.stopped = o.deciding == protocol.DenyStop
		o.recordOutcome(&protocol.Actor{Name: "ada"}, protocol.ApprovalResolvedData{
			Request: r.id, Outcome: d.Outcome, Decision: o.deciding, Option: string(o.deciding), Reason: o.reason,
		})
		o.deciding = ""
	}
	if d.Outcome == protocol.Allowed && r.tool != "" {
		r.allowed = true
		return
	}
	u.approvals = slices.Delete(u.approvals, i, i+1)
	if d.Outcome == protocol.Allowed {
		o.toolExecuted(r, &protocol.ToolEndedData{
			Output: protocol.MustEncode(map[string]any{"decision": d.Decision}),
		}, "")
		return
	}
	if r.tool != "" {
		o.tool(r.tool).request = r.id
	}
	o.toolExecuted(r, nil, cmp.Or(d.Reason, string(d.Outcome)))
}

func (o *expectedSession) recordOutcome(by *protocol.Actor, d protocol.ApprovalResolvedData) {
	if o.state.PendingApproval(d.Request) != nil {
		o.refused[d.Request] = d.Outcome != protocol.Allowed
		o.append(protocol.ApprovalResolved, by, d)
	}
}

// toolEnded handles the end of a tool. Lost: the duration and, with a structured result, all other
// output.
func (o *expectedSession) toolEnded(d *protocol.ToolEndedData) {
	u := o.turn
	k := o.tool(d.Tool)
	delete(u.tools, d.Tool)
	if k.request != "" { // not run: the end of the request reported that
		return
	}
	as := &expectedApproval{id: d.Tool, name: cmp.Or(k.name, k.title, k.kind)}
	if i := slices.IndexFunc(u.approvals, func(r *expectedApproval) bool {
		return r.tool == d.Tool &&
			r.allowed
	}); i >= 0 {
		as = u.approvals[i]
		u.approvals = slices.Delete(u.approvals, i, i+1)
	}
	end := protocol.ToolEndedData{Output: d.Output}
	if len(d.Output) == 0 {
		as.output, end.ExitCode = k.output, d.ExitCode
	}
	why := ""
	if d.Status != protocol.ToolCompleted {
		why = cmp.Or(d.Error, string(d.Status))
	}
	o.toolExecuted(as, &end, why)
}

// toolExecuted reports the end of a tool or a request. end is nil if it did not run; why is the
// error.
func (o *expectedSession) toolExecuted(r *expectedApproval, end *protocol.ToolEndedData, why string) {
	o.startTurn()
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
	o.recordOutcome(nil, d)
	if !slices.ContainsFunc(o.state.Turn.Tools, func(t protocol.OpenTool) bool { return t.Tool == r.id }) {
		o.closePart()
		o.append(protocol.ToolStarted, nil, protocol.ToolStartedData{Tool: r.id, Name: r.name})
	}
	if end == nil {
		end = &protocol.ToolEndedData{}
	}
	end.Tool, end.Status = r.id, protocol.ToolCompleted
	if r.output != "" {
		o.append(protocol.ToolOutput, nil, protocol.ToolOutputData{Tool: r.id, Text: r.output})
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
	o.append(protocol.ToolEnded, nil, end)
}

// turnEnded handles the end of a turn. Lost: unfinished tools, all usage except output, the
// duration of an unfinished turn, and all reasons except completed, interrupted and error. A turn
// without text is known only if it completed or is the client's own; the client's own turn that
// failed before it counted as accepted was refused.
func (o *expectedSession) turnEnded(d *protocol.TurnEndedData) {
	u := o.turn
	for _, p := range u.parts {
		o.flush(p)
	}
	for _, r := range u.approvals {
		var end *protocol.ToolEndedData
		if r.allowed {
			end = &protocol.ToolEndedData{}
		}
		o.toolExecuted(r, end, "the turn ended")
	}
	end := protocol.TurnEndedData{Reason: d.Reason}
	switch {
	case d.Reason == protocol.ReasonCompleted:
		o.startTurn()
		end.DurationMS = d.DurationMS
		if d.Usage != nil && d.Usage.Output > 0 {
			end.Usage = &protocol.Usage{Output: d.Usage.Output}
		}
	case d.Reason == protocol.ReasonInterrupted || d.Reason == protocol.ReasonDenied:
		if u.stopped {
			end.Reason = protocol.ReasonDenied
		}
		if u.own {
			o.startTurn()
		}
	case u.started:
		end.Reason, end.Code, end.Message = protocol.ReasonError, protocol.CodeAgentFailed, cmp.Or(d.Message,
			string(d.Reason))
		o.append(protocol.ErrorRaised, nil, protocol.ErrorData{
			Kind: protocol.ErrorKindExecution, Code: end.Code, Message: end.Message,
			Details: map[string]string{"code": wire.CodeStreamError},
		})
	}
	if u.started {
		o.closePart()
		end.DurationMS = cmp.Or(end.DurationMS, o.now().Sub(u.startedAt).Milliseconds())
		o.append(protocol.TurnEnded, nil, end)
	}
	o.turn, o.lastAgent = nil, o.agent
}

// connectionLost ends the turn. The rest of the turn then belongs to another client.
func (o *expectedSession) connectionLost() {
	if u := o.turn; u != nil && u.started {
		o.closePart()
		for _, a := range slices.Clone(o.state.Approvals) {
			o.recordOutcome(nil, protocol.ApprovalResolvedData{Request: a.Request, Outcome: protocol.Cancelled})
		}
		tools := slices.Clone(o.state.Turn.Tools)
		slices.SortFunc(tools, func(a, b protocol.OpenTool) int { return strings.Compare(a.Tool, b.Tool) })
		for _, k := range tools {
			o.append(protocol.ToolEnded, nil, protocol.ToolEndedData{Tool: k.Tool, Status: protocol.ToolUnknown})
		}
		o.append(protocol.TurnEnded, nil, protocol.TurnEndedData{
			Reason: protocol.ReasonError, Code: protocol.CodeAgentFailed,
			Message:    "connection lost: the rest of the turn is unknown",
			DurationMS: o.now().Sub(u.startedAt).Milliseconds(),
		})
	}
	o.turn, o.agent, o.thinking, o.transcript = nil, o.lastAgent, false, &protocol.Transcript{}
}
