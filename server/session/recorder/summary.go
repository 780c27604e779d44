package recorder

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"agentctl/internal/gitbranch"
	"agentctl/protocol"
	"agentctl/server/eventlog"
	"agentctl/server/session/output"
)

// A row is the session's row in the list as last submitted to the store and the list.
type row struct {
	list   func(sum protocol.Summary, queued time.Time)
	stale  bool // the summary may have changed
	live   bool
	output output.Line
	in     project
	waits  protocol.Waits // of the turn
	active time.Time      // when a turn or a user last made an event: reading does not count
}

// adopt sets the row to the stored one.
func (w *row) adopt(rec *eventlog.Record) {
	w.live, w.stale = rec.Live, true
	var sum protocol.Summary
	if json.Unmarshal(rec.Summary, &sum) == nil {
		w.output, w.active = output.StoredLine(&sum), sum.Updated
		w.in = project{cwd: sum.CWD, directory: sum.Project}
	}
}

// A project is the repository of a directory. It is looked for once.
type project struct {
	cwd       string
	directory string // "": there is none, or it is cwd
}

// of returns the repository that a directory is in, if it is another directory.
func (p *project) of(cwd string) string {
	if cwd != p.cwd {
		p.cwd, p.directory = cwd, gitbranch.Repository(cwd)
		if p.directory == cwd {
			p.directory = ""
		}
	}
	return p.directory
}

// Changed notes that the summary may have changed without an event.
func (r *Recorder) Changed() { r.row.stale = true }

// Publish adds changes of the session's row to the next batch, and updates the list before they are
// visible. clients is the number of subscribers.
func (r *Recorder) Publish(clients int) {
	waiting := len(r.state.Queue) > 0 && !r.state.Closed || r.state.NextScheduled() != nil
	if live := r.state.Turn != nil || waiting || len(r.state.Approvals) > 0 && !r.state.Closed; live != r.row.live {
		r.row.live = live
		r.journal.NextBatch().Live = &live
	}
	if !r.row.stale {
		return
	}
	r.row.stale = false
	sum := r.Summary(clients)
	queued := FirstQueued(r.state)
	if b := r.journal.PendingBatch(); b != nil {
		b.Summary = protocol.MustEncode(sum)
	}
	r.journal.BeforeVisible(func() { r.row.list(sum, queued) })
}

// Summary returns the session's row in the list.
func (r *Recorder) Summary(clients int) protocol.Summary {
	st := r.state
	sum := protocol.Summary{
		Session:    st.Session,
		Name:       st.Name,
		Title:      st.Title,
		Agent:      st.Agent,
		CWD:        st.CWD,
		Project:    r.row.in.of(st.CWD),
		Status:     st.Status(),
		Turn:       r.Turn(),
		Seq:        st.Seq,
		Epoch:      r.journal.Log().Position().Epoch,
		Queue:      len(st.Queue),
		Held:       len(st.Queue) > 0 && st.BlockingHold() != nil,
		Approvals:  len(st.Approvals),
		Clients:    clients,
		Attributes: st.Attributes,
		Updated:    r.row.active.UTC().Truncate(time.Millisecond),
	}
	sum.Doing, sum.Since = activity(st, &r.row.output, &r.row.waits)
	sum.Turns, sum.Output = st.Turns, r.row.output.String()
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
		sum.Reason, sum.ResetsAt = st.Last.Reason, st.Last.ResetsAt
		if end := (protocol.TurnEndedData{Reason: st.Last.Reason}); end.Failed() {
			sum.Error = firstLine(st.Last.Message)
		}
	}
	return sum
}

// FirstQueued returns when the first message of the queue was queued; zero: the queue is empty.
func FirstQueued(st *protocol.State) time.Time {
	if len(st.Queue) == 0 || st.Closed || st.Queue[0].QueuedAt == nil {
		return time.Time{}
	}
	return *st.Queue[0].QueuedAt
}

const maxActivity = 200 // bytes

// requestLine returns a request as one line. Line breaks become symbols, and the line states the
// number of bytes left out.
func requestLine(a *protocol.Approval) string {
	text := cmp.Or(a.Action(), a.Title, a.Kind)
	if a.Kind == protocol.ApprovePatch {
		text = strings.Join(slices.Insert(changedFiles(a), 0, cmp.Or(a.Title, text)), " · ")
	}
	text = strings.ReplaceAll(text, "\n", "⏎")
	if len(text) <= maxActivity {
		return text
	}
	line := protocol.SplitText(text, maxActivity)[0]
	return fmt.Sprintf("%s… (%d more bytes)", line, len(text)-len(line))
}

// changedFiles returns the names of the files that a patch changes, without those in its title.
func changedFiles(a *protocol.Approval) []string {
	paths, _ := a.Files()
	var names []string
	for _, p := range paths {
		if name := path.Base(p); !strings.Contains(a.Title, name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// activity returns one line and since when it is true: the first pending approval, else the running
// tool, else what the turn wrote last, else the turn's message. Only a tool or a turn has a time, which
// is later by the time that it waited for people.
func activity(st *protocol.State, output *output.Line, waits *protocol.Waits) (doing string, since *time.Time) {
	switch {
	case len(st.Approvals) > 0:
		return requestLine(&st.Approvals[0]), nil
	case st.Turn == nil:
		return "", nil
	case len(st.Turn.Tools) > 0:
		t := &st.Turn.Tools[len(st.Turn.Tools)-1]
		return firstLine(cmp.Or(t.Title, t.Name)), worksSince(waits, protocol.TurnPart{Tool: t.Tool}, t.Started)
	}
	doing = firstLine(cmp.Or(output.Of(st.Turn.Turn), st.Turn.Message.Label()))
	return doing, worksSince(waits, protocol.TurnPart{}, st.Turn.Started)
}

// worksSince returns when a part that works now would have started if it had not waited, or nil for
// the zero time.
func worksSince(waits *protocol.Waits, part protocol.TurnPart, at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	_, waited := waits.Split(part, at, time.Now())
	at = at.Add(waited)
	return &at
}

// firstLine returns the first line of a text, shortened.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return protocol.SplitText(line[:min(len(line), 2*maxActivity)], maxActivity)[0]
}
