package decision

import (
	"context"
	"maps"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/approval"
	"agentctl/tui/describe"
	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/ui"
)

// Panel is the approval panel of a session: it shows the pending requests, sends the decisions and
// reports those of others. A recording takes no decision: its transcript shows the requests.
type Panel struct {
	panel.Base
	approval.Panel
	overlays *ui.Stack
	focused  bool
	decided  map[string]bool // requests decided here whose event has not arrived
	pages    pages
}

// New returns the panel of a session. open opens a page in the user's browser.
func New(base panel.Base, overlays *ui.Stack, open func(context.Context, string) error) *Panel {
	return &Panel{
		Base: base, Panel: approval.NewPanel(base.Styles, ""), overlays: overlays, decided: map[string]bool{},
		pages: pages{open: open, requested: map[string]bool{}},
	}
}

// Refresh shows the pending requests after updates. live reports whether they came after the
// catch-up. It returns what was written about requests that are gone.
func (p *Panel) Refresh(live bool) approval.Unsent {
	p.SetPending(p.Replica.State.Approvals, p.Replica.State.CWD, live)
	maps.DeleteFunc(p.pages.requested, func(request string, _ bool) bool {
		return p.Replica.State.PendingApproval(request) == nil
	})
	return p.TakeUnsent()
}

// Apply reports the outcome of a request as the status message, unless it was decided here or in a
// recording.
func (p *Panel) Apply(e *protocol.Event) {
	if e.Type != protocol.ApprovalResolved {
		return
	}
	d := remote.DecodeData[protocol.ApprovalResolvedData](e.Data)
	sending, known := p.Sending(d.Request)
	decided := sending || p.decided[d.Request]
	delete(p.decided, d.Request)
	if !known || p.Replica.Recorded || decided && e.By != nil && *e.By == p.Replica.Conn.By {
		return
	}
	if sending { // the other decision was first
		p.Decided(d.Request, "decided elsewhere")
	}
	p.Commands.Status.Text = describe.Outcome(nil, d, e.By, "")
}

// Send sends a decision. A failure, such as a request decided by another client, is shown as the
// status message. The answer may arrive before the event or after it.
func (p *Panel) Send(data protocol.ApproveData) tea.Cmd {
	result := new(protocol.ApproveResult)
	return p.Commands.Send(protocol.DoApprove, data, result, func(err error) tea.Cmd {
		message := ""
		_, pending := p.Sending(data.Request)
		switch {
		case err != nil:
			message = remote.ErrorText(err)
			p.Commands.Status.Text = message
		case pending && result.Decision != protocol.Explain: // the request stays pending after an explanation
			p.decided[data.Request] = true
		}
		p.Decided(data.Request, message)
		return nil
	})
}

// Deadline implements [ui.Timed]: the grace period of the shown request or the hold of a decision is
// over then, or a page needs something.
func (p *Panel) Deadline() time.Time {
	at := p.Panel.Deadline()
	if page := p.pageDeadline(); at.IsZero() || !page.IsZero() && page.Before(at) {
		at = page
	}
	return at
}

// Due implements [ui.Timed]. It enables the keys of the shown request, and sends a held decision or
// reports why not.
func (p *Panel) Due() (cmd tea.Cmd, changed bool) {
	cmd = p.duePages()
	r, changed := p.Panel.Due()
	if r.Decide != nil {
		p.overlays.Remove(r.Close)
		cmd = tea.Batch(cmd, p.Decide(r))
	}
	if text := &p.Commands.Status.Text; r.Status != "" && r.Status != *text {
		*text = r.Status + ui.Prefixed(keymap.Separator, *text)
	}
	return cmd, changed
}

// SetFocus sets whether the panel has the focus.
func (p *Panel) SetFocus(focused bool) {
	switch {
	case !focused:
		p.LoseFocus()
	case !p.focused:
		p.TakeFocus()
	}
	p.focused = focused
}

// Typing reports whether a text field of the request has the keys.
func (p *Panel) Typing() bool { return p.focused && p.Panel.Typing() }

// ListsPlan reports whether the shown request lists the tasks of the plan.
func (p *Panel) ListsPlan() bool {
	r := p.Current()
	return r != nil && len(r.Tasks) > 0 && !p.Replica.Recorded
}

// Lines returns at most rows lines of the panel, and the cursor in them or nil.
func (p *Panel) Lines(width, rows int) ([]string, *tea.Cursor) {
	if p.Replica.Recorded {
		return nil, nil
	}
	return p.View(width, rows, p.focused)
}
