package sandcastle

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"agentctl/protocol"
)

// A link is both codecs back to back: a native client, the client codec, the server codec, a native server.
type link struct {
	*host
	server *Server
	client *Client
	memory *protocol.Memory
	lines  [][]byte // for the native client
	last   int
	now    time.Time
	closed bool // as the client codec wanted
}

func newLink(t fataler, options map[string]string) *link {
	l := &link{host: newHost(t), now: noon, memory: &protocol.Memory{}}
	l.dial(options)
	return l
}

// dial begins a connection.
func (l *link) dial(options map[string]string) {
	l.server, l.closed, l.following = NewServer(protocol.Door{}), false, false
	ids := 0
	mint := func(p string) string { ids++; return fmt.Sprint(p, "_", ids) }
	l.client = NewClient(protocol.Call{Name: "ada", Options: options, Memory: l.memory, ID: mint})
	l.atServer(l.server.Open(l.now))
	l.atClient(l.client.Open(l.now))
}

func (l *link) atServer(out protocol.Output) {
	for _, f := range out.Foreign {
		l.atClient(l.client.Foreign(l.now, f))
	}
	for _, line := range out.Native {
		for _, back := range l.take(line) {
			l.atServer(l.server.Native(l.now, back))
		}
	}
}

func (l *link) atClient(out protocol.Output) {
	l.t.Helper()
	l.closed = l.closed || out.Close != nil
	for _, line := range out.Native {
		if e, a, err := protocol.DecodeIncoming(line); err != nil || e == nil && a == nil {
			l.t.Fatalf("not a line of ours: %s", line)
		}
		l.lines = append(l.lines, line)
	}
	for _, f := range out.Foreign {
		l.atServer(l.server.Foreign(l.now, f))
	}
}

// does sends a command of the native client; the answers and events are in l.lines.
func (l *link) does(verb protocol.Verb, session, key string, data any) *protocol.Answer {
	l.t.Helper()
	l.last++
	c := protocol.Command{ID: fmt.Sprint(l.last), Command: verb, Session: session, Key: key}
	if data != nil {
		c.Data = protocol.MustEncode(data)
	}
	from := len(l.lines)
	l.atClient(l.client.Native(l.now, protocol.MustEncode(c)))
	for _, line := range l.lines[from:] {
		if _, a, _ := protocol.DecodeIncoming(line); a != nil && a.ID == c.ID {
			return a
		}
	}
	return nil
}

func (l *link) happens() {
	for _, line := range l.news() {
		l.atServer(l.server.Native(l.now, line))
	}
}

// joins subscribes, and returns the turns before as history tells them.
func (l *link) joins() (past []json.RawMessage) {
	l.t.Helper()
	l.lines = nil
	a := l.does(protocol.DoSubscribe, "s", "", nil)
	if a == nil || a.Error != nil {
		l.t.Fatalf("subscribe: %+v", a)
	}
	for before := result[protocol.SubscribeResult](*a).After.Seq + 1; before > 1; {
		page := result[protocol.HistoryResult](*l.does(protocol.DoHistory, "s", "", protocol.HistoryData{Before: before, Limit: 100}))
		past = append(page.Events, past...)
		if before = page.First; !page.More {
			break
		}
	}
	return past
}

// seen folds what the native client got since it joined.
func (l *link) seen(past []json.RawMessage) (*protocol.State, *protocol.Transcript) {
	l.t.Helper()
	tr := &protocol.Transcript{Turns: turnsOf(past)}
	var s *protocol.State
	for _, line := range l.lines {
		e, a, _ := protocol.DecodeIncoming(line)
		if a != nil {
			if r := result[protocol.SubscribeResult](*a); r.Snapshot != nil && r.Mode != "" {
				s = r.Snapshot.State
			}
			continue
		}
		if err := s.Apply(e); err != nil {
			l.t.Fatalf("the client cannot fold %s: %v", line, err)
		}
		if _, err := tr.Apply(e); err != nil {
			l.t.Fatalf("the client cannot tell %s: %v", line, err)
		}
	}
	return s, tr
}

// apart shows where two texts part.
func apart(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	i := 0
	for i < min(len(g), len(w)) && g[i] == w[i] {
		i++
	}
	near := func(l []string) string { return strings.Join(l[max(0, i-12):min(len(l), i+6)], "\n") }
	return "got\n" + near(g) + "\nwant\n" + near(w)
}

// A teller draws the events of a legal session.
type teller struct {
	*host
	rt    *rapid.T
	turn  string
	turns int
	tools map[string]bool
	parts map[string]bool
}

func (g *teller) text() string { return rapid.StringN(0, 5, -1).Draw(g.rt, "text") }
func (g *teller) id() string   { return fmt.Sprint(rapid.IntRange(0, 2).Draw(g.rt, "id")) }

// step adds an event of any type.
func (g *teller) step() {
	if g.turn == "" {
		switch rapid.IntRange(0, 4).Draw(g.rt, "between") {
		case 0:
			title := g.text()
			g.add(protocol.SessionUpdated, "", protocol.SessionUpdatedData{Title: &title})
		case 1:
			g.queue()
		case 2:
			g.other()
		default:
			g.turns++
			g.turn = fmt.Sprintf("t%d", g.turns)
			g.tools, g.parts = map[string]bool{}, map[string]bool{}
			m := protocol.Message{MessageID: fmt.Sprintf("m%d", g.turns), Text: g.text() + "!", ClientMessageID: g.text()}
			if s := g.state(uint64(len(g.events))); len(s.Queue) > 0 {
				m = s.Queue[0]
				g.add(protocol.QueueRemoved, "", protocol.QueueRemovedData{MessageID: m.MessageID, Reason: protocol.RemovedStarted})
			}
			if rapid.Bool().Draw(g.rt, "parts") {
				m.Parts = []protocol.Part{{Type: "file", URL: "file:a", Name: "a", MediaType: "text/plain"}}
			}
			g.add(protocol.MessageUser, g.turn, protocol.MessageUserData{Message: m}).By = &protocol.Actor{Name: "ada"}
			g.add(protocol.TurnStarted, g.turn, protocol.TurnStartedData{MessageID: m.MessageID})
		}
		return
	}
	task := rapid.SampledFrom([]string{"", "", "k1"}).Draw(g.rt, "task")
	var e *protocol.Event
	switch rapid.IntRange(0, 9).Draw(g.rt, "kind") {
	case 0, 1:
		e = g.words()
	case 2, 3:
		g.tool()
		return
	case 4:
		g.approval()
		return
	case 5:
		g.queue()
		return
	case 6:
		g.end()
		return
	case 7:
		g.add(protocol.UsageUpdated, g.turn, protocol.Usage{Input: 5, Output: int64(len(g.events)), Cached: 4, Reasoning: 3, Cost: 0.5, Currency: "EUR", Model: g.text()})
		return
	default: // everything else that happens in a turn
		if e = g.other(); e == nil {
			return
		}
	}
	e.Task = task
}

// other adds an event that has no word of theirs, with whatever data.
func (g *teller) other() *protocol.Event {
	types := make([]protocol.Type, 0, len(carried))
	for typ := range carried {
		if !strings.HasPrefix(string(typ), "approval.") && (g.turn != "" || typ != protocol.AgentOptions) { // of which the mode is told
			types = append(types, typ)
		}
	}
	slices.Sort(types)
	typ := rapid.SampledFrom(types).Draw(g.rt, "type")
	i := slices.IndexFunc(protocol.EventTypes, func(et protocol.EventType) bool { return et.Type == typ })
	data := protocol.EventTypes[i].New()
	g.fill(reflect.ValueOf(data))
	if o, ok := data.(*protocol.Options); ok && rapid.Bool().Draw(g.rt, "mode") {
		o.Settings = append(o.Settings, protocol.Setting{ID: settingMode, Value: rapid.SampledFrom([]string{modePlan, modeBuild, "ask"}).Draw(g.rt, "value")})
	}
	e := g.add(typ, g.turn, data)
	if (&protocol.State{Session: e.Session, Seq: e.Seq - 1}).Apply(e) != nil {
		g.events = g.events[:len(g.events)-1] // not a legal one
		return nil
	}
	e.By = &protocol.Actor{Name: "grace"}
	return e
}

// fill draws a value.
func (g *teller) fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() && rapid.Bool().Draw(g.rt, "there") {
			v.Set(reflect.New(v.Type().Elem()))
		}
		if !v.IsNil() {
			g.fill(v.Elem())
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(noon))
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				g.fill(v.Field(i))
			}
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte(rapid.SampledFrom([]string{`{"a":1}`, `7`, `"x"`}).Draw(g.rt, "json")))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), rapid.IntRange(0, 2).Draw(g.rt, "many"), 2))
		for i := range v.Len() {
			g.fill(v.Index(i))
		}
	case reflect.String:
		v.SetString(g.text())
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(rapid.IntRange(0, 9).Draw(g.rt, "number")))
	case reflect.Uint64:
		v.SetUint(uint64(rapid.IntRange(0, 9).Draw(g.rt, "number")))
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(g.rt, "bool"))
	}
}

func (g *teller) words() *protocol.Event {
	id := g.id()
	reasoning := rapid.Bool().Draw(g.rt, "reasoning")
	types := []protocol.Type{protocol.TextStart, protocol.TextDelta, protocol.TextEnd}
	if reasoning {
		types = []protocol.Type{protocol.ReasoningStart, protocol.ReasoningDelta, protocol.ReasoningEnd}
	}
	key := fmt.Sprint(reasoning, id)
	switch {
	case !g.parts[key]:
		g.parts[key] = true
		return g.add(types[0], g.turn, protocol.PartStartData{Part: key, Agent: g.text()})
	case rapid.IntRange(0, 4).Draw(g.rt, "end") == 0:
		g.parts[key] = false
		return g.add(types[2], g.turn, protocol.PartEndData{Part: key})
	}
	return g.add(types[1], g.turn, protocol.PartDeltaData{Part: key, Text: g.text()})
}

func (g *teller) tool() {
	id := g.turn + g.id()
	if known, was := g.tools[id]; !was {
		g.tools[id] = true
		d := protocol.ToolStartedData{Tool: id, Name: rapid.SampledFrom([]string{"", "Bash"}).Draw(g.rt, "name"), Title: g.text(), Kind: rapid.SampledFrom([]string{"", "execute"}).Draw(g.rt, "kind of tool"), Locations: []protocol.Location{{Path: "a"}}}
		if rapid.Bool().Draw(g.rt, "input") {
			d.Input = json.RawMessage(`{"command":"ls"}`)
		}
		g.add(protocol.ToolStarted, g.turn, d).Parent = rapid.SampledFrom([]string{"", "p"}).Draw(g.rt, "parent")
		return
	} else if !known {
		return
	}
	switch rapid.IntRange(0, 7).Draw(g.rt, "tool") {
	case 0:
		g.add(protocol.ToolInput, g.turn, protocol.ToolInputData{Tool: id, Text: g.text()})
	case 1:
		g.add(protocol.ToolInput, g.turn, protocol.ToolInputData{Tool: id, Input: json.RawMessage(`{"a":1}`)})
	case 2, 3:
		g.add(protocol.ToolOutput, g.turn, protocol.ToolOutputData{Tool: id, Text: g.text() + "."})
	case 4:
		g.add(protocol.ToolOutput, g.turn, protocol.ToolOutputData{Tool: id, Text: g.text(), Replace: true, Content: []protocol.Content{{Type: "diff", Path: "a", New: "b"}}})
	case 5:
		g.add(protocol.ToolStarted, g.turn, protocol.ToolStartedData{Tool: id, Title: g.text()})
	default:
		g.tools[id] = false
		d := protocol.ToolEndedData{Tool: id, Status: rapid.SampledFrom([]protocol.ToolStatus{
			protocol.ToolCompleted, protocol.ToolFailed, protocol.ToolDenied, protocol.ToolCancelled, protocol.ToolUnknown,
		}).Draw(g.rt, "status")}
		if d.Status == protocol.ToolCompleted && rapid.Bool().Draw(g.rt, "structured") {
			d.Output = json.RawMessage(`{"exit":0}`)
		}
		if d.Status == protocol.ToolFailed {
			d.Error = g.text()
		}
		d.DurationMS = 5
		g.add(protocol.ToolEnded, g.turn, d)
	}
}

func (g *teller) approval() {
	s := g.state(uint64(len(g.events)))
	if len(s.Approvals) > 0 && rapid.Bool().Draw(g.rt, "decide") {
		d := protocol.ApprovalResolvedData{Request: s.Approvals[0].Request, Outcome: protocol.Allowed, Decision: protocol.AllowAlways, Rule: &protocol.Rule{ID: fmt.Sprint(len(g.events))}}
		g.add(protocol.ApprovalResolved, g.turn, d).By = &protocol.Actor{Name: "ada"}
		return
	}
	kind := rapid.SampledFrom([]string{protocol.ApproveCommand, protocol.ApproveQuestion, protocol.ApprovePlan}).Draw(g.rt, "approve")
	a := protocol.Approval{Request: fmt.Sprintf("r%d", len(g.events)), Kind: kind, Title: g.text(), Asked: noon, Options: []protocol.Option{
		{ID: "a", Kind: protocol.AllowOnce}, {ID: "b", Kind: protocol.AllowAlways, Scope: "all"}, {ID: "c", Kind: protocol.Deny}, {ID: "d", Kind: protocol.DenyStop},
	}}
	if open := g.turn + g.id(); g.tools[open] {
		a.Tool = open
	}
	g.add(protocol.ApprovalRequested, g.turn, a)
	if rapid.Bool().Draw(g.rt, "explain") {
		g.add(protocol.ApprovalExplained, g.turn, protocol.ApprovalExplainedData{Request: a.Request, Text: g.text()})
	}
}

func (g *teller) queue() {
	s := g.state(uint64(len(g.events)))
	n := len(s.Queue)
	if n == 0 || rapid.Bool().Draw(g.rt, "add") {
		at := noon
		d := protocol.QueueAddedData{Message: protocol.Message{MessageID: fmt.Sprintf("q%d", len(g.events)), Text: g.text() + "?", QueuedAt: &at}}
		if n > 0 && rapid.Bool().Draw(g.rt, "front") {
			i := rapid.IntRange(0, n).Draw(g.rt, "index")
			d.Index = &i
		}
		g.add(protocol.QueueAdded, "", d)
		return
	}
	id := s.Queue[rapid.IntRange(0, n-1).Draw(g.rt, "which")].MessageID
	switch rapid.IntRange(0, 4).Draw(g.rt, "queue") {
	case 0:
		g.add(protocol.QueueUpdated, "", protocol.QueueUpdatedData{MessageID: id, Text: g.text() + "?"})
	case 1:
		g.add(protocol.QueueMoved, "", protocol.QueueMovedData{MessageID: id, Index: rapid.IntRange(-1, n).Draw(g.rt, "to")})
	case 2:
		g.add(protocol.QueueRemoved, "", protocol.QueueRemovedData{MessageID: id, Reason: protocol.RemovedUser})
	case 3:
		g.add(protocol.QueueHeld, "", protocol.Hold{ID: fmt.Sprint(len(g.events)), Reason: protocol.HoldUser})
	case 4:
		g.add(protocol.QueueReleased, "", protocol.QueueReleasedData{Holds: []string{"1"}})
	}
}

func (g *teller) end() {
	for _, a := range g.state(uint64(len(g.events))).Approvals {
		g.add(protocol.ApprovalResolved, g.turn, protocol.ApprovalResolvedData{Request: a.Request, Outcome: protocol.Cancelled})
	}
	d := protocol.TurnEndedData{Reason: rapid.SampledFrom([]protocol.Reason{
		protocol.ReasonCompleted, protocol.ReasonInterrupted, protocol.ReasonError, protocol.ReasonTimeout, protocol.ReasonMaxTokens,
		protocol.ReasonMaxRequests, protocol.ReasonRefusal, protocol.ReasonDenied,
	}).Draw(g.rt, "reason")}
	if d.Failed() {
		d.Message, d.Code = g.text(), protocol.CodeAgentFailed
	}
	d.DurationMS = 7
	if rapid.Bool().Draw(g.rt, "usage") {
		d.Usage = &protocol.Usage{Input: 9, Output: 8, Cached: 7, Cost: 0.25, Reasoning: 2}
	}
	g.add(protocol.TurnEnded, g.turn, d)
	g.turn = ""
}
