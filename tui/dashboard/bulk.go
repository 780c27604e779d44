package dashboard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/ui"
)

// atOnce is the maximum number of requests of an action on several sessions that run at a time.
const atOnce = 4

// An action is what to do to each of several sessions.
type action struct {
	done string // past participle, for the report
	do   func(ctx context.Context, s remote.Session, summary *protocol.Summary) error
}

// errSkipped is the result of an action for a session that it does not apply to.
var errSkipped = errors.New("nothing to do")

// An actionReport collects the results of an action on several sessions.
type actionReport struct {
	done     string // past participle of the action
	sessions []protocol.Summary
	results  []error
}

// errUnanswered is the result for a session whose server has not answered yet.
var errUnanswered = errors.New("no answer yet")

// bulk does actions to several sessions: the marked ones of a table, or the selected one.
type bulk struct {
	table    *table
	servers  *servers
	requests *requester
	newID    func() string // returns a new client message ID
	written  written       // text of the last form
}

// press handles the key of an action on sessions. It returns the overlay that asks for more, or nil
// if there is nothing to do.
func (b *bulk) press(action keymap.Action, sessions []protocol.Summary) ui.Overlay {
	switch action {
	case keymap.DenySessions:
		waiting := slices.DeleteFunc(slices.Clone(sessions), func(s protocol.Summary) bool {
			return s.Status != protocol.Waiting
		})
		if len(waiting) == 0 {
			b.requests.Status.Text = "no request to deny in " + format.Count(len(sessions), "session")
			return nil
		}
		return b.denyForm(waiting)
	case keymap.SendSessions:
		return b.messageForm(sessions)
	case keymap.Interrupt:
		return b.question("interrupt the turns of "+b.namesOf(sessions)+"?", "Interrupt", interruptAction(), sessions)
	case keymap.Remove:
		return b.question("close "+b.namesOf(sessions)+"?", "Close, keep the history", closeAction(), sessions)
	}
	return nil
}

// question asks before an action on sessions.
func (b *bulk) question(title, yes string, a action, sessions []protocol.Summary) ui.Overlay {
	return ui.NewQuestion(b.requests.styles, title, ui.Choice{
		Label: yes, Run: func() tea.Cmd { return b.run(a, sessions) },
	})
}

// run does an action to sessions and reports each failure. Sessions that succeeded lose their
// mark. Servers get their requests independently of each other: one that stalls delays no other.
func (b *bulk) run(a action, sessions []protocol.Summary) tea.Cmd {
	report := &actionReport{a.done, sessions, make([]error, len(sessions))}
	b.requests.Status.Text = fmt.Sprintf("sending to %s …", format.Count(len(sessions), "session"))
	var cmds []tea.Cmd
	for _, indexes := range b.servers.byServer(sessions) {
		refused := b.servers.refuse(sessions[indexes[0]].Session)
		for _, i := range indexes {
			report.results[i] = cmp.Or(refused, errUnanswered)
		}
		if refused == nil {
			cmds = append(cmds, b.runOnServer(a, indexes, report))
		}
	}
	if len(cmds) == 0 {
		b.report(report)
	}
	return tea.Batch(cmds...)
}

// runOnServer does an action to the sessions of one server, which have these indexes in the report.
func (b *bulk) runOnServer(a action, indexes []int, report *actionReport) tea.Cmd {
	server, sessions := b.requests.server, report.sessions
	results := make([]error, len(indexes))
	return b.requests.Run(func(ctx context.Context) error {
		slots := make(chan struct{}, atOnce)
		var wg sync.WaitGroup
		for n, i := range indexes {
			slots <- struct{}{}
			wg.Go(func() {
				defer func() { <-slots }()
				results[n] = a.do(ctx, server.Session(sessions[i].Session), &sessions[i])
			})
		}
		wg.Wait()
		return nil
	}, b.requests.Await(b.servers.of(sessions[indexes[0]].Session), func(error) tea.Cmd {
		for n, i := range indexes {
			report.results[i] = results[n]
		}
		b.report(report)
		return nil
	}))
}

// report shows how many sessions an action succeeded for, and why it failed for others.
func (b *bulk) report(report *actionReport) {
	succeeded, skipped, unanswered := 0, 0, 0
	var failures []string
	for i, err := range report.results {
		switch {
		case err == nil:
			succeeded++
			delete(b.table.marked, report.sessions[i].Session)
		case errors.Is(err, errSkipped):
			skipped++
		case errors.Is(err, errUnanswered):
			unanswered++
		default:
			failures = append(failures, sessionName(&report.sessions[i])+": "+format.JoinLines(remote.ErrorText(err)))
		}
	}
	if report.done == b.written.done && len(failures) == 0 && unanswered == 0 {
		b.written = written{}
	}
	text := fmt.Sprintf("%d %s", succeeded, report.done)
	if skipped > 0 {
		text += fmt.Sprintf(" · %d without anything to do", skipped)
	}
	if unanswered > 0 {
		text += fmt.Sprintf(" · %d not answered yet", unanswered)
	}
	switch n := len(failures); {
	case n == 1:
		text += " · 1 failed: " + failures[0]
	case n > 1:
		text += fmt.Sprintf(" · %d failed", n)
		if unanswered == 0 {
			styles := b.requests.styles
			b.requests.overlays.Push(ui.NewPager(styles, text, ui.TextItem(strings.Join(failures, "\n"), styles.Plain)))
		}
	}
	b.requests.Status.Text = text
}

// interruptAction interrupts the turn that a session's row shows.
func interruptAction() action {
	return action{"interrupted", func(ctx context.Context, s remote.Session, summary *protocol.Summary) error {
		if summary.Turn == "" {
			return errSkipped
		}
		return s.Do(ctx, protocol.DoInterrupt, protocol.InterruptData{Turn: summary.Turn}, nil)
	}}
}

// closeAction closes sessions. Their history stays.
func closeAction() action {
	return action{"closed", func(ctx context.Context, s remote.Session, summary *protocol.Summary) error {
		if summary.Status == protocol.Closed {
			return errSkipped
		}
		return s.Do(ctx, protocol.DoClose, protocol.CloseData{}, nil)
	}}
}

// sendAction sends a message. id returns a new client message ID.
func sendAction(text string, id func() string) action {
	var mu sync.Mutex
	next := func() string {
		mu.Lock()
		defer mu.Unlock()
		return id()
	}
	return action{"sent", func(ctx context.Context, s remote.Session, summary *protocol.Summary) error {
		if summary.Status == protocol.Closed {
			return errors.New("the session is closed")
		}
		return s.Do(ctx, protocol.DoSend, protocol.SendData{Text: text, ClientMessageID: next()}, nil)
	}}
}

// denyAction denies every pending request, with a reason unless it is "".
func denyAction(reason string) action {
	return action{"denied", func(ctx context.Context, s remote.Session, summary *protocol.Summary) error {
		if summary.Status != protocol.Waiting {
			return errSkipped
		}
		var result protocol.SnapshotResult
		if err := s.Do(ctx, protocol.DoSnapshot, protocol.Empty{}, &result); err != nil {
			return err
		}
		if result.Snapshot.State == nil || len(result.Snapshot.State.Approvals) == 0 {
			return errSkipped
		}
		var failed error
		for _, a := range result.Snapshot.State.Approvals {
			data := protocol.ApproveData{Request: a.Request, Decision: protocol.Deny, Reason: reason}
			failed = errors.Join(failed, s.Do(ctx, protocol.DoApprove, data, nil))
		}
		return failed
	}}
}

// denyForm asks for the reason of denyAction.
func (b *bulk) denyForm(sessions []protocol.Summary) *ui.Form {
	requests := 0
	for i := range sessions {
		requests += sessions[i].Approvals
	}
	title := fmt.Sprintf("deny %s of %s", format.Count(requests, "request"), b.namesOf(sessions))
	text := b.written.take("denied", sessions)
	f := ui.NewForm(b.requests.styles, title, "enter denies · esc cancels", ui.NewField("reason", text, "(optional)"))
	b.written = written{"denied", f, sessions}
	f.Submit = func(f *ui.Form) ui.Response {
		return ui.Response{Close: true, Cmd: b.run(denyAction(strings.TrimSpace(f.Value(0))), sessions)}
	}
	return f
}

// messageForm asks for the text of sendAction.
func (b *bulk) messageForm(sessions []protocol.Summary) *ui.Form {
	text := b.written.take("sent", sessions)
	f := ui.NewForm(b.requests.styles, "message to "+b.namesOf(sessions), "enter sends · esc cancels",
		ui.NewField("text", text, ""))
	b.written = written{"sent", f, sessions}
	f.Submit = func(f *ui.Form) ui.Response {
		text := strings.TrimSpace(f.Value(0))
		if text == "" {
			return ui.Response{}
		}
		return ui.Response{Close: true, Cmd: b.run(sendAction(text, b.newID), sessions)}
	}
	return f
}

// written is the form of a message or a reason whose text no session has got: it was cancelled or
// failed.
type written struct {
	done     string // past participle of its action
	form     *ui.Form
	sessions []protocol.Summary
}

// take returns the text of the form if it was for the same action and for all of these sessions.
func (w *written) take(done string, sessions []protocol.Summary) string {
	if w.done != done {
		return ""
	}
	for i := range sessions {
		same := func(s protocol.Summary) bool { return s.Session == sessions[i].Session }
		if !slices.ContainsFunc(w.sessions, same) {
			return ""
		}
	}
	return w.form.Value(0)
}

// maxNames is the number of sessions that a question names.
const maxNames = 3

// namesOf names the sessions of an action. Marked ones may be outside of what the filter shows.
func (b *bulk) namesOf(sessions []protocol.Summary) string {
	var names []string
	for i := range sessions[:min(len(sessions), maxNames)] {
		name := ui.Fit(sessionName(&sessions[i]), maxNameWidth)
		if server := b.servers.of(sessions[i].Session); server != "" {
			name = server + "/" + name
		}
		names = append(names, name)
	}
	out := strings.Join(names, ", ")
	if n := len(sessions) - maxNames; n > 0 {
		out += fmt.Sprintf(" and %d more", n)
	}
	if len(sessions) > 1 {
		out = format.Count(len(sessions), "session") + ": " + out
	}
	return out
}

// maxNameWidth is the width of a name among others, in cells.
const maxNameWidth = 24
