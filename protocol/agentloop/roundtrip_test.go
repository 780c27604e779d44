package agentloop

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentctl/internal/dev/agentlooptest"
	"agentctl/internal/dev/codectest"
	"agentctl/internal/dev/historygen"
	"agentctl/internal/dev/thorough"
	"agentctl/protocol"
	"agentctl/protocol/codec"
)

func init() { thorough.Checks(30, 100) }

// Times of the two ends.
const (
	reviewTime = time.Second            // a request is shown at least so long
	callTime   = 200 * time.Millisecond // a call is held back for its request
	rejectTime = 500 * time.Millisecond // a decision waits for an error
)

// A codecPair connects both ends.
type codecPair struct {
	*agentlooptest.Server
	client *agentlooptest.Client
}

func newCodecPair(t codectest.T) *codecPair {
	s := &codecPair{Server: agentlooptest.NewServer(t, Dialect.Server, "", true), client: agentlooptest.NewAgentctlClient(t, Dialect.Client, nil)}
	s.Answer[protocol.DoApprove] = func(c *protocol.Command) any {
		var d protocol.ApproveData
		_ = json.Unmarshal(c.Data, &d)
		return protocol.ApproveResult{Request: d.Request, Decision: d.Decision}
	}
	return s
}

// exchange passes messages both ways until none is left.
func (s *codecPair) exchange() {
	for len(s.Sent)+len(s.client.Sent) > 0 {
		down, up := s.Sent, s.client.Sent
		s.Sent, s.client.Sent = nil, nil
		for _, m := range down {
			s.client.Receive(string(protocol.MustEncode(m)))
		}
		for _, m := range up {
			s.Receive(string(protocol.MustEncode(m)))
		}
	}
}

// record records an event of the session and exchanges messages.
func (s *codecPair) record(en codec.Entry) {
	s.T.Helper()
	var out codec.Output
	s.Log.Add(&out, s.Now, en)
	s.ReceiveNative(out.Native...)
	s.exchange()
}

// advance lets time pass on both ends.
func (s *codecPair) advance(d time.Duration) {
	s.client.Now = s.client.Now.Add(d)
	s.Server.Advance(d)
	s.exchange()
	s.client.Advance(0)
	s.exchange()
}

// reconnect connects another client to the same session.
func (s *codecPair) reconnect() {
	s.T.Helper()
	s.client = agentlooptest.NewAgentctlClient(s.T, Dialect.Client, nil)
	s.Now = s.client.Now
	s.Server.Reconnect()
	s.exchange()
}

// AL-5 to AL-19, AL-22: the client's State and Transcript equal the native session's, except for
// the documented losses: at every moment, for every decider, and wherever the client connected.
func TestHistoriesGoThroughBothEnds(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := newCodecPair(r)
		s.reconnect()
		want := newExpectedEvents(r, func() time.Time { return s.client.Now })
		s.OnEvent = want.event
		l := &historygen.Generator{T: r, Now: codectest.Start}
		for range rapid.SampledFrom([]int{3, 10, 30, 90}).Draw(r, "events") {
			l.State = s.Log.State
			switch does := rapid.SampledFrom([]string{
				"send", "decide", "pause", "rejoin", "", "", "", "", "", "", "",
				"",
			}).Draw(r, "does"); {
			case does == "send" && l.State.Turn == nil && !l.State.Closed:
				s.Answer[protocol.DoSend] = func(*protocol.Command) any {
					return protocol.SendResult{Status: protocol.SendStarted}
				}
				text := rapid.StringMatching(`[a-zé ]{1,8}[a-z]`).Draw(r, "message")
				want.sending = &protocol.Message{Text: text, By: &protocol.Actor{Name: "ada"}}
				s.client.Send(protocol.DoSend, protocol.SendData{Text: text})
				s.exchange()
				m := protocol.Message{MessageID: "m", Text: text}
				s.record(codec.Entry{
					Type: protocol.MessageUser, Turn: fmt.Sprint("t", l.State.Seq),
					Data: protocol.MessageUserData{Message: m},
				})
			case does == "decide" && len(s.client.State.Approvals) > 0:
				s.advance(reviewTime)
				want.passes()
				s.decide(r, l, want)
			case does == "pause":
				s.advance(callTime)
				want.passes()
			case does == "rejoin":
				s.reconnect()
				want.rejoins()
				s.reconnect()
			default:
				s.record(l.Next())
			}
			equal(r, "state", normalState(s.client.State), normalState(want.state))
			equal(r, "transcript", normalTranscript(s.client.Transcript), normalTranscript(want.story))
		}
	})
}

// decide lets the client decide the shown request.
func (s *codecPair) decide(r *rapid.T, l *historygen.Generator, want *expectedEvents) {
	want.deciding = rapid.SampledFrom([]protocol.Decision{
		protocol.AllowOnce, protocol.AllowAlways, protocol.Deny, protocol.DenyStop, protocol.Explain,
	}).Draw(r, "decision")
	want.why = rapid.SampledFrom([]string{"", "not now"}).Draw(r, "why")
	s.client.Send(protocol.DoApprove, protocol.ApproveData{Decision: want.deciding, Reason: want.why})
	s.exchange()
	asked := agentlooptest.Last[protocol.ApproveData](s.Server, protocol.DoApprove)
	if asked.Decision != want.deciding || asked.Request != l.State.Approvals[0].Request || asked.Reason != want.why {
		r.Fatalf("asked %+v, not %s", asked, want.deciding)
	}
	turn := l.State.Turn.Turn
	if want.deciding == protocol.Explain {
		s.record(codec.Entry{
			Type: protocol.ApprovalExplained, Turn: turn,
			Data: protocol.ApprovalExplainedData{Request: asked.Request, Text: "because"},
		})
		return
	}
	d := l.Resolution(asked.Request, want.deciding)
	s.record(codec.Entry{
		Type: protocol.ApprovalResolved, Turn: turn, By: &protocol.Actor{Name: "agentloop@peer"},
		Data: d,
	})
	s.advance(rejectTime)
	want.passes()
}

// normalState returns a state without ids of turns and messages, seqs, and times of calls, which
// the client makes itself.
func normalState(s *protocol.State) *protocol.State {
	s = s.Clone()
	s.Session, s.Seq, s.Created, s.History.LastMessageID = "", 0, codectest.Start, ""
	if s.Turn != nil {
		s.Turn.Turn, s.Turn.First, s.Turn.Message.MessageID = "", 0, ""
		for i := range s.Turn.Tools {
			s.Turn.Tools[i].Started = codectest.Start
		}
	}
	if s.Last != nil {
		s.Last.Turn = ""
	}
	for i := range s.Approvals {
		s.Approvals[i].Turn = ""
	}
	return s
}

// normalTranscript returns a transcript without the same.
func normalTranscript(s *protocol.Transcript) *protocol.Transcript {
	c := new(protocol.Transcript)
	_ = json.Unmarshal(protocol.MustEncode(s), c)
	c.Seq = 0
	for _, turn := range c.Turns {
		turn.Turn, turn.First, turn.Message.MessageID = "", 0, ""
		for _, it := range turn.Items {
			it.Seq, it.Started = 0, codectest.Start
			if it.Approval != nil {
				it.Approval.Turn = ""
			}
		}
	}
	return c
}

func equal(t codectest.T, what string, got, want any) {
	t.Helper()
	g, w := protocol.MustEncode(got), protocol.MustEncode(want)
	if string(g) != string(w) {
		t.Fatalf("%s\n got %s\nwant %s", what, g, w)
	}
}

// AL-22, AL-23, AL-32: a turn with an approval over both codecs, from the message to the turn's
// end.
func TestMessageAndApprovalThroughBothEnds(t *testing.T) {
	s := newCodecPair(t)
	s.Answer[protocol.DoSend] = func(*protocol.Command) any {
		return protocol.SendResult{Status: protocol.SendStarted, MessageID: "m1", Turn: "t1"}
	}
	s.client.Send(protocol.DoSend, protocol.SendData{Text: "clean up"})
	s.exchange()
	s.record(agentlooptest.Asks(agentlooptest.Last[protocol.SendData](s.Server, protocol.DoSend).Text))
	if r := agentlooptest.ResultOf[protocol.SendResult](s.client); r.Status != protocol.SendStarted {
		t.Fatalf("send: %+v", r)
	}
	s.record(agentlooptest.Wants("a1", "rm -rf build", ""))
	if a := s.client.State.Approvals; len(a) != 1 || a[0].Command != "rm -rf build" {
		t.Fatalf("approvals %+v", a)
	}
	s.client.Send(protocol.DoApprove, protocol.ApproveData{Decision: protocol.DenyStop, Reason: "keep it"})
	s.exchange()
	if d := agentlooptest.Last[protocol.ApproveData](s.Server, protocol.DoApprove); d.Decision != protocol.DenyStop ||
		d.Reason != "keep it" {
		t.Fatalf("decided %+v", d)
	}
	s.record(agentlooptest.Resolves("a1", protocol.Denied, "agentloop@peer"))
	s.record(agentlooptest.Ends(protocol.ReasonDenied))
	if last := s.client.State.Last; last == nil || last.Reason != protocol.ReasonDenied {
		t.Fatalf("last turn %+v", last)
	}
}

// AL-21: the client learns another user's decision from agentctl's server.
func TestDecisionOfSomebodyElseThroughBothEnds(t *testing.T) {
	for by, outcome := range map[string]protocol.Outcome{"grace: hopper": protocol.Allowed, "": protocol.Expired} {
		s := newCodecPair(t)
		s.record(agentlooptest.Asks("x"))
		s.record(agentlooptest.Wants("a1", "ls", ""))
		over := agentlooptest.Resolves("a1", outcome, by)
		if by == "" {
			over.By = nil
		}
		s.record(over)
		s.client.Send(protocol.DoApprove, protocol.ApproveData{Request: "a1", Decision: protocol.Deny})
		if a := s.client.Answer(); a.Error == nil || a.Error.Code != protocol.CodeConflict ||
			a.Error.Winner.By.Name != by || a.Error.Winner.Outcome != outcome {
			t.Fatalf("%q: %+v", by, a.Error)
		}
	}
}
