package myagent

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"agentctl/internal/dev/codectest"
	"agentctl/internal/dev/historygen"
	"agentctl/internal/dev/myagenttest"
	"agentctl/internal/dev/thorough"
	"agentctl/protocol"
	"agentctl/protocol/myagent/wire"
)

func init() { thorough.Checks(30, 100) }

// A generatedSession is the random history of a session on a native server.
type generatedSession struct {
	*historygen.Generator
}

// next returns the next event.
func (l *generatedSession) next() protocol.Event {
	en := l.Next()
	return protocol.Event{
		Type: en.Type, Turn: en.Turn, Task: en.Task, Parent: en.Parent, By: en.By, Data: protocol.MustEncode(en.Data),
	}
}

// step emits the next event and updates the expected state.
func (l *generatedSession) step(p *codecPair) {
	p.emit("s1", l.next())
	l.apply(p.native)
}

func (l *generatedSession) apply(p *myagenttest.NativeServer) {
	log := p.Logs["s1"].Events
	if err := l.State.Apply(&log[len(log)-1]); err != nil {
		l.Fatal(err)
	}
	l.State.Session = "s1"
}

// MY-1 to MY-3, MY-8, MY-19 to MY-32: any history of a session reaches the client over this
// dialect, with any number of reconnects, except for the losses listed in docs/dialects/myagent.md.
func TestAHistorySurvivesTheRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := newCodecPair(t)
		p.Call(protocol.DoHello, "", protocol.HelloData{Name: "ada"}, nil)
		p.Call(protocol.DoCreate, "", protocol.CreateData{Title: "x"}, nil)
		p.Call(protocol.DoSubscribe, "s1", protocol.SubscribeData{}, nil)
		l := &generatedSession{&historygen.Generator{T: rt, State: &protocol.State{}, Now: codectest.Start}}
		l.apply(p.native)
		p.State.Session = "s1"
		for range rapid.SampledFrom([]int{3, 10, 30, 90}).Draw(rt, "events") {
			l.step(p)
			if rapid.IntRange(0, 15).Draw(rt, "drop") == 0 {
				p.server.Native.Logs["s1"].Following = false
				l.emitWhileAway(p)
				p.connect()
				p.Call(protocol.DoHello, "", protocol.HelloData{Name: "ada"}, nil)
				p.Call(protocol.DoSubscribe, "s1", protocol.SubscribeData{Position: &p.At}, nil)
				if mode := p.Modes[len(p.Modes)-1]; mode != protocol.ModeResume {
					rt.Fatalf("subscribed again with mode %s", mode)
				}
			}
		}
		requireEqual(rt, "state", normalState(l.State), normalState(p.State))
		var want protocol.Transcript
		for i := range p.native.Logs["s1"].Events {
			if _, err := want.Apply(&p.native.Logs["s1"].Events[i]); err != nil {
				rt.Fatal(err)
			}
		}
		requireEqual(rt, "transcript", normalTranscript(&want), normalTranscript(p.Transcript))

		late := &codecPair{Client: myagenttest.NewClient(t, Dialect.Client), native: p.native, store: p.store}
		late.native.Logs["s1"].Following = false
		late.connect()
		late.Call(protocol.DoSubscribe, "s1", protocol.SubscribeData{}, nil)
		requireEqual(rt, "state of a late client", normalState(l.State), normalState(late.State))
		whole := &codecPair{Client: myagenttest.NewClient(t, Dialect.Client), native: p.native, store: p.store}
		whole.native.Logs["s1"].Following = false
		whole.connect()
		whole.State, whole.Transcript = &protocol.State{Session: "s1"}, &protocol.Transcript{}
		whole.Call(protocol.DoSubscribe, "s1", protocol.SubscribeData{Position: &protocol.Position{}}, nil)
		requireEqual(rt, "transcript from the beginning", normalTranscript(&want), normalTranscript(whole.Transcript))
	})
}

// emitWhileAway emits a few events while the client is disconnected.
func (l *generatedSession) emitWhileAway(p *codecPair) {
	for range rapid.IntRange(0, 10).Draw(l.T, "missed") {
		p.native.Append("s1", l.next())
		l.apply(p.native)
	}
}

func requireEqual(t *rapid.T, what string, want, got any) {
	w, g := protocol.MustEncode(want), protocol.MustEncode(got)
	if !bytes.Equal(w, g) {
		i := 0
		for i < len(w) && i < len(g) && w[i] == g[i] {
			i++
		}
		t.Fatalf("%s differs at …%s\nwant %s\n got %s", what, w[max(0, i-200):i], w[i:min(len(w), i+300)],
			g[i:min(len(g), i+300)])
	}
}

// normalState removes the losses of this dialect: seqs are local to the connection.
func normalState(s *protocol.State) *protocol.State {
	c := s.Clone()
	c.Seq = 0
	if c.Turn != nil {
		c.Turn.First = 0
	}
	return c
}

// normalTranscript removes the losses of this dialect: streaming input and output of an open tool,
// and the source of a summary.
func normalTranscript(s *protocol.Transcript) []any {
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
				if turn.End != nil && tool.End != nil && tool.End.Status == protocol.ToolUnknown &&
					tool.End.DurationMS == 0 && tool.End.Output == nil {
					tool.End = nil
				}
				// arguments that were complete once, or that the turn's end cut off
				if tool.Input != nil || tool.End == nil {
					tool.InputText = nil
				}
				c.Tool = &tool
			}
			if c.Kind == protocol.ItemEvent {
				c.Data = sorted(wire.ParseObject(c.Data))
			}
			items = append(items, c)
		}
		all = append(all, map[string]any{
			"turn": turn.Turn, "message": turn.Message, "started": turn.Started, "end": turn.End, "ended": turn.Ended,
			"items": items,
		})
	}
	return all
}

// sorted returns the object with sorted keys and without empty fields.
func sorted(o wire.Fields) json.RawMessage {
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
