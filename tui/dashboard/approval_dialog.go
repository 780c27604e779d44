package dashboard

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/approval"
	"agentctl/tui/describe"
	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// approvalDialog decides the only request of a session that is not open. It fetches the request and
// shows it first.
type approvalDialog struct {
	styles   *ui.Styles
	requests *requester
	overlays *ui.Stack // stack that holds the dialog
	now      func() time.Time
	after    func(time.Duration, tea.Msg) tea.Cmd

	session      string
	name         string
	asked        *time.Time         // Asked of the session's summary
	approval     *protocol.Approval // nil until fetched
	form         *approval.Form
	guard        approval.Guard
	requestShown bool // the last View showed some of the request
	err          string
}

func (a *approvalDialog) Scope() keymap.Scope { return keymap.Sessions }
func (a *approvalDialog) FullScreen() bool    { return false }

// fetch requests the state of the session.
func (a *approvalDialog) fetch() tea.Cmd {
	result := new(protocol.SnapshotResult)
	return a.requests.do(a.session, protocol.DoSnapshot, protocol.Empty{}, result, func(err error) (tea.Cmd, any) {
		if !a.overlays.Contains(a) {
			return nil, nil
		}
		if err != nil {
			a.err = remote.ErrorText(err)
			return nil, nil
		}
		return a.applyState(result.Snapshot.State)
	})
}

// applyState shows the request in a state of the session. If there is none, it closes the dialog.
// If there are several, or one with tasks or questions, it opens the session.
func (a *approvalDialog) applyState(s *protocol.State) (tea.Cmd, any) {
	switch {
	case s == nil || len(s.Approvals) == 0:
		a.requests.status.Text = decidedElsewhere
		return nil, closeIntent{a, nil}
	case len(s.Approvals) > 1 || len(s.Approvals[0].Tasks) > 0 || len(s.Approvals[0].Questions) > 0:
		return nil, closeIntent{a, OpenIntent{a.session}}
	}
	a.approval = &s.Approvals[0]
	a.form = approval.NewForm(a.styles, a.approval)
	a.guard.Reset(a.now())
	return a.arm(), nil
}

// decidedElsewhere is the status message for a request that another client decided.
const decidedElsewhere = "it was decided meanwhile"

// arm makes the dialog accept keys after the grace period.
func (a *approvalDialog) arm() tea.Cmd {
	cmd, _ := a.guard.Arm(a.now(), a.after)
	return cmd
}

func (a *approvalDialog) Update(msg tea.Msg) ui.Response {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return a.press(msg.String())
	case tea.MouseWheelMsg:
		return ui.Response{Pass: true}
	case approval.GuardMsg:
		if msg.For(&a.guard) {
			msg.Wake()
			return ui.Response{Cmd: a.arm()}
		}
	case *protocol.Summary:
		if a.decided(msg) {
			if a.form == nil || a.form.Sending() == "" {
				a.requests.status.Text = decidedElsewhere
			}
			return ui.Response{Close: true}
		}
	}
	return ui.Response{}
}

// decided reports whether a summary of the session shows that the request is no longer pending.
func (a *approvalDialog) decided(s *protocol.Summary) bool {
	if s.Session != a.session {
		return false
	}
	same := s.Asked == a.asked || s.Asked != nil && a.asked != nil && s.Asked.Equal(*a.asked)
	return s.Deleted || s.Status != protocol.Waiting || !same
}

func (a *approvalDialog) press(key string) ui.Response {
	keys := a.styles.Keys
	action := keys.InList(keymap.Sessions, key)
	switch {
	case action == keymap.Back:
		return ui.Response{Close: true}
	case action == keymap.Choose:
		return ui.Response{Close: true, Intent: OpenIntent{a.session}}
	case a.approval == nil || a.form.Sending() != "":
	case keys.At(keymap.Approval, key) == keymap.ViewRequest:
		return ui.Response{Push: approval.NewRequestPager(a.styles, a.approval)}
	case !a.guard.Armed():
		a.guard.Touch(a.now())
	case action == keymap.AllowOnce && a.approval.Offers(protocol.AllowOnce) && !a.requestShown:
		return ui.Response{Push: approval.NewRequestPager(a.styles, a.approval)}
	case action == keymap.AllowOnce:
		return ui.Response{Cmd: a.decide(protocol.AllowOnce)}
	case action == keymap.Deny:
		return ui.Response{Cmd: a.decide(protocol.Deny)}
	}
	return ui.Response{}
}

// decide sends a decision of a kind.
func (a *approvalDialog) decide(kind protocol.Decision) tea.Cmd {
	a.err = ""
	data, ok := a.form.Begin(a.approval.Request, kind)
	if !ok {
		a.err = describe.NotOffered(a.approval, kind) + ": open the session to decide"
		return nil
	}
	return a.requests.do(a.session, protocol.DoApprove, data, nil, func(err error) (tea.Cmd, any) {
		switch {
		case !a.overlays.Contains(a):
			return a.requests.report(err)
		case err != nil:
			a.form.Failed()
			a.err = remote.ErrorText(err)
			return nil, nil
		}
		return nil, closeIntent{a, nil}
	})
}

// KeyHint returns the hint for the keys that work now.
func (a *approvalDialog) KeyHint() string {
	keys := a.styles.Keys
	switch {
	case a.approval == nil || a.form.Sending() != "":
		return keys.Hint(keymap.Back, "back")
	case !a.guard.Armed():
		return "a moment …"
	}
	var pairs []any
	if a.approval.Offers(protocol.AllowOnce) {
		pairs = append(pairs, keymap.AllowOnce, "allow once")
	}
	if a.approval.Offers(protocol.Deny) {
		pairs = append(pairs, keymap.Deny, "deny")
	}
	return keys.Hint(append(pairs, keymap.ViewRequest, "view all", keymap.Choose, "open", keymap.Back, "back")...)
}

func (a *approvalDialog) View(width, height int) ([]string, *tea.Cursor) {
	s := a.styles
	title := s.Warning.Render("approval") + " · " + a.name
	var request, footer []string
	var hidden int
	if r := a.approval; r != nil {
		title += " · " + ui.OneLine(transcript.Clean(r.Kind)) + approval.Asked(s, r)
		request, hidden = a.form.RequestLines(r, width, height)
	}
	switch {
	case a.err != "":
		footer = []string{s.Error.Render(ui.Fit("   "+ui.OneLine(transcript.Clean(a.err)), width))}
	case a.form != nil && a.form.Sending() != "":
		footer = []string{s.Warning.Render(ui.Fit("   sending: "+a.form.Sending()+" …", width))}
	}
	a.requestShown = true
	if room := max(height-1-len(footer), 0); hidden > 0 || len(request) > room {
		keep := min(max(room-1, 0), len(request))
		a.requestShown = keep > 0
		more := "   … " + ui.Count(hidden+len(request)-keep, "line") + " more: "
		more += s.Keys.Hint(keymap.ViewRequest, "view all")
		request = append(request[:keep:keep], s.Warning.Render(ui.Fit(more, width)))
	}
	out := slices.Concat([]string{s.Rule(title, width)}, request, footer)
	return out[:min(len(out), max(height, 0))], nil
}
