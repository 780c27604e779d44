package session

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/server/session/output"
)

// published is the session's row as last submitted to the store and the index.
type published struct {
	stale  bool // the summary may have changed
	live   bool
	output output.Line
	active time.Time // when a turn or a user last made an event: reading is no activity
}

// publishSummary adds changes of the session's row to the next batch, and updates the index before
// they are visible.
func (s *Session) publishSummary() {
	if s.exit.ending {
		return
	}
	waiting := len(s.state.Queue) > 0 && !s.state.Closed || s.state.NextScheduled() != nil
	if live := s.state.Turn != nil || waiting; live != s.published.live {
		s.published.live = live
		s.journal.NextBatch().Live = &live
	}
	if !s.published.stale {
		return
	}
	s.published.stale = false
	sum := s.summarize()
	queued := firstQueued(s.state)
	if b := s.journal.PendingBatch(); b != nil {
		b.Summary = protocol.MustEncode(sum)
	}
	s.journal.BeforeVisible(func() { s.hub.list.Update(sum, queued) })
}

// summarize returns the session's row in the session list.
func (s *Session) summarize() protocol.Summary {
	st := s.state
	sum := protocol.Summary{
		Session:    s.id,
		Name:       st.Name,
		Title:      st.Title,
		Agent:      st.Agent,
		CWD:        st.CWD,
		Status:     st.Status(),
		Turn:       s.turnID(),
		Seq:        st.Seq,
		Epoch:      s.journal.Log().Position().Epoch,
		Queue:      len(st.Queue),
		Held:       len(st.Queue) > 0 && st.BlockingHold() != nil,
		Approvals:  len(st.Approvals),
		Clients:    s.subscribers.Len(),
		Attributes: st.Attributes,
		Updated:    s.published.active.UTC().Truncate(time.Millisecond),
	}
	sum.Doing, sum.Turns, sum.Output = activity(st), st.Turns, s.published.output.String()
	sum.Policy, sum.Scheduled = st.Policy(), st.NextScheduled()
	if u := st.Usage; u != nil {
		sum.Tokens, sum.Cost, sum.Currency = u.Input+u.Output, u.Cost, u.Currency
	}
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

// firstQueued returns when the first message of the queue was queued; zero: the queue is empty.
func firstQueued(st *protocol.State) time.Time {
	if len(st.Queue) == 0 || st.Closed || st.Queue[0].QueuedAt == nil {
		return time.Time{}
	}
	return *st.Queue[0].QueuedAt
}

const maxActivity = 200 // bytes

// requestLine returns a request as one line. Line breaks are symbols, and the number of bytes left
// out is told.
func requestLine(a *protocol.Approval) string {
	text := cmp.Or(a.Action(), a.Title, a.Kind)
	if a.Kind == protocol.ApprovePatch {
		text = cmp.Or(a.Title, text)
	}
	text = strings.ReplaceAll(text, "\n", "␊")
	if len(text) <= maxActivity {
		return text
	}
	line := protocol.SplitText(text, maxActivity)[0]
	return fmt.Sprintf("%s… (%d more bytes)", line, len(text)-len(line))
}

// activity returns one line: the first pending approval, else the running tool, else the turn's
// message.
func activity(st *protocol.State) string {
	var text string
	switch {
	case st.Turn == nil:
	case len(st.Approvals) > 0:
		return requestLine(&st.Approvals[0])
	case len(st.Turn.Tools) > 0:
		t := &st.Turn.Tools[len(st.Turn.Tools)-1]
		text = cmp.Or(t.Title, t.Name)
	default:
		text = st.Turn.Message.Text
	}
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return protocol.SplitText(line[:min(len(line), 2*maxActivity)], maxActivity)[0]
}
