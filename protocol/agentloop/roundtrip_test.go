package agentloop

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentctl/internal/historygen"
	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A street joins a house and a guest: what either says, the other hears.
type street struct {
	*house
	guest *guest
}

func newStreet(t tester) *street {
	s := &street{house: newHouse(t, "", true), guest: newGuest(t, "ws://x", nil)}
	s.answer[protocol.DoApprove] = func(c *protocol.Command) any {
		var d protocol.ApproveData
		_ = json.Unmarshal(c.Data, &d)
		return protocol.ApproveResult{Request: d.Request, Decision: d.Decision}
	}
	return s
}

// carry carries what was said, both ways, until nobody says anything.
func (s *street) carry() {
	for len(s.said)+len(s.guest.said) > 0 {
		down, up := s.said, s.guest.said
		s.said, s.guest.said = nil, nil
		for _, m := range down {
			s.guest.hears(string(protocol.MustEncode(m)))
		}
		for _, m := range up {
			s.hears(string(protocol.MustEncode(m)))
		}
	}
}

// add records an event in the house, and lets the guest see what comes of it.
func (s *street) add(en codec.Entry) {
	s.t.Helper()
	var out codec.Output
	s.log.Add(&out, s.now, en)
	s.give(out.Native)
	s.carry()
}

// passes lets time pass for both.
func (s *street) passes(d time.Duration) {
	s.guest.now = s.guest.now.Add(d)
	s.later(d)
	s.carry()
	s.guest.later(0)
	s.carry()
}

// rejoins makes another connection, of another guest, to the same session.
func (s *street) rejoins() {
	s.t.Helper()
	s.log.Detach()
	s.codec = newServer("")
	s.guest = newGuest(s.t, "ws://x", nil)
	s.now = s.guest.now
	s.take(s.codec.Open(s.now))
	s.carry()
}

// AL-5 to AL-19, AL-22: whatever happens in a session, our client's State and Transcript are those of the native session, but for what
// the documentation says is lost: at every moment, whoever decides, and wherever the client came in.
func TestHistoriesGoThroughBothEnds(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := newStreet(r)
		s.rejoins()
		want := newTold(r, func() time.Time { return s.guest.now })
		s.tap = want.event
		l := &historygen.Generator{T: r, Now: epochStart}
		for range rapid.SampledFrom([]int{3, 10, 30, 90}).Draw(r, "events") {
			l.State = s.log.State
			switch does := rapid.SampledFrom([]string{"send", "decide", "pause", "rejoin", "", "", "", "", "", "", "", ""}).Draw(r, "does"); {
			case does == "send" && l.State.Turn == nil && !l.State.Closed:
				s.answer[protocol.DoSend] = func(*protocol.Command) any { return protocol.SendResult{Status: protocol.SendStarted} }
				text := rapid.StringMatching(`[a-zé ]{1,8}[a-z]`).Draw(r, "message")
				want.sending = &protocol.Message{Text: text, By: &protocol.Actor{Name: "ada"}}
				s.guest.do(protocol.DoSend, protocol.SendData{Text: text})
				s.carry()
				m := protocol.Message{MessageID: "m", Text: text}
				s.add(codec.Entry{Type: protocol.MessageUser, Turn: fmt.Sprint("t", l.State.Seq), Data: protocol.MessageUserData{Message: m}})
			case does == "decide" && len(s.guest.state.Approvals) > 0:
				s.passes(glance)
				want.passes()
				s.decides(r, l, want)
			case does == "pause":
				s.passes(settling)
				want.passes()
			case does == "rejoin":
				s.rejoins()
				want.rejoins()
				s.rejoins()
			default:
				s.add(l.Next())
			}
			equal(r, "state", stateOf(s.guest.state), stateOf(want.state))
			equal(r, "transcript", storyOf(&s.guest.transcript), storyOf(want.story))
		}
	})
}

// decides lets the guest answer the request that it is shown.
func (s *street) decides(r *rapid.T, l *historygen.Generator, want *told) {
	want.deciding = rapid.SampledFrom([]protocol.Decision{
		protocol.AllowOnce, protocol.AllowAlways, protocol.Deny, protocol.DenyStop, protocol.Explain,
	}).Draw(r, "decision")
	want.why = rapid.SampledFrom([]string{"", "not now"}).Draw(r, "why")
	s.guest.do(protocol.DoApprove, protocol.ApproveData{Decision: want.deciding, Reason: want.why})
	s.carry()
	asked := last[protocol.ApproveData](s.house, protocol.DoApprove)
	if asked.Decision != want.deciding || asked.Request != l.State.Approvals[0].Request || asked.Reason != want.why {
		r.Fatalf("asked %+v, not %s", asked, want.deciding)
	}
	turn := l.State.Turn.Turn
	if want.deciding == protocol.Explain {
		s.add(codec.Entry{Type: protocol.ApprovalExplained, Turn: turn, Data: protocol.ApprovalExplainedData{Request: asked.Request, Text: "because"}})
		return
	}
	d := l.Resolution(asked.Request, want.deciding)
	s.add(codec.Entry{Type: protocol.ApprovalResolved, Turn: turn, By: &protocol.Actor{Name: "agentloop@peer"}, Data: d})
	s.passes(refusalWait)
	want.passes()
}

// stateOf is a state without what the client makes itself: ids of turns and messages, seqs, when it heard of a call.
func stateOf(s *protocol.State) *protocol.State {
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

// storyOf is a transcript without the same.
func storyOf(s *protocol.Transcript) *protocol.Transcript {
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

// AL-22, AL-23, AL-32: the whole flow over both codecs, from our client's message to its turn's end.
func TestMessageAndApprovalThroughBothEnds(t *testing.T) {
	s := newStreet(t)
	s.answer[protocol.DoSend] = func(*protocol.Command) any {
		return protocol.SendResult{Status: protocol.SendStarted, MessageID: "m1", Turn: "t1"}
	}
	s.guest.do(protocol.DoSend, protocol.SendData{Text: "clean up"})
	s.carry()
	s.add(asks(last[protocol.SendData](s.house, protocol.DoSend).Text))
	if r := resultOf[protocol.SendResult](s.guest); r.Status != protocol.SendStarted {
		t.Fatalf("send: %+v", r)
	}
	s.add(wants("a1", "rm -rf build", ""))
	if a := s.guest.state.Approvals; len(a) != 1 || a[0].Command != "rm -rf build" {
		t.Fatalf("approvals %+v", a)
	}
	s.guest.do(protocol.DoApprove, protocol.ApproveData{Decision: protocol.DenyStop, Reason: "keep it"})
	s.carry()
	if d := last[protocol.ApproveData](s.house, protocol.DoApprove); d.Decision != protocol.DenyStop || d.Reason != "keep it" {
		t.Fatalf("decided %+v", d)
	}
	s.add(resolves("a1", protocol.Denied, "agentloop@peer"))
	s.add(ends(protocol.ReasonDenied))
	if last := s.guest.state.Last; last == nil || last.Reason != protocol.ReasonDenied {
		t.Fatalf("last turn %+v", last)
	}
}

// AL-21: our client hears from our server who decided first.
func TestDecisionOfSomebodyElseThroughBothEnds(t *testing.T) {
	for by, outcome := range map[string]protocol.Outcome{"grace: hopper": protocol.Allowed, "": protocol.Expired} {
		s := newStreet(t)
		s.add(asks("x"))
		s.add(wants("a1", "ls", ""))
		over := resolves("a1", outcome, by)
		if by == "" {
			over.By = nil
		}
		s.add(over)
		s.guest.do(protocol.DoApprove, protocol.ApproveData{Request: "a1", Decision: protocol.Deny})
		if a := s.guest.answer(); a.Error == nil || a.Error.Code != protocol.CodeConflict || a.Error.Winner.By.Name != by || a.Error.Winner.Outcome != outcome {
			t.Fatalf("%q: %+v", by, a.Error)
		}
	}
}
