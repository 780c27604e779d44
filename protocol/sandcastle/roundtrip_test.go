package sandcastle

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentctl/internal/life"
	"agentctl/protocol"
	"agentctl/protocol/bridge"
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
				m["name"] = cmp.Or(it.Tool.Name, it.Tool.Kind, "tool")
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
			"parts": partsLeft(t.Message.Parts), "items": items, "end": end,
		})
	}
	b, _ := json.MarshalIndent(turns, "", " ")
	return string(b)
}

// partsLeft is parts without their type where it is no file's with a URL, and without what else they had: a part that did not come
// over the dialect is a text or a file in it.
func partsLeft(parts []protocol.Part) (left []protocol.Part) {
	for _, p := range parts {
		left = append(left, protocol.Part{Text: p.Text, URL: p.URL, MediaType: p.MediaType, Name: p.Name})
	}
	return left
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
		m.By, m.Parts = nil, partsLeft(m.Parts)
		queue = append(queue, m)
	}
	m := mapping{"queue": queue, "approvals": append([]protocol.Approval{}, s.Approvals...), "rules": append([]protocol.Rule{}, s.Rules...), "plan": s.Plan, "context": s.Context, "options": s.Options, "history": s.History.LastMessageID, "status": s.Status()}
	if s.Closed { // that is not told: it is idle
		m["status"] = protocol.Idle
	}
	if s.Turn != nil {
		m["turn"], m["message"] = s.Turn.Turn, s.Turn.Message.MessageID
		m["parts"] = append([]protocol.OpenPart{}, s.Turn.Parts...)
		for _, t := range s.Turn.Tools {
			name := cmp.Or(t.Name, t.Kind, "tool")
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

// A teller makes up a session.
type teller struct {
	*host
	*life.Life
}

func newTeller(t *rapid.T, h *host) *teller {
	g := &teller{h, &life.Life{T: t, State: &protocol.State{}, Now: noon}}
	g.keep(bridge.Entry{Type: protocol.SessionCreated, Data: protocol.SessionCreatedData{Agent: "a"}})
	return g
}

// step adds an event of any type. One message of a queue that nothing holds starts as soon as it can, as a server has it.
func (g *teller) step() {
	if m := g.State.Next(); m != nil {
		next := *m
		next.QueuedAt = nil
		g.keep(bridge.Entry{Type: protocol.QueueRemoved, Data: protocol.QueueRemovedData{MessageID: next.MessageID, Reason: protocol.RemovedStarted}})
		g.keep(bridge.Entry{Type: protocol.MessageUser, Turn: fmt.Sprint("t", g.State.Seq), Data: protocol.MessageUserData{Message: next}})
	} else {
		g.keep(g.Next())
	}
	if t := g.State.Turn; t != nil && g.State.Seq == t.First { // both are one commit: nobody comes in between
		g.keep(g.Started())
	}
}

func (g *teller) keep(en bridge.Entry) {
	e := g.add(en.Type, en.Turn, en.Data)
	e.Task, e.Parent, e.By = en.Task, en.Parent, en.By
	if err := g.State.Apply(e); err != nil {
		g.T.Fatal(err)
	}
}

// What a native client of ours sees over the dialect is what a native client sees, but for what the table says is lost: from
// wherever it came in, however the events came. SC-14, SC-22, SC-25, SC-30.
func TestAnyHistoryArrives(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := newLink(rt, map[string]string{"tags": rapid.SampledFrom([]string{"", "chat", "document"}).Draw(rt, "tags")})
		g := newTeller(rt, l.host)
		for range rapid.SampledFrom([]int{0, 3, 10, 40}).Draw(rt, "before") {
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
		for range rapid.SampledFrom([]int{0, 3, 10, 40}).Draw(rt, "live") {
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

// clearUntold takes out of a state what is not part of theirs and was told before the client came in, or between turns.
func clearUntold(s *protocol.State, events []protocol.Event, finished int) {
	later := &protocol.State{}
	ended := 0
	for i := range events {
		e := events[i]
		if ended >= finished && e.Turn != "" { // what happens between turns is not told
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
