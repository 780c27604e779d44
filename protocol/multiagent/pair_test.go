package multiagent

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentctl/internal/historygen"
	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A pair is our client and our server, with nothing but the dialect between them.
type pair struct {
	*host
	c *caller
}

func newPair(t tester) *pair {
	p := &pair{newHost(t, codec.ServerOptions{}), newCaller(t, map[string]string{"thinking": "true"})}
	p.subscribes()
	return p
}

// carry brings each what the other said, until both are silent.
func (p *pair) carry() {
	p.t.Helper()
	for len(p.frames)+len(p.c.frames) > 0 {
		up, down := p.c.frames, p.frames
		p.c.frames, p.frames = nil, nil
		for _, f := range up {
			p.says(string(f))
		}
		for _, f := range down {
			p.c.says(string(f))
		}
	}
}

func (p *pair) happens(typ protocol.Type, task string, data any) {
	p.t.Helper()
	e := codec.Entry{Type: typ, Task: task, Data: data}
	p.entry(e)
	p.carry()
}

// patient lets the time pass that decides what no error decides.
func (p *pair) patient() {
	p.t.Helper()
	for t := p.c.codec.heardOf("uuid"); len(t.waits) > 0; {
		p.c.waits()
	}
}

// reconnects loses the connection and makes another.
func (p *pair) reconnects() {
	p.t.Helper()
	p.host.connect(codec.ServerOptions{})
	p.c.connect()
	p.subscribes()
}

func (p *pair) subscribes() {
	p.t.Helper()
	if result[protocol.SubscribeResult](p.c, p.c.asks(protocol.DoSubscribe, "uuid", nil)) == nil {
		p.t.Fatal("subscribe has no answer")
	}
	p.carry()
}

// Whatever happens in a session, our client's State and Transcript are those of the native session, but for what the
// documentation says is lost: at every moment, in turns of its own and of others, over reconnects.
func TestAnyHistoryArrives(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		p := newPair(r)
		want := newTold(r, func() time.Time { return p.c.now })
		p.tap = want.event
		l := &historygen.Generator{T: r, Now: start}
		for range rapid.SampledFrom([]int{3, 10, 30, 90}).Draw(r, "events") {
			l.State = p.log.State
			switch does := rapid.SampledFrom([]string{"send", "decide", "reconnect", "", "", "", "", "", "", "", "", ""}).Draw(r, "does"); {
			case does == "send" && l.State.Turn == nil && len(l.State.Queue) == 0 && l.State.BlockingHold() == nil && !l.State.Closed:
				want.sending, want.thinking = rapid.StringMatching(`[a-zé ]{1,9}`).Draw(r, "message"), true
				p.c.asks(protocol.DoSend, "uuid", protocol.SendData{Text: want.sending})
				p.carry()
				if rapid.Bool().Draw(r, "silence") {
					p.patient()
					want.begin()
				}
			case does == "decide" && len(p.c.state.Approvals) > 0 && len(l.State.Approvals) > 0:
				request := l.State.Approvals[0].Request
				want.deciding = rapid.SampledFrom([]protocol.Decision{protocol.AllowOnce, protocol.Deny, protocol.DenyStop}).Draw(r, "decision")
				want.why = rapid.SampledFrom([]string{"", "not now"}).Draw(r, "why")
				p.c.asks(protocol.DoApprove, "uuid", protocol.ApproveData{Request: request, Decision: want.deciding, Reason: want.why})
				p.carry()
				p.patient()
			case does == "reconnect" && len(p.c.codec.heardOf("uuid").waits) == 0:
				want.lost()
				p.reconnects()
			default:
				p.entry(l.Next())
				p.carry()
			}
			if len(p.c.codec.heardOf("uuid").waits) == 0 {
				equal(r, "state", stateOf(p.c.state), stateOf(want.state))
				equal(r, "transcript", storyOf(p.c.story), storyOf(want.story))
			}
		}
	})
}

// stateOf is a state without what the client makes itself: ids of turns and messages, seqs.
func stateOf(s *protocol.State) *protocol.State {
	s = s.Clone()
	s.Seq, s.History.LastMessageID = 0, ""
	if s.Turn != nil {
		s.Turn.Turn, s.Turn.First, s.Turn.Message.MessageID = "", 0, ""
	}
	if s.Last != nil {
		s.Last.Turn = ""
	}
	for i := range s.Approvals {
		s.Approvals[i].Turn = ""
	}
	return s
}

// storyOf is a transcript without the same.
func storyOf(s *protocol.Transcript) *protocol.Transcript {
	c := new(protocol.Transcript)
	_ = json.Unmarshal(protocol.MustEncode(s), c)
	c.Seq = 0
	for _, turn := range c.Turns {
		turn.Turn, turn.First, turn.Message.MessageID = "", 0, ""
		for _, it := range turn.Items {
			it.Seq = 0
			if it.Approval != nil {
				it.Approval.Turn = ""
			}
		}
	}
	return c
}

func equal(t tester, what string, got, want any) {
	t.Helper()
	g, w := protocol.MustEncode(got), protocol.MustEncode(want)
	if string(g) != string(w) {
		t.Fatalf("%s\n got %s\nwant %s", what, g, w)
	}
}

func TestAQueuedMessageIsToldAsANotice(t *testing.T) {
	p := newPair(t)
	p.turn("theirs")
	p.carry()
	p.c.asks(protocol.DoSend, "uuid", protocol.SendData{Text: "x"})
	p.carry()
	p.c.waits()
	if p.log.State.QueueIndex(p.log.State.Queue[0].MessageID) != 0 {
		t.Error("our server did not queue it")
	}
	told := false
	for _, e := range p.c.events {
		told = told || e.Type == protocol.Notice && strings.Contains(string(e.Data), "queued")
	}
	if !told {
		t.Error("nobody says that it waits")
	}
}

func TestManyBytesArrive(t *testing.T) {
	p := newPair(t)
	p.c.asks(protocol.DoSend, "uuid", protocol.SendData{Text: "x"})
	p.carry()
	piece := strings.Repeat("é", 20<<10)
	for range 120 { // more than a message repeats
		p.happens(protocol.TextDelta, "", protocol.PartDeltaData{Part: "p", Text: piece})
	}
	p.happens(protocol.ToolEnded, "", protocol.ToolEndedData{
		Tool: "k", Status: protocol.ToolCompleted, Output: json.RawMessage(`"` + strings.Repeat("o", 200<<10) + `"`),
	})
	p.happens(protocol.TurnEnded, "", protocol.TurnEndedData{Reason: protocol.ReasonCompleted})
	if got := len(p.c.text()); got != 120*len(piece) || p.c.state.Last.Reason != protocol.ReasonCompleted {
		t.Errorf("%d bytes of %d", got, 120*len(piece))
	}
}
