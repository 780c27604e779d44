package dashboard

import (
	"cmp"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/approval"
	"agentctl/tui/keymap"
	"agentctl/tui/palette"
	"agentctl/tui/remote"
	"agentctl/tui/ui"
)

// approvalDialog decides the requests of a session that is not open. It fetches them and shows them in
// a panel, as the screen of the session does.
type approvalDialog struct {
	*approvals
	session string
	asked   *time.Time          // Asked of the session's summary when pending was fetched
	count   int                 // Approvals of that summary
	pending []protocol.Approval // nil until fetched
	panel   approval.Panel
	review  *requestOverlay // of the panel, the last one; nil: none

	directory string // of the session
	message   string // of the last key or error
	explain   bool   // an explanation was asked for, and has not been shown
	gone      bool   // the request was decided elsewhere while the user typed
}

func (a *approvalDialog) Scope() keymap.Scope { return keymap.Approval }
func (a *approvalDialog) FullScreen() bool    { return false }

// fetch requests the state of the session.
func (a *approvalDialog) fetch() tea.Cmd {
	result := new(protocol.SnapshotResult)
	return a.do(a.session, protocol.DoSnapshot, protocol.Empty{}, result, func(err error) tea.Cmd {
		switch {
		case !a.overlays.Contains(a):
		case err != nil:
			a.message = remote.ErrorText(err)
		default:
			a.applyState(result.Snapshot.State)
		}
		return nil
	})
}

// applyState shows the requests in a state of the session. Without a request it closes the dialog. If
// one asks to open a page, it opens the session. While the user types about a request that was removed,
// nothing changes: the keys would act on another one.
func (a *approvalDialog) applyState(s *protocol.State) {
	var pending []protocol.Approval
	if s != nil {
		pending = s.Approvals
	}
	isPage := func(r protocol.Approval) bool { return r.Page != nil }
	shown := a.panel.Current()
	switch {
	case a.typing() && shown != nil && approval.IndexOf(pending, shown.Request) < 0:
		a.gone = true
	case len(pending) == 0:
		a.walk.replaced = a.walk.active() && len(a.pending) > 0
		a.close()
		a.requester.close(a, nil)
	case slices.ContainsFunc(pending, isPage):
		a.requester.close(a, OpenIntent{a.session})
	default:
		a.show(pending, s.CWD)
	}
}

// show shows requests in the directory dir, and where the text about a removed one is.
func (a *approvalDialog) show(pending []protocol.Approval, dir string) {
	a.explain = a.explain && !slices.ContainsFunc(pending, func(r protocol.Approval) bool { return len(r.Explained) > 0 })
	a.pending, a.directory = pending, dir
	if where := a.updatePanel(pending, dir); where != "" {
		a.Status.Text = where
	}
}

// updatePanel sets the requests of the panel. It adds what was written about a removed one to the
// unsent message of the session and returns where that is, or "" without a text.
func (a *approvalDialog) updatePanel(pending []protocol.Approval, dir string) (where string) {
	a.panel.SetPending(pending, dir, false)
	text := a.panel.TakeUnsent().Text
	s, ok := a.list.Get(a.session)
	if !ok || text == "" {
		return ""
	}
	a.open.KeepText(a.session, text)
	return "your text is in the message box of " + sessionName(&s)
}

// decidedElsewhere is the status message for a request that another client decided.
const decidedElsewhere = "it was decided elsewhere"

// Deadline implements [ui.Timed]: the grace period of the request or the hold of a decision is over
// then.
func (a *approvalDialog) Deadline() time.Time { return a.panel.Deadline() }

// Due implements [ui.Timed]. It makes the dialog accept a decision, and sends a held one or shows why
// not.
func (a *approvalDialog) Due() (cmd tea.Cmd, changed bool) {
	r, changed := a.panel.Due()
	switch {
	case r.Decide != nil:
		a.overlays.Remove(a.review)
		cmd = a.send(*r.Decide)
	case r.Status != "":
		a.message = r.Status
	}
	return cmd, changed
}

func (a *approvalDialog) Update(msg tea.Msg) ui.Response {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		if a.gone && endsText(msg.String()) {
			return a.close()
		}
		r := a.press(msg)
		cmd, _ := a.Due() // the key may have cancelled a decision
		if r.Cmd = tea.Batch(r.Cmd, cmd); r.Close {
			a.Status.Text = cmp.Or(a.message, a.Status.Text)
		}
		return r
	case tea.PasteMsg:
		a.panel.Paste(msg.Content)
	case ui.RowMsg:
		if msg.List == approval.Rows || msg.List == approval.PageRows {
			a.panel.Touch()
			return a.apply(a.panel.Point(msg))
		}
	case *protocol.Summary:
		if msg.Session != a.session || !a.decided(msg) && !a.explain {
			break
		}
		if msg.Deleted || msg.Status != protocol.Waiting {
			a.walk.replaced = a.walk.active() && !a.sending()
			if a.gone = a.typing(); a.gone { // else the keys would act on the list
				break
			}
			return a.close()
		}
		a.asked, a.count = msg.Asked, msg.Approvals
		return ui.Response{Cmd: a.fetch()}
	}
	return ui.Response{}
}

// close closes the dialog of a removed request and keeps what was written, unless it is being
// sent.
func (a *approvalDialog) close() ui.Response {
	if !a.sending() {
		a.keepText(decidedElsewhere)
	}
	return ui.Response{Close: true}
}

// keepText keeps what was written, and shows where after the reason.
func (a *approvalDialog) keepText(reason string) {
	a.Status.Text = reason + ui.Prefixed(keymap.Separator, a.updatePanel(nil, ""))
}

// typing reports whether a text field of the dialog, or of the review above it, has the keys.
func (a *approvalDialog) typing() bool {
	if o, ok := a.overlays.Top().(*requestOverlay); ok && o.dialog == a {
		field, ok := o.Overlay.(interface{ Typing() bool })
		return ok && field.Typing()
	}
	return a.panel.Typing()
}

// decided reports whether a summary of the session shows other requests than the dialog.
func (a *approvalDialog) decided(s *protocol.Summary) bool {
	if s.Session != a.session {
		return false
	}
	same := s.Asked == a.asked || s.Asked != nil && a.asked != nil && s.Asked.Equal(*a.asked)
	return s.Deleted || s.Status != protocol.Waiting || !same || s.Approvals != a.count
}

// sending reports whether a decision is being sent.
func (a *approvalDialog) sending() bool {
	return slices.ContainsFunc(a.pending, func(r protocol.Approval) bool {
		sending, _ := a.panel.Sending(r.Request)
		return sending
	})
}

// press handles a key. A text field takes every key, then the panel all but the key that opens the
// session.
func (a *approvalDialog) press(msg tea.KeyPressMsg) ui.Response {
	a.message = ""
	if a.panel.Typing() {
		return a.apply(a.panel.Press(msg))
	}
	key := msg.String()
	action, skip := a.styles.Keys.InList(keymap.Sessions, key), ui.Response{Close: true} // the next one comes
	switch next := a.styles.Keys.At(keymap.Global, key) == keymap.NextPending; {
	case action == keymap.Open:
		skip.Intent = OpenIntent{a.session}
	case next && !a.walk.active():
		skip.Intent = palette.Command{Action: keymap.NextPending}
	case next:
		a.walk.skipped = true
	case action == keymap.MarkSession && a.skips():
	default:
		return a.apply(a.panel.Press(msg))
	}
	a.keepLeft(a)
	return skip
}

// skips reports whether the key that marks a session skips its requests: in a walk, unless it chooses an
// answer or a task.
func (a *approvalDialog) skips() bool {
	r := a.panel.Current()
	return a.walk.active() && (r == nil || r.Kind != protocol.ApproveQuestion && len(r.Tasks) == 0)
}

// apply carries out a result of the panel.
func (a *approvalDialog) apply(r approval.Result) ui.Response {
	a.message = r.Status
	out := ui.Response{Close: r.Leave}
	if r.Leave {
		a.keepLeft(a)
		out.Intent = leaveIntent{}
	}
	switch {
	case r.Push != nil:
		a.review = &requestOverlay{r.Push, a}
		out.Push = a.review
	case r.Decide != nil:
		out.Cmd = a.send(*r.Decide)
	case r.Edit != nil && r.Edit.Extension == "":
		out.Intent = *r.Edit
	case r.Edit != nil:
		a.message = "open the session to edit this in your editor"
	}
	return out
}

// send sends a decision.
func (a *approvalDialog) send(data protocol.ApproveData) tea.Cmd {
	return a.do(a.session, protocol.DoApprove, data, nil, func(err error) tea.Cmd {
		if err == nil {
			return a.accepted(&data)
		}
		a.panel.Decided(data.Request, remote.ErrorText(err))
		if !a.overlays.Contains(a) {
			a.keepText(remote.ErrorText(err))
		}
		return nil
	})
}

// accepted shows the requests that are left after a decision. After the last one it closes the dialog.
func (a *approvalDialog) accepted(data *protocol.ApproveData) tea.Cmd {
	rest := slices.DeleteFunc(slices.Clone(a.pending), func(r protocol.Approval) bool { return r.Request == data.Request })
	switch {
	case data.Decision == protocol.Explain:
		a.panel.Decided(data.Request, "")
		a.explain = true
		return a.fetch()
	case len(rest) == 0 || !a.overlays.Contains(a):
		a.requester.close(a, nil)
		return nil
	}
	a.panel.Decided(data.Request, "")
	a.show(rest, a.directory)
	a.asked, a.count = &rest[0].Asked, len(rest)
	return nil
}

// endsText reports whether a key ends the text of a removed request.
func endsText(key string) bool { return key == "enter" || key == "esc" || key == "tab" }

// KeyHint returns the message of the last key, or the keys beside those of the panel: none while a
// text is written.
func (a *approvalDialog) KeyHint() string {
	if a.gone {
		return decidedElsewhere + keymap.Separator + a.styles.Keys.Hint(keymap.Back, "closes, the text is kept")
	}
	if a.message != "" && len(a.pending) > 0 {
		return a.message
	}
	if a.panel.Typing() {
		return "" // the panel names the keys of the text
	}
	hint := a.styles.Keys.Hint(keymap.Open, "open the session", keymap.Back, "back")
	if place := a.walk.place(); place != "" {
		skip := keymap.NextPending
		if a.skips() {
			skip = keymap.MarkSession
		}
		hint = place + ui.Prefixed(keymap.Separator, a.styles.Keys.Hint(skip, "skip")) + keymap.Separator + hint
	}
	return hint
}

func (a *approvalDialog) View(width, height int) ([]string, *tea.Cursor) {
	if len(a.pending) > 0 {
		lines, cursor := a.panel.View(width, height, true)
		return lines, cursor
	}
	lines := []string{a.styles.Rule(a.styles.Warning.Render("approval"), width)}
	if a.message != "" {
		lines = append(lines, a.styles.Error.Render(ui.Fit("   "+format.JoinLines(a.message), width)))
	}
	return lines[:min(len(lines), max(height, 0))], nil
}
