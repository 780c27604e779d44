package myagent

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"agentctl/internal/historygen"
	"agentctl/protocol"
)

// A story is the history of a session, as a native server would write it.
type story struct {
	*historygen.Generator
}

// next is the next event.
func (l *story) next() protocol.Event {
	en := l.Next()
	return protocol.Event{Type: en.Type, Turn: en.Turn, Task: en.Task, Parent: en.Parent, By: en.By, Data: protocol.MustEncode(en.Data)}
}

// step makes the next event happen and keeps the state that a native client would have.
func (l *story) step(p *pair) {
	p.happens("s1", l.next())
	l.keep(p.peer)
}

func (l *story) keep(p *peer) {
	log := p.logs["s1"]
	if err := l.State.Apply(&log[len(log)-1]); err != nil {
		l.Fatal(err)
	}
	l.State.Session = "s1"
}

// MY-1 to MY-3, MY-8, MY-19 to MY-32: whatever happens in a session reaches our client over this dialect, with any number of reconnects in
// between, but for what the table in docs/dialects/myagent.md says is lost.
func TestAHistorySurvivesTheRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := newPair(t)
		p.get(protocol.DoHello, "", protocol.HelloData{Name: "ada"}, nil)
		p.get(protocol.DoCreate, "", protocol.CreateData{Title: "x"}, nil)
		p.get(protocol.DoSubscribe, "s1", protocol.SubscribeData{}, nil)
		l := &story{&historygen.Generator{T: rt, State: &protocol.State{}, Now: start}}
		l.keep(p.peer)
		p.state.Session = "s1"
		for range rapid.SampledFrom([]int{3, 10, 30, 90}).Draw(rt, "events") {
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
		same(rt, "state", normalState(l.State), normalState(p.state))
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
		same(rt, "state of one who came late", normalState(l.State), normalState(late.state))
		whole := &pair{user: newUser(t), peer: p.peer, trail: p.trail}
		whole.peer.follows["s1"] = false
		whole.connect()
		whole.state, whole.story = &protocol.State{Session: "s1"}, &protocol.Transcript{}
		whole.get(protocol.DoSubscribe, "s1", protocol.SubscribeData{Position: &protocol.Position{}}, nil)
		same(rt, "transcript from the beginning", normalStory(&story), normalStory(whole.story))
	})
}

// missed lets a few events happen while the client is away.
func (l *story) missed(p *pair) {
	for range rapid.IntRange(0, 10).Draw(l.T, "missed") {
		p.peer.add("s1", l.next())
		l.keep(p.peer)
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

// normalStory removes what this dialect loses: streaming input and output of a tool that is under way, and where a summary was filled in.
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
					c.Text, tool.Content, tool.InputText = nil, nil, nil
				}
				if turn.End != nil && tool.End != nil && tool.End.Status == protocol.ToolUnknown && tool.End.DurationMS == 0 && tool.End.Output == nil {
					tool.End = nil
				}
				if tool.Input != nil || tool.End == nil { // arguments that were whole once, or that the turn's end cut
					tool.InputText = nil
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
