package sandcastle

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentctl/protocol"
)

// A link is both codecs back to back: a native client, the client codec, the server codec, a native server.
type link struct {
	*host
	server *Server
	client *Client
	lines  [][]byte // for the native client
	last   int
	now    time.Time
}

func newLink(t fataler, options map[string]string) *link {
	ids := 0
	l := &link{host: newHost(t), server: NewServer(protocol.Door{}), now: noon}
	l.client = NewClient(protocol.Call{Name: "ada", Options: options, Memory: &protocol.Memory{}, ID: func(p string) string { ids++; return fmt.Sprint(p, "_", ids) }})
	l.atServer(l.server.Open(noon))
	l.atClient(l.client.Open(noon))
	return l
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

// seen folds what the native client got.
func (l *link) seen() (*protocol.State, *protocol.Transcript) {
	l.t.Helper()
	var s *protocol.State
	tr := &protocol.Transcript{}
	for _, line := range l.lines {
		e, a, _ := protocol.DecodeIncoming(line)
		if a != nil {
			r := result[protocol.SubscribeResult](*a)
			if r.Snapshot != nil {
				s, tr = r.Snapshot.State, &protocol.Transcript{}
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

// mapping is a plain JSON object to take fields out of.
type mapping = map[string]any

// lossy takes out of a transcript what the table of the documentation says is lost or approximated.
func lossy(tr *protocol.Transcript, from int) string {
	var turns []mapping
	for _, t := range tr.Turns[from:] {
		items := []mapping{}
		for _, it := range t.Items {
			m := mapping{"kind": it.Kind, "id": it.ID, "text": it.Text.String(), "agent": it.Agent, "open": it.Open}
			switch it.Kind {
			case protocol.ItemText, protocol.ItemReasoning:
				m["task"], m["parent"] = it.Task, it.Parent
			case protocol.ItemTool:
				m["parent"], m["title"], m["inputText"] = it.Parent, it.Tool.Title, it.Tool.InputText.String()
				m["name"] = it.Tool.Name
				if it.Tool.Name == "" {
					m["name"] = "tool"
					if it.Tool.Kind != "" {
						m["name"] = it.Tool.Kind
					}
				}
				m["input"], m["content"] = string(it.Tool.Input), string(protocol.MustEncode(it.Tool.Content))
				if e := it.Tool.End; e != nil {
					m["status"], m["error"] = e.Status, e.Error
					if e.Status == protocol.ToolCompleted {
						m["output"], m["error"] = string(e.Output), ""
					}
					if e.Status == protocol.ToolFailed && e.Error == "" {
						m["error"] = it.Text.String()
					}
					if e.Status != protocol.ToolFailed {
						m["error"] = ""
					}
				}
			case protocol.ItemApproval:
				m["approval"], m["resolved"], m["by"], m["task"] = it.Approval, it.Resolved, it.By, it.Task
			case protocol.ItemEvent:
				m["type"], m["data"], m["by"], m["task"] = it.Type, string(it.Data), it.By, it.Task
				if it.Type == protocol.UsageUpdated {
					var u protocol.Usage
					_ = json.Unmarshal(it.Data, &u)
					m["data"] = usageLeft(&u)
				}
			}
			items = append(items, m)
		}
		end := mapping{}
		if t.End != nil {
			end["reason"] = reasonOf(stopReason(t.End.Reason), finishReason(t.End.Reason))
			end["usage"] = usageLeft(t.End.Usage)
			if t.End.Usage != nil {
				u := *t.End.Usage
				u.Model = ""
				end["usage"] = usageLeft(&u)
			}
			if t.End.Failed() {
				end["message"] = t.End.Message
			}
		}
		turns = append(turns, mapping{
			"turn": t.Turn, "message": t.Message.MessageID, "text": t.Message.Text, "client": t.Message.ClientMessageID,
			"parts": t.Message.Parts, "items": items, "end": end,
		})
	}
	b, _ := json.MarshalIndent(turns, "", " ")
	return string(b)
}

func usageLeft(u *protocol.Usage) string {
	if u == nil {
		return ""
	}
	return fmt.Sprint(u.Input, u.Output, u.Cached, u.Cost, u.Model)
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

// lossyState is the same of a state.
func lossyState(s *protocol.State) string {
	queue := []protocol.Message{}
	for _, m := range s.Queue {
		m.By = nil
		queue = append(queue, m)
	}
	m := mapping{"queue": queue, "approvals": append([]protocol.Approval{}, s.Approvals...), "rules": append([]protocol.Rule{}, s.Rules...), "plan": s.Plan, "context": s.Context, "options": s.Options, "history": s.History.LastMessageID, "status": s.Status()}
	if s.Turn != nil {
		m["turn"], m["message"] = s.Turn.Turn, s.Turn.Message.MessageID
		m["parts"] = append([]protocol.OpenPart{}, s.Turn.Parts...)
		for _, t := range s.Turn.Tools {
			name := t.Name
			if name == "" {
				name = "tool"
			}
			m["tool "+t.Tool] = name + t.Title + t.Parent
		}
	}
	if s.Last != nil {
		m["last"] = s.Last.Turn
		m["reason"] = reasonOf(stopReason(s.Last.Reason), finishReason(s.Last.Reason))
	}
	b, _ := json.MarshalIndent(m, "", " ")
	return string(b)
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
		switch rapid.IntRange(0, 3).Draw(g.rt, "between") {
		case 0:
			title := g.text()
			g.add(protocol.SessionUpdated, "", protocol.SessionUpdatedData{Title: &title})
		case 1:
			g.queue()
		default:
			g.turns++
			g.turn = fmt.Sprintf("t%d", g.turns)
			g.tools, g.parts = map[string]bool{}, map[string]bool{}
			m := protocol.Message{MessageID: fmt.Sprintf("m%d", g.turns), Text: g.text() + "!", ClientMessageID: g.text()}
			if s := g.state(uint64(len(g.events))); len(s.Queue) > 0 {
				m = s.Queue[0]
				g.add(protocol.QueueRemoved, "", protocol.QueueRemovedData{MessageID: m.MessageID, Reason: protocol.RemovedStarted})
			}
			m.QueuedAt = nil
			g.add(protocol.MessageUser, g.turn, protocol.MessageUserData{Message: m})
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
		g.add(protocol.UsageUpdated, g.turn, protocol.Usage{Input: 5, Output: int64(len(g.events)), Reasoning: 3, Cost: 0.5, Currency: "EUR", Model: g.text()})
		return
	default: // everything else that happens in a turn
		types := make([]protocol.Type, 0, len(carried))
		for typ := range carried {
			if !strings.HasPrefix(string(typ), "approval.") && typ != protocol.AgentOptions {
				types = append(types, typ)
			}
		}
		slices.Sort(types)
		typ := rapid.SampledFrom(types).Draw(g.rt, "type")
		i := slices.IndexFunc(protocol.EventTypes, func(et protocol.EventType) bool { return et.Type == typ })
		e = g.add(typ, g.turn, protocol.EventTypes[i].New())
		e.By = &protocol.Actor{Name: "grace"}
	}
	e.Task = task
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
		d := protocol.ToolStartedData{Tool: id, Name: rapid.SampledFrom([]string{"", "Bash"}).Draw(g.rt, "name"), Title: g.text()}
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
	a := protocol.Approval{Request: fmt.Sprintf("r%d", len(g.events)), Kind: kind, Title: g.text(), Options: []protocol.Option{}}
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
		d.Message = g.text()
	}
	if rapid.Bool().Draw(g.rt, "usage") {
		d.Usage = &protocol.Usage{Input: 9, Output: 8, Cached: 7, Cost: 0.25, Reasoning: 2}
	}
	g.add(protocol.TurnEnded, g.turn, d)
	g.turn = ""
}

// What a native client of ours sees over the dialect is what a native client sees, but for what the table says is lost: from
// wherever it came in, however the events came. SC-14, SC-22, SC-25, SC-30.
func TestAnyHistoryArrives(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := newLink(rt, map[string]string{"tags": rapid.SampledFrom([]string{"", "chat", "document"}).Draw(rt, "tags")})
		g := &teller{host: l.host, rt: rt}
		g.add(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "a"})
		for range rapid.IntRange(0, 40).Draw(rt, "before") {
			g.step()
		}
		finished := 0
		for _, e := range l.events {
			if e.Type == protocol.TurnEnded {
				finished++
			}
		}
		l.does(protocol.DoHello, "", "", protocol.HelloData{Version: protocol.Version, Name: "ada", Acks: true})
		l.lines = nil
		if a := l.does(protocol.DoSubscribe, "s", "", nil); a == nil || a.Error != nil {
			rt.Fatalf("subscribe: %+v", a)
		}
		for range rapid.IntRange(0, 40).Draw(rt, "live") {
			g.step()
			if rapid.Bool().Draw(rt, "now") {
				l.happens()
			}
		}
		l.happens()
		s, tr := l.seen()
		want, wantTr := &protocol.State{}, &protocol.Transcript{}
		for i := range l.events {
			_ = want.Apply(&l.events[i])
			_, _ = wantTr.Apply(&l.events[i])
		}
		past := len(tr.Turns) - (len(wantTr.Turns) - finished) // told as history
		if got, want := lossy(tr, max(0, past)), lossy(wantTr, finished); got != want {
			rt.Fatalf("%s", apart(got, want))
		}
		clearUntold(want, l.events, finished)
		if want.Last == nil {
			s.Last = nil
		}
		if got, want := lossyState(s), lossyState(want); got != want {
			rt.Fatalf("%s", apart(got, want))
		}
	})
}

// clearUntold takes out of a state what was told before the client came in and is not part of their state: of all turns that had
// ended by then.
func clearUntold(s *protocol.State, events []protocol.Event, finished int) {
	later := &protocol.State{}
	ended := 0
	for i := range events {
		e := events[i]
		if ended >= finished {
			later.Seq = e.Seq - 1
			_ = later.Apply(&e)
		}
		if e.Type == protocol.TurnEnded {
			ended++
		}
	}
	s.Plan, s.Context, s.Rules, s.Options = later.Plan, later.Context, later.Rules, later.Options
	if ended == finished {
		s.Last = nil
	}
}
