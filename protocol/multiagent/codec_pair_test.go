package multiagent

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentctl/internal/dev/codectest"
	"agentctl/internal/dev/historygen"
	"agentctl/internal/dev/multiagenttest"
	"agentctl/internal/dev/thorough"
	"agentctl/protocol"
	"agentctl/protocol/codec"
)

func init() { thorough.Checks(30, 100) }

// A codecPair connects a client and a server over the dialect.
type codecPair struct {
	*multiagenttest.Server
	client *multiagenttest.Client
}

func newCodecPair(t codectest.T) *codecPair {
	client := multiagenttest.NewClient(t, Dialect.Client, true, map[string]string{"thinking": "true"})
	client.Silent = true
	p := &codecPair{multiagenttest.NewServer(t, Dialect.Server, codec.ServerOptions{}), client}
	p.subscribe()
	return p
}

// exchange delivers frames in both directions until none is left.
func (p *codecPair) exchange() {
	p.T.Helper()
	for len(p.Frames)+len(p.client.Frames) > 0 {
		up, down := p.client.Frames, p.Frames
		p.client.Frames, p.Frames = nil, nil
		for _, f := range up {
			p.Receive(string(f))
		}
		for _, f := range down {
			p.client.Receive(string(f))
		}
	}
}

func (p *codecPair) emit(typ protocol.Type, task string, data any) {
	p.T.Helper()
	e := codec.Entry{Type: typ, Task: task, Data: data}
	p.EmitEntry(e)
	p.exchange()
}

// awaitRequests advances the time until no request is pending.
func (p *codecPair) awaitRequests() {
	p.T.Helper()
	for p.client.Pending() > 0 {
		p.client.Advance()
	}
}

// reconnect replaces the connection.
func (p *codecPair) reconnect() {
	p.T.Helper()
	p.Server.Connect(codec.ServerOptions{})
	p.client.Connect()
	p.subscribe()
}

func (p *codecPair) subscribe() {
	p.T.Helper()
	if codectest.Result[protocol.SubscribeResult](&p.client.Client, p.client.Command(protocol.DoSubscribe, "uuid", nil)) == nil {
		p.T.Fatal("subscribe has no answer")
	}
	p.exchange()
}

// At any moment of any history the client's State and Transcript equal the native session's, except
// for documented losses: in its own turns and others', across reconnects.
func TestAnyHistoryArrives(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		p := newCodecPair(r)
		want := newExpectedSession(r, func() time.Time { return p.client.Now })
		p.OnEvent = want.handleEvent
		l := &historygen.Generator{T: r, Now: codectest.Start}
		for range rapid.SampledFrom([]int{3, 10, 30, 90}).Draw(r, "events") {
			l.State = p.Log.State
			switch does := rapid.SampledFrom([]string{
				"send", "decide", "reconnect", "", "", "", "", "", "", "", "", "",
			}).Draw(r, "does"); {
			case does == "send" && l.State.Turn == nil && len(l.State.Queue) == 0 && l.State.BlockingHold() == nil &&
				!l.State.Closed:
				want.sending, want.thinking = rapid.StringMatching(`[a-zé ]{1,9}`).Draw(r, "message"), true
				p.client.Command(protocol.DoSend, "uuid", protocol.SendData{Text: want.sending})
				p.exchange()
				want.startTurn()
			case does == "decide" && len(p.client.State.Approvals) > 0 && len(l.State.Approvals) > 0:
				request := l.State.Approvals[0].Request
				want.deciding = rapid.SampledFrom([]protocol.Decision{
					protocol.AllowOnce, protocol.Deny, protocol.DenyStop,
				}).Draw(r, "decision")
				want.reason = rapid.SampledFrom([]string{"", "not now"}).Draw(r, "why")
				p.client.Command(protocol.DoApprove, "uuid", protocol.ApproveData{
					Request: request, Decision: want.deciding, Reason: want.reason,
				})
				p.exchange()
				p.awaitRequests()
			case does == "reconnect" && p.client.Pending() == 0:
				want.connectionLost()
				p.reconnect()
			default:
				p.EmitEntry(l.Next())
				p.exchange()
			}
			if p.client.Pending() == 0 {
				requireEqual(r, "state", comparableState(p.client.State), comparableState(want.state))
				requireEqual(r, "transcript", comparableTranscript(p.client.Transcript),
					comparableTranscript(want.transcript))
			}
		}
	})
}

// comparableState removes values that the client makes: ids of turns and messages, seqs.
func comparableState(s *protocol.State) *protocol.State {
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

// comparableTranscript does the same for a transcript.
func comparableTranscript(s *protocol.Transcript) *protocol.Transcript {
	c := new(protocol.Transcript)
	_ = json.Unmarshal(protocol.MustEncode(s), c)
	c.Seq = 0
	for _, turn := range c.Turns {
		turn.Turn, turn.First, turn.Last, turn.Message.MessageID = "", 0, 0, ""
		for _, it := range turn.Items {
			it.Seq = 0
			if it.Approval != nil {
				it.Approval.Turn = ""
			}
		}
	}
	return c
}

func requireEqual(t codectest.T, what string, got, want any) {
	t.Helper()
	g, w := protocol.MustEncode(got), protocol.MustEncode(want)
	if string(g) != string(w) {
		t.Fatalf("%s\n got %s\nwant %s", what, g, w)
	}
}

func TestAQueuedMessageIsANotice(t *testing.T) {
	p := newCodecPair(t)
	p.StartTurn("theirs")
	p.exchange()
	p.client.Command(protocol.DoSend, "uuid", protocol.SendData{Text: "x"})
	p.exchange()
	if p.Log.State.QueueIndex(p.Log.State.Queue[0].MessageID) != 0 {
		t.Error("the message is not queued")
	}
	noticed := false
	for _, e := range p.client.Events {
		noticed = noticed || e.Type == protocol.Notice && strings.Contains(string(e.Data), "queued")
	}
	if !noticed {
		t.Error("no notice reports the queued message")
	}
}

func TestManyBytesArrive(t *testing.T) {
	p := newCodecPair(t)
	p.client.Command(protocol.DoSend, "uuid", protocol.SendData{Text: "x"})
	p.exchange()
	piece := strings.Repeat("é", 20<<10)
	for range 120 { // more than message_complete repeats
		p.emit(protocol.TextDelta, "", protocol.PartDeltaData{Part: "p", Text: piece})
	}
	p.emit(protocol.ToolEnded, "", protocol.ToolEndedData{
		Tool: "k", Status: protocol.ToolCompleted, Output: json.RawMessage(`"` + strings.Repeat("o", 200<<10) + `"`),
	})
	p.emit(protocol.TurnEnded, "", protocol.TurnEndedData{Reason: protocol.ReasonCompleted})
	if got := len(p.client.Text()); got != 120*len(piece) || p.client.State.Last.Reason != protocol.ReasonCompleted {
		t.Errorf("%d bytes of %d", got, 120*len(piece))
	}
}
