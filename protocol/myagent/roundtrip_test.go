package myagent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"agentctl/protocol"
)

// A life makes up the history of a session, as a native server would write it.
type life struct {
	*rapid.T
	state *protocol.State
	turns int
	n     int
	parts map[string]protocol.Kind
	tools map[string]bool
}

func (l *life) id(prefix string) string { l.n++; return fmt.Sprintf("%s%d", prefix, l.n) }

func (l *life) text() string {
	return rapid.SampledFrom([]string{"a", "Hello ", "wörld\n", "规划", "\x1b[31m", "{\"x\":1}", "  two  ", strings.Repeat("long ", 40)}).Draw(l.T, "text")
}

func (l *life) num() int64 { return int64(rapid.IntRange(0, 5000).Draw(l.T, "num")) }

func (l *life) some(options ...string) string { return rapid.SampledFrom(options).Draw(l.T, "some") }

func (l *life) coin() bool { return rapid.Bool().Draw(l.T, "coin") }

func (l *life) by() *protocol.Actor {
	if l.coin() {
		return nil
	}
	return &protocol.Actor{Name: l.some("ada", "grace"), Subject: l.some("", "g@x")}
}

func (l *life) usage() *protocol.Usage {
	if l.coin() {
		return nil
	}
	return &protocol.Usage{Input: l.num(), Output: l.num(), Cached: l.num(), Cost: 0.25, Currency: "USD", Model: "m"}
}

func (l *life) tasks() []protocol.Task {
	return []protocol.Task{
		{ID: "1", Title: "one", Status: protocol.StatusPending}, {ID: "b", Title: "two", Description: l.text(), After: []string{"1"}, Status: protocol.StatusPending},
	}
}

func (l *life) message() protocol.Message {
	return protocol.Message{MessageID: l.id("m"), ClientMessageID: l.some("", "ui-1"), Text: l.text(), By: l.by()}
}

// session is an event outside of turns.
func (l *life) session() protocol.Event {
	switch l.some("added", "updated", "moved", "held", "released", "removed", "named", "context", "usage", "options", "notice", "exported", "compacted", "raw") {
	case "added":
		return l.done(protocol.QueueAdded, protocol.QueueAddedData{Message: l.message()})
	case "updated":
		if len(l.state.Queue) > 0 {
			return l.done(protocol.QueueUpdated, protocol.QueueUpdatedData{MessageID: l.state.Queue[0].MessageID, Text: l.text()})
		}
	case "moved":
		if len(l.state.Queue) > 1 {
			return l.done(protocol.QueueMoved, protocol.QueueMovedData{MessageID: l.state.Queue[1].MessageID})
		}
	case "held":
		return l.done(protocol.QueueHeld, protocol.Hold{ID: l.id("h"), Reason: protocol.HoldUser, By: l.by()})
	case "released":
		if len(l.state.Holds) > 0 {
			return l.done(protocol.QueueReleased, protocol.QueueReleasedData{Holds: []string{l.state.Holds[0].ID}})
		}
	case "removed":
		if len(l.state.Queue) > 0 {
			return l.done(protocol.QueueRemoved, protocol.QueueRemovedData{MessageID: l.state.Queue[0].MessageID, Reason: protocol.RemovedUser})
		}
	case "named":
		name := l.text()
		return l.done(protocol.SessionUpdated, protocol.SessionUpdatedData{Title: &name})
	case "context":
		return l.done(protocol.ContextUpdated, protocol.ContextInfo{Tokens: l.num(), MaxTokens: 9000, Percent: 12.5, Strategy: "compact"})
	case "compacted":
		return l.done(protocol.ContextCompacted, protocol.ContextCompactedData{Before: l.num(), After: 1})
	case "usage":
		return l.done(protocol.UsageUpdated, protocol.Usage{Input: l.num(), Model: "m"})
	case "options":
		return l.done(protocol.AgentOptions, protocol.Options{Name: "x", Settings: []protocol.Setting{{ID: "mode", Value: l.text()}}})
	case "exported":
		return l.done(protocol.StateExported, protocol.StateExportedData{Expires: start, Bytes: 5})
	case "raw":
		return l.done(protocol.Raw, protocol.RawData{Source: "acp", Method: "x", Data: json.RawMessage(`{"a":1}`)})
	}
	return l.done(protocol.Notice, protocol.NoticeData{Level: l.some("info", "warning"), Message: l.text()})
}

func (l *life) done(t protocol.Type, data any) protocol.Event {
	e := protocol.Event{Type: t, By: l.by(), Data: protocol.MustEncode(data)}
	switch t {
	case protocol.MessageUser, protocol.QueueAdded:
	default:
		if l.state.Turn != nil && !strings.HasPrefix(string(t), "queue.") && !strings.HasPrefix(string(t), "session.") {
			e.Turn = l.state.Turn.Turn
		}
	}
	return e
}

func (l *life) of(task string, t protocol.Type, data any) protocol.Event {
	e := l.done(t, data)
	e.Task, e.By = task, nil
	return e
}

// next is the next event of the history.
func (l *life) next() protocol.Event {
	if l.state.Turn == nil {
		if l.coin() {
			return l.session()
		}
		l.turns++
		clear(l.parts)
		clear(l.tools)
		e := l.done(protocol.MessageUser, l.message())
		e.Turn = fmt.Sprintf("t%d", l.turns)
		return e
	}
	task := l.some("", "", "1", "b")
	switch l.some("text", "text", "delta", "delta", "end", "tool", "output", "output", "input", "toolend", "ask", "decide", "plan", "task", "sum", "fault", "session", "fold", "ended") {
	case "text":
		id, start := l.id("p"), protocol.TextStart
		l.parts[id] = protocol.KindText
		if l.coin() {
			start, l.parts[id] = protocol.ReasoningStart, protocol.KindReasoning
		}
		return l.of(task, start, protocol.PartStartData{Part: id, Agent: l.some("", "reviewer")})
	case "delta", "end":
		return l.part()
	case "fold":
		if len(l.state.Turn.Parts) > 1 {
			var d protocol.FoldData
			for _, p := range l.state.Turn.Parts {
				d.Parts = append(d.Parts, protocol.FoldPart{Part: p.Part, Kind: p.Kind, Task: p.Task, Text: l.text()})
			}
			return l.of("", protocol.Folded, d)
		}
	case "tool", "output", "input", "toolend":
		return l.tool(task)
	case "ask":
		d := protocol.Approval{
			Request: l.id("r"), Kind: l.some("command", "tool", "plan", "question", "patch"), Title: "T " + l.text(), Name: l.some("", "shell"), Command: l.some("", "ls"),
			Why: l.some("", "because"), CWD: l.some("", "/x"), Asked: start, Options: []protocol.Option{{ID: "allow_once", Kind: protocol.AllowOnce, Label: "Yes"}, {ID: "deny", Kind: protocol.Deny}},
		}
		switch d.Kind {
		case "plan":
			d.Tasks = l.tasks()
		case "patch":
			d.Patch, d.Paths, d.Content = "*** Begin Patch", []string{"a.go"}, []protocol.Content{{Type: "diff", Path: "a.go", New: "x"}}
		case "question":
			d.Questions = []protocol.Question{{ID: "q", Text: "which?", Choices: []protocol.Choice{{ID: "a", Label: "A"}}}}
		default:
			d.Input = json.RawMessage(`{"a":[1,"x"]}`)
		}
		return l.of(task, protocol.ApprovalRequested, d)
	case "decide":
		if len(l.state.Approvals) > 0 {
			a := l.state.Approvals[0]
			if l.coin() {
				return l.done(protocol.ApprovalExplained, protocol.ApprovalExplainedData{Request: a.Request, Text: l.text()})
			}
			d := protocol.ApprovalResolvedData{Request: a.Request, Outcome: protocol.Allowed, Decision: protocol.AllowAlways, Reason: l.text(), Rule: &protocol.Rule{ID: l.id("rule"), Kind: "command", At: start}}
			return l.done(protocol.ApprovalResolved, d)
		}
	case "plan":
		return l.plan()
	case "task":
		return l.task()
	case "sum":
		d := protocol.AggregateData{Tasks: 2, DurationMS: l.num(), Usage: l.usage()}
		t := protocol.Type(l.some(string(protocol.AggregateStarted), string(protocol.AggregateCompleted), string(protocol.PipelineCompleted)))
		if t == protocol.AggregateCompleted {
			d.Text = l.text()
		}
		return l.of("", t, d)
	case "fault":
		return l.fault(task)
	case "ended":
		reason := l.some("completed", "completed", "interrupted", "error", "timeout", "max_tokens", "refusal", "denied")
		d := protocol.TurnEndedData{Reason: protocol.Reason(reason), Message: l.some("", "m"), DurationMS: l.num(), Usage: l.usage()}
		if reason == "error" {
			d.Code = protocol.CodeAgentFailed
		}
		return l.of("", protocol.TurnEnded, d)
	}
	return l.session()
}

func (l *life) part() protocol.Event {
	if len(l.state.Turn.Parts) == 0 {
		return l.session()
	}
	p := l.state.Turn.Parts[rapid.IntRange(0, len(l.state.Turn.Parts)-1).Draw(l.T, "part")]
	delta, end := protocol.TextDelta, protocol.TextEnd
	if p.Kind == protocol.KindReasoning {
		delta, end = protocol.ReasoningDelta, protocol.ReasoningEnd
	}
	if l.some("d", "d", "d", "e") == "e" {
		return l.of(p.Task, end, protocol.PartEndData{Part: p.Part, DurationMS: l.num()})
	}
	return l.of(p.Task, delta, protocol.PartDeltaData{Part: p.Part, Text: l.text()})
}

func (l *life) tool(task string) protocol.Event {
	if len(l.state.Turn.Tools) == 0 || l.some("new", "", "") == "new" {
		d := protocol.ToolStartedData{Tool: l.id("c"), Name: l.some("", "shell"), Kind: l.some("", "execute"), Title: l.some("", "ls -l")}
		if l.coin() {
			d.Input = json.RawMessage(`{"command":"ls"}`)
		}
		return l.of(task, protocol.ToolStarted, d)
	}
	t := l.state.Turn.Tools[len(l.state.Turn.Tools)-1]
	switch l.some("text", "content", "replace", "whole", "again", "end", "end") {
	case "text":
		return l.of(t.Task, protocol.ToolOutput, protocol.ToolOutputData{Tool: t.Tool, Text: l.text()})
	case "content":
		return l.of(t.Task, protocol.ToolOutput, protocol.ToolOutputData{Tool: t.Tool, Content: []protocol.Content{{Type: "diff", Path: "a", New: l.text()}}})
	case "replace":
		return l.of(t.Task, protocol.ToolOutput, protocol.ToolOutputData{Tool: t.Tool, Text: l.text(), Replace: true})
	case "whole":
		return l.of(t.Task, protocol.ToolInput, protocol.ToolInputData{Tool: t.Tool, Input: json.RawMessage(`{"command":"ls -a"}`)})
	case "again":
		return l.of(t.Task, protocol.ToolStarted, protocol.ToolStartedData{Tool: t.Tool, Title: "again", Locations: []protocol.Location{{Path: "/x", Line: 3}}})
	}
	d := protocol.ToolEndedData{Tool: t.Tool, Status: protocol.ToolStatus(l.some("completed", "failed", "cancelled", "denied", "unknown")), DurationMS: l.num(), Error: l.some("", "exit status 1")}
	if l.coin() {
		code := int(l.num())
		d.ExitCode, d.Output = &code, json.RawMessage(`{"ok":true}`)
	}
	return l.of(t.Task, protocol.ToolEnded, d)
}

func (l *life) plan() protocol.Event {
	switch l.some("start", "update", "complete", "invalid", "cancel", "fail") {
	case "start":
		return l.of("", protocol.PlanStarted, protocol.PlanStartedData{Question: l.text()})
	case "update":
		return l.of("", protocol.PlanUpdated, protocol.PlanTasksData{Tasks: l.tasks(), Summary: "s"})
	case "complete":
		return l.of("", protocol.PlanCompleted, protocol.PlanTasksData{Tasks: l.tasks(), Summary: "two tasks"})
	case "invalid":
		return l.of("", protocol.PlanInvalid, protocol.PlanFaultData{Message: l.text(), Details: []string{"2: after: 7"}})
	case "cancel":
		return l.of("", protocol.PlanCancelled, protocol.PlanFaultData{Message: l.text()})
	}
	return l.of("", protocol.PlanFailed, protocol.PlanFaultData{Message: l.text(), Code: protocol.CodeTimeout})
}

func (l *life) task() protocol.Event {
	d := protocol.TaskData{Task: l.some("1", "b"), Attempt: int(l.num()), DurationMS: l.num(), Calls: int(l.num()), Usage: l.usage()}
	t := protocol.Type(l.some("task.started", "task.progress", "task.completed", "task.failed", "task.cancelled", "task.restarted"))
	switch t {
	case protocol.TaskCompleted:
		d.Result = l.text()
	case protocol.TaskStarted:
		d.Title = l.some("", "one")
	case protocol.TaskFailed:
		d.Message, d.Code = l.text(), protocol.CodeAgentFailed
	default:
		d.Message = l.text()
	}
	return l.of(d.Task, t, d)
}

func (l *life) fault(task string) protocol.Event {
	switch l.some("error", "retry", "started", "succeeded", "failed") {
	case "error":
		return l.of(task, protocol.ErrorRaised, protocol.ErrorData{
			Kind: l.some("validation", "timeout", "execution"), Code: protocol.CodeTimeout, Message: l.text(), Recoverable: l.coin(), Stage: "solve",
			LimitMS: l.num(), ElapsedMS: l.num(), Action: "retry", Fields: map[string]string{"a": "b"}, Details: map[string]string{"provider_status": "504"},
		})
	case "retry":
		return l.of(task, protocol.RetryScheduled, protocol.RetryData{Attempt: 1, Limit: 5, DelayMS: l.num(), Cause: l.text(), Code: protocol.CodeTimeout})
	case "started":
		return l.of(task, protocol.RecoveryStarted, protocol.RecoveryData{Action: "restart", Attempt: 1, Limit: 3, DelayMS: l.num(), Cause: l.text(), EstimateMS: l.num()})
	case "succeeded":
		return l.of(task, protocol.RecoverySucceeded, protocol.RecoveryData{Action: "restart", DurationMS: l.num()})
	}
	return l.of(task, protocol.RecoveryFailed, protocol.RecoveryData{Action: "restart", Failure: l.text(), Code: protocol.CodeAgentFailed})
}

// step makes the next events happen and keeps the state that a native client would have.
func (l *life) step(p *pair) {
	e := l.next()
	l.happens(p, e)
	if e.Type == protocol.MessageUser {
		var d protocol.Message
		_ = e.Decode(&d)
		l.happens(p, protocol.Event{Type: protocol.TurnStarted, Turn: e.Turn, Data: protocol.MustEncode(protocol.TurnStartedData{MessageID: d.MessageID, Agent: "x"})})
	}
}

func (l *life) happens(p *pair, e protocol.Event) {
	p.happens("s1", e)
	log := p.peer.logs["s1"]
	if err := l.state.Apply(&log[len(log)-1]); err != nil {
		l.Fatal(err)
	}
	l.state.Session = "s1"
}

// MY-1 to MY-3, MY-8, MY-19 to MY-32: whatever happens in a session reaches our client over this dialect, with any number of reconnects in
// between, but for what the table in docs/dialects/myagent.md says is lost.
func TestAHistorySurvivesTheRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := newPair(t)
		p.get(protocol.DoHello, "", protocol.HelloData{Name: "ada"}, nil)
		p.get(protocol.DoCreate, "", protocol.CreateData{Title: "x"}, nil)
		p.get(protocol.DoSubscribe, "s1", protocol.SubscribeData{}, nil)
		l := &life{T: rt, state: &protocol.State{}, parts: map[string]protocol.Kind{}, tools: map[string]bool{}}
		if err := l.state.Apply(&p.peer.logs["s1"][0]); err != nil {
			rt.Fatal(err)
		}
		p.state.Session = "s1"
		for range rapid.IntRange(1, 80).Draw(rt, "events") {
			l.step(p)
			if rapid.IntRange(0, 15).Draw(rt, "drop") == 0 {
				p.bench.peer.follows["s1"] = false
				l.missed(p)
				p.connect()
				p.get(protocol.DoHello, "", protocol.HelloData{Name: "ada"}, nil)
				p.get(protocol.DoSubscribe, "s1", protocol.SubscribeData{Position: &p.at}, nil)
				if mode := p.modes[len(p.modes)-1]; mode != protocol.ModeResume {
					rt.Fatalf("attached again by %s", mode)
				}
			}
		}
		same(rt, "state", normalState(l.state), normalState(p.state))
		var story protocol.Transcript
		for i := range p.peer.logs["s1"] {
			if _, err := story.Apply(&p.peer.logs["s1"][i]); err != nil {
				rt.Fatal(err)
			}
		}
		same(rt, "transcript", normalStory(&story), normalStory(p.story))

		late := &pair{user: newUser(t), peer: p.peer, trail: p.trail}
		late.peer.follows["s1"] = false
		late.connect()
		late.get(protocol.DoSubscribe, "s1", protocol.SubscribeData{}, nil)
		same(rt, "state of one who came late", normalState(l.state), normalState(late.state))
		whole := &pair{user: newUser(t), peer: p.peer, trail: p.trail}
		whole.peer.follows["s1"] = false
		whole.connect()
		whole.state, whole.story = &protocol.State{Session: "s1"}, &protocol.Transcript{}
		whole.get(protocol.DoSubscribe, "s1", protocol.SubscribeData{Position: &protocol.Position{}}, nil)
		same(rt, "transcript from the beginning", normalStory(&story), normalStory(whole.story))
	})
}

// missed lets a few events happen while the client is away.
func (l *life) missed(p *pair) {
	for range rapid.IntRange(0, 10).Draw(l.T, "missed") {
		e := l.next()
		p.peer.add("s1", e)
		log := p.peer.logs["s1"]
		if err := l.state.Apply(&log[len(log)-1]); err != nil {
			l.Fatal(err)
		}
	}
}

func same(t *rapid.T, what string, want, got any) {
	w, g := protocol.MustEncode(want), protocol.MustEncode(got)
	if !bytes.Equal(w, g) {
		i := 0
		for i < len(w) && i < len(g) && w[i] == g[i] {
			i++
		}
		t.Fatalf("%s differs at …%s\nwant %s\n got %s", what, w[max(0, i-200):i], w[i:min(len(w), i+300)], g[i:min(len(g), i+300)])
	}
}

// normalState removes what this dialect loses: seqs are the connection's own.
func normalState(s *protocol.State) *protocol.State {
	c := clone(s)
	c.Seq = 0
	if c.Turn != nil {
		c.Turn.First = 0
	}
	return c
}

// normalStory removes what this dialect loses: streaming output of a tool that is under way, and where a summary was filled in.
func normalStory(s *protocol.Transcript) []any {
	var all []any
	for _, turn := range s.Turns {
		var items []any
		for _, it := range turn.Items {
			c := *it
			c.Seq = 0
			if c.Kind == protocol.ItemTool {
				tool := *c.Tool
				if c.Open {
					c.Text, tool.Content = nil, nil
				}
				if turn.End != nil && tool.End != nil && tool.End.Status == protocol.ToolUnknown && tool.End.DurationMS == 0 && tool.End.Output == nil {
					tool.End = nil
				}
				c.Tool = &tool
			}
			if c.Kind == protocol.ItemEvent {
				c.Data = object(c.Data).sorted()
			}
			items = append(items, c)
		}
		all = append(all, map[string]any{"turn": turn.Turn, "message": turn.Message, "started": turn.Started, "end": turn.End, "ended": turn.Ended, "items": items})
	}
	return all
}

// sorted writes an object with its keys in order, without what is empty.
func (o fields) sorted() json.RawMessage {
	keys := []string{}
	for k := range o {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	m := map[string]json.RawMessage{}
	for _, k := range keys {
		m[k] = o[k]
	}
	return protocol.MustEncode(m)
}
