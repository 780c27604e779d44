package approval

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/ui"
)

// tooSoon is the status message for a key pressed within the grace period.
const tooSoon = "the request is new: press the key again in a moment"

// Panel shows the pending requests, one at a time, and lets the user decide them.
type Panel struct {
	styles  *ui.Styles
	request string // ID of the shown request, or ""
	guard   Guard
	offline bool // decisions wait for the connection
	forms   map[string]*Form

	// Set by View.
	rows     int  // lines of the form that were shown
	allShown bool // all of the form and some of the description, if any, were shown
}

// Result is the result of a key press. The owner of the panel carries it out.
type Result struct {
	Leave  bool                  // release the focus
	Focus  bool                  // take the focus
	Status string                // status message to show, or ""
	Push   ui.Overlay            // overlay to open, or nil
	Decide *protocol.ApproveData // send this decision, then call Decided
	Edit   *PatchToEdit          // open this patch in the user's editor
}

// PatchToEdit is a patch to open in the user's editor. Call Done with the edited text.
type PatchToEdit struct {
	Text string
	Done func(text string)
}

// NewPanel returns a panel without requests.
func NewPanel(s *ui.Styles) Panel {
	return Panel{styles: s, forms: map[string]*Form{}}
}

// Update sets the pending requests. live marks new ones as arriving now. Update reports whether it
// switched to another request; the owner must then call Arm.
func (p *Panel) Update(pending []protocol.Approval, now time.Time, live bool) (changed bool) {
	for request := range p.forms {
		if IndexOf(pending, request) < 0 {
			delete(p.forms, request)
		}
	}
	for i := range pending {
		if p.forms[pending[i].Request] == nil {
			f := NewForm(p.styles, &pending[i])
			if live {
				f.arrived = now
			}
			p.forms[pending[i].Request] = f
		}
	}
	if IndexOf(pending, p.request) >= 0 {
		return false
	}
	p.request = ""
	p.guard.armed = false
	if len(pending) > 0 {
		p.request = pending[0].Request
		p.guard.Reset(now)
		return true
	}
	return false
}

// Current returns the shown request and its form, or nil, nil.
func (p *Panel) Current(pending []protocol.Approval) (*protocol.Approval, *Form) {
	i := IndexOf(pending, p.request)
	if i < 0 {
		return nil, nil
	}
	return &pending[i], p.forms[p.request]
}

// IndexOf returns the index of a request ID, or -1.
func IndexOf(pending []protocol.Approval, request string) int {
	return slices.IndexFunc(pending, func(a protocol.Approval) bool { return a.Request == request })
}

// cycle shows the request by places after the shown one, cyclically.
func (p *Panel) cycle(pending []protocol.Approval, by int) {
	if n := len(pending); n > 0 {
		p.request = pending[(IndexOf(pending, p.request)+by+n)%n].Request
	}
}

// Press handles a key while the panel has the focus.
func (p *Panel) Press(pending []protocol.Approval, key string) Result {
	r, f := p.Current(pending)
	action := p.styles.Keys.InList(keymap.Approval, key)
	if action == keymap.Back || r == nil {
		return Result{Leave: true}
	}
	switch action {
	case keymap.ViewRequest:
		return Result{Push: NewRequestPager(p.styles, f.editedRequest(r))}
	case keymap.PreviousRequest:
		p.cycle(pending, -1)
		return Result{}
	case keymap.NextRequest:
		p.cycle(pending, 1)
		return Result{}
	}
	if !p.guard.Armed() {
		if action != keymap.Up && action != keymap.Down {
			return Result{Status: tooSoon}
		}
		return Result{}
	}
	if f.sending != "" {
		return Result{}
	}
	f.err = ""
	switch action {
	case keymap.Up:
		f.move(-1)
	case keymap.Down:
		f.move(1)
	case keymap.WriteReason:
		f.editReason()
	case keymap.EditRequest:
		return p.startEdit(r, f)
	case keymap.Choose:
		if p.rows == 0 {
			return Result{Status: "the window is too small to decide here"}
		}
		if o := f.enter(); o != nil {
			return p.decide(r, f, o)
		}
	default:
		if o := f.optionByNumber(key); o != nil {
			return p.pressNumber(r, f, o)
		}
	}
	return Result{}
}

// PressNumber handles the digit key of an option while the panel does not have the focus. handled
// is false for any other key.
func (p *Panel) PressNumber(pending []protocol.Approval, key string) (result Result, handled bool) {
	r, f := p.Current(pending)
	if r == nil {
		return Result{}, false
	}
	o := f.optionByNumber(key)
	if o == nil {
		return Result{}, false
	}
	return p.pressNumber(r, f, o), true
}

// pressNumber decides unless the guard blocks it. If the last View did not have room for the whole
// form, it only selects the option, so that the user never decides unseen.
func (p *Panel) pressNumber(r *protocol.Approval, f *Form, o *decisionOption) Result {
	switch {
	case !p.guard.Armed():
		return Result{Status: tooSoon}
	case p.allShown:
		return p.decide(r, f, o)
	}
	f.selectOption(o)
	return Result{Focus: true, Status: p.styles.Keys.Hint(keymap.Choose, "decides")}
}

// decide returns the decision to send. It returns an empty result while another one is being sent.
// A decision without the reason that it needs takes the focus instead, to ask for it.
func (p *Panel) decide(r *protocol.Approval, f *Form, o *decisionOption) Result {
	if f.sending != "" {
		return Result{}
	}
	if f.askReason(o) {
		return Result{Focus: true}
	}
	data, ok := f.beginOption(r.Request, o)
	if !ok {
		return Result{}
	}
	return Result{Decide: &data}
}

// Decided records the response to a decision. message is the error message, or "" if the decision
// was accepted.
func (p *Panel) Decided(request, message string) {
	if f := p.forms[request]; f != nil {
		f.sending = ""
		if message != "" {
			f.err = message
		}
	}
}

// Sending reports whether a decision on a request is being sent from this panel. known is false if
// the request is not pending.
func (p *Panel) Sending(request string) (sending, known bool) {
	f := p.forms[request]
	return f != nil && f.sending != "", f != nil
}

// startEdit edits the title of the selected task, or opens the patch in the user's editor.
func (p *Panel) startEdit(r *protocol.Approval, f *Form) Result {
	switch row := f.rows[f.selected]; {
	case row.kind == rowTask:
		f.startEdit(f.plan.title(row.index))
		return Result{}
	case r.Patch != "" && !r.Editable:
		return Result{Status: "this agent takes no edited patch: deny with a reason instead"}
	case r.Patch != "":
		request, patch := r.Request, r.Patch
		return Result{Edit: &PatchToEdit{f.currentPatch(r), func(text string) {
			if f := p.forms[request]; f != nil {
				f.setPatch(patch, text)
			}
		}}}
	case len(r.Tasks) > 0:
		return Result{Status: "select a task to edit it"}
	}
	return Result{Status: "this request has nothing to edit"}
}

// editable reports whether the user can change a request before allowing it.
func editable(r *protocol.Approval) bool { return r.Editable && r.Patch != "" || len(r.Tasks) > 0 }

// Typing reports whether a text row of the shown request is being edited.
func (p *Panel) Typing(pending []protocol.Approval) bool {
	_, f := p.Current(pending)
	return f != nil && f.Typing()
}

// PressTyping handles a key while a text row is edited.
func (p *Panel) PressTyping(pending []protocol.Approval, msg tea.KeyPressMsg) Result {
	r, f := p.Current(pending)
	if f == nil || !f.Typing() {
		return Result{}
	}
	o := f.pressTyping(msg)
	switch {
	case o == nil:
		return Result{}
	case f.reason == "":
		f.err = "not sent: a new plan needs a reason"
		return Result{}
	}
	return p.decide(r, f, o)
}

// Paste inserts text into the edited text row, if any.
func (p *Panel) Paste(pending []protocol.Approval, text string) {
	if _, f := p.Current(pending); f != nil && f.Typing() {
		ui.PasteText(f.input, text)
	}
}

// Visible reports whether the panel shows a request.
func (p *Panel) Visible() bool { return p.request != "" }

// SetOffline sets whether decisions wait for the connection.
func (p *Panel) SetOffline(offline bool) { p.offline = offline }

// Touch restarts the grace period after a key press; see Guard.Touch.
func (p *Panel) Touch(now time.Time) { p.guard.Touch(now) }

// Arm makes the shown request accept keys after the grace period; see Guard.Arm.
func (p *Panel) Arm(now time.Time, after func(time.Duration, tea.Msg) tea.Cmd) (cmd tea.Cmd, armed bool) {
	if p.request == "" {
		return nil, false
	}
	return p.guard.Arm(now, after)
}
