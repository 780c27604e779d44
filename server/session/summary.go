package session

import (
	"cmp"
	"strings"

	"agentctl/protocol"
)

// tellSummary puts what changed of the session's row into the next commit and tells the hub when that is visible.
func (s *Session) tellSummary() {
	if s.ending {
		return
	}
	if live := s.state.Turn != nil || len(s.state.Queue) > 0 && !s.state.Closed; live != s.live {
		s.live = live
		s.pending().Live = &live
	}
	if !s.changed {
		return
	}
	s.changed = false
	sum := s.summarize()
	s.summary = sum
	if s.batch != nil {
		s.batch.Summary = protocol.MustEncode(sum)
	}
	s.then(func(failed error) {
		if failed == nil {
			s.hub.told(sum)
		}
	})
}

func (s *Session) summarize() protocol.Summary {
	st := s.state
	sum := protocol.Summary{
		Session: s.id, Name: st.Name, Title: st.Title, Agent: st.Agent, CWD: st.CWD, Status: st.Status(), Turn: s.turnID(),
		Seq: st.Seq, Epoch: s.log.Position().Epoch, Queue: len(st.Queue), Held: len(st.Queue) > 0 && st.BlockingHold() != nil,
		Approvals: len(st.Approvals), Clients: len(s.audience.peers), Created: st.Created, Updated: s.touched,
	}
	sum.Doing = doing(st)
	if len(st.Approvals) > 0 {
		asked := st.Approvals[0].Asked
		sum.Asked = &asked
	}
	if st.Context != nil {
		sum.Percent = st.Context.Percent
	}
	if st.Last != nil {
		sum.Reason = st.Last.Reason
	}
	return sum
}

const doingMost = 200 // bytes

// doing is the line that says what a session does: what it asks for, else the running tool, else what it was asked.
func doing(st *protocol.State) string {
	var words string
	switch {
	case st.Turn == nil:
	case len(st.Approvals) > 0:
		a := &st.Approvals[0]
		words = cmp.Or(a.Command, a.Title, a.Kind)
	case len(st.Turn.Tools) > 0:
		t := &st.Turn.Tools[len(st.Turn.Tools)-1]
		words = cmp.Or(t.Title, t.Name)
	default:
		words = st.Turn.Message.Text
	}
	line, _, _ := strings.Cut(strings.TrimSpace(words), "\n")
	return protocol.SplitText(line[:min(len(line), 2*doingMost)], doingMost)[0]
}
