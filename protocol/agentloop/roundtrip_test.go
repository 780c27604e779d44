package agentloop

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentctl/internal/dev/historygen"
	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A codecPair connects a serverHarness and a clientHarness.
type codecPair struct {
	*serverHarness
	client *clientHarness
}

func newCodecPair(t tester) *codecPair {
	s := &codecPair{serverHarness: newServerHarness(t, "", true), client: newAgentctlHarness(t, nil)}
	s.answer[protocol.DoApprove] = func(c *protocol.Command) any {
		var d protocol.ApproveData
		_ = json.Unmarshal(c.Data, &d)
		return protocol.ApproveResult{Request: d.Request, Decision: d.Decision}
	}
	return s
}

// exchange passes messages both ways until none is left.
func (s *codecPair) exchange() {
	for len(s.sent)+len(s.client.sent) > 0 {
		down, up := s.sent, s.client.sent
		s.sent, s.client.sent = nil, nil
		for _, m := range down {
			s.client.receive(string(protocol.MustEncode(m)))
		}
		for _, m := range up {
			s.receive(string(protocol.MustEncode(m)))
		}
	}
}

// record records an event of the session and exchanges messages.
func (s *codecPair) record(en codec.Entry) {
	s.t.Helper()
	var out codec.Output
	s.log.Add(&out, s.now, en)
	s.deliver(out.Native)
	s.exchange()
}

// advance lets time pass on both ends.
func (s *codecPair) advance(d time.Duration) {
	s.client.now = s.client.now.Add(d)
	s.serverHarness.advance(d)
	s.exchange()
	s.client.advance(0)
	s.exchange()
}

// reconnect connects another client to the same session.
func (s *codecPair) reconnect() {
	s.t.Helper()
	s.log.Detach()
	s.codec = newTestServer("")
	s.client = newAgentctlHarness(s.t, nil)
	s.now = s.client.now
	s.handleOutput(s.codec.Open(s.now))
	s.exchange()
}

// AL-5 to AL-19, AL-22: the client's State and Transcript equal those of the native session, except
// for the documented losses, at every moment, for every decider, and wherever the client connected.
func TestHistoriesGoThroughBothEnds(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := newCodecPair(r)
		s.reconnect()
		want := newExpectedEvents(r, func() time.Time { return s.client.now })
		s.tap = want.event
		l := &historygen.Generator{T: r, Now: epochStart}
		for range rapid.SampledFrom([]int{3, 10, 30, 90}).Draw(r, "events") {
			l.State = s.log.State
			switch does := rapid.SampledFrom([]string{
				"send", "decide", "pause", "rejoin", "", "", "", "", "", "", "",
				"",
			}).Draw(r, "does"); {
			case does == "send" && l.State.Turn == nil && !l.State.Closed:
				s.answer[protocol.DoSend] = func(*protocol.Command) any {
					return protocol.SendResult{Status: protocol.SendStarted}
				}
				text := rapid.StringMatching(`[a-zé ]{1,8}[a-z]`).Draw(r, "message")
				want.sending = &protocol.Message{Text: text, By: &protocol.Actor{Name: "ada"}}
				s.client.send(protocol.DoSend, protocol.SendData{Text: text})
				s.exchange()
				m := protocol.Message{MessageID: "m", Text: text}
				s.record(codec.Entry{
					Type: protocol.MessageUser, Turn: fmt.Sprint("t", l.State.Seq),
					Data: protocol.MessageUserData{Message: m},
				})
			case does == "decide" && len(s.client.state.Approvals) > 0:
				s.advance(minReviewTime)
				want.passes()
				s.decide(r, l, want)
			case does == "pause":
				s.advance(callDelay)
				want.passes()
			case does == "rejoin":
				s.reconnect()
				want.rejoins()
				s.reconnect()
			default:
				s.record(l.Next())
			}
			equal(r, "state", normalState(s.client.state), normalState(want.state))
			equal(r, "transcript", normalTranscript(&s.client.transcript), normalTranscript(want.story))
		}
	})
}

// decide lets the client decide the shown request.
func (s *codecPair) decide(r *rapid.T, l *historygen.Generator, want *expectedEvents) {
	want.deciding = rapid.SampledFrom([]protocol.Decision{
		protocol.AllowOnce, protocol.AllowAlways, protocol.Deny, protocol.DenyStop, protocol.Explain,
	}).Draw(r, "decision")
	want.why = rapid.SampledFrom([]string{"", "not now"}).Draw(r, "why")
	s.client.send(protocol.DoApprove, protocol.ApproveData{Decision: want.deciding, Reason: want.why})
	s.exchange()
	asked := last[protocol.ApproveData](s.serverHarness, protocol.DoApprove)
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
	s.advance(rejectTimeout)
	want.passes()
}

// normalState returns a state without ids of turns and messages, seqs, and times of calls, which
// the client makes itself.
func normalState(s *protocol.State) *protocol.State {
	s = s.Clone()
	s.Session, s.Seq, s.Created, s.History.LastMessageID = "", 0, epochStart, ""
	if s.Turn != nil {
		s.Turn.Turn, s.Turn.First, s.Turn.Message.MessageID = "", 0, ""
		for i := range s.Turn.Tools {
			s.Turn.Tools[i].Started = epochStart
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
			it.Seq, it.Started = 0, epochStart
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

// AL-22, AL-23, AL-32: a turn with an approval over both codecs, from the message to the turn's
// end.
func TestMessageAndApprovalThroughBothEnds(t *testing.T) {
	s := newCodecPair(t)
	s.answer[protocol.DoSend] = func(*protocol.Command) any {
		return protocol.SendResult{Status: protocol.SendStarted, MessageID: "m1", Turn: "t1"}
	}
	s.client.send(protocol.DoSend, protocol.SendData{Text: "clean up"})
	s.exchange()
	s.record(asks(last[protocol.SendData](s.serverHarness, protocol.DoSend).Text))
	if r := resultOf[protocol.SendResult](s.client); r.Status != protocol.SendStarted {
		t.Fatalf("send: %+v", r)
	}
	s.record(wants("a1", "rm -rf build", ""))
	if a := s.client.state.Approvals; len(a) != 1 || a[0].Command != "rm -rf build" {
		t.Fatalf("approvals %+v", a)
	}
	s.client.send(protocol.DoApprove, protocol.ApproveData{Decision: protocol.DenyStop, Reason: "keep it"})
	s.exchange()
	if d := last[protocol.ApproveData](s.serverHarness, protocol.DoApprove); d.Decision != protocol.DenyStop ||
		d.Reason != "keep it" {
		t.Fatalf("decided %+v", d)
	}
	s.record(resolves("a1", protocol.Denied, "agentloop@peer"))
	s.record(ends(protocol.ReasonDenied))
	if last := s.client.state.Last; last == nil || last.Reason != protocol.ReasonDenied {
		t.Fatalf("last turn %+v", last)
	}
}

// AL-21: the client learns another user's decision from agentctl's server.
func TestDecisionOfSomebodyElseThroughBothEnds(t *testing.T) {
	for by, outcome := range map[string]protocol.Outcome{"grace: hopper": protocol.Allowed, "": protocol.Expired} {
		s := newCodecPair(t)
		s.record(asks("x"))
		s.record(wants("a1", "ls", ""))
		over := resolves("a1", outcome, by)
		if by == "" {
			over.By = nil
		}
		s.record(over)
		s.client.send(protocol.DoApprove, protocol.ApproveData{Request: "a1", Decision: protocol.Deny})
		if a := s.client.answer(); a.Error == nil || a.Error.Code != protocol.CodeConflict ||
			a.Error.Winner.By.Name != by || a.Error.Winner.Outcome != outcome {
			t.Fatalf("%q: %+v", by, a.Error)
		}
	}
}
