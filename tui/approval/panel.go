package approval

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/keymap"
	"agentctl/tui/ui"
)

// Status messages of keys that decide nothing.
const (
	tooSoon   = "not decided: the request is new, press the key again in a moment"
	notChosen = "choose first: a number or ↑↓"
	tooSmall  = "the window is too small to decide here"
)

// Panel shows the pending requests, one at a time, and lets the user decide them.
type Panel struct {
	styles  *ui.Styles
	name    string // of the session, or ""; part of the title
	request string // ID of the shown request, or ""
	guard   Guard
	offline bool // decisions wait for the connection
	open    bool // the frame has no sides
	forms   map[string]*Form
	pending []protocol.Approval // of the last Update
	unsent  Unsent
	sent    map[string]*Form // of removed requests, until their decision has its answer

	rows  int        // lines of the form that the last View showed
	lines []formLine // by line of the last View; without a row: none of the form
}

// Result is the result of a key press. The owner of the panel carries it out.
type Result struct {
	Leave  bool                  // release the focus
	Focus  bool                  // take the focus
	Status string                // status message to show, or ""
	Push   ui.Overlay            // overlay to open, or nil
	Decide *protocol.ApproveData // send this decision, then call Decided
	Edit   *ui.EditIntent        // open this text in the user's editor
}

// NewPanel returns a panel without requests. name is the name of the session, or "" if the screen
// shows it elsewhere.
func NewPanel(s *ui.Styles, name string) Panel {
	return Panel{styles: s, name: name, forms: map[string]*Form{}, sent: map[string]*Form{}}
}

// Update sets the pending requests of a session with the directory dir. live marks new ones as
// arriving now. The owner calls Arm at the deadline of the panel.
func (p *Panel) Update(pending []protocol.Approval, dir string, now time.Time, live bool) {
	p.pending = pending
	for request := range p.forms {
		if IndexOf(pending, request) < 0 {
			p.remove(request)
		}
	}
	for i := range pending {
		if p.forms[pending[i].Request] == nil {
			f := NewForm(p.styles, &pending[i])
			f.card.directory = dir
			if live {
				f.arrived = now
			}
			p.forms[pending[i].Request] = f
		}
	}
	if IndexOf(pending, p.request) >= 0 {
		return
	}
	p.request = ""
	p.guard.Rearm(now)
	if len(pending) > 0 {
		p.request = pending[0].Request
		p.guard.Reset(now)
	}
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

// cycle shows the request by places after the shown one, cyclically. A key that follows directly
// decides nothing.
func (p *Panel) cycle(pending []protocol.Approval, by int) {
	if n := len(pending); n > 1 {
		p.request = pending[(IndexOf(pending, p.request)+by+n)%n].Request
		p.rearm()
	}
}

// Press handles a key while the panel has the focus and no text row is edited. The owner must call
// Touch before.
func (p *Panel) Press(pending []protocol.Approval, key string) Result {
	r, f := p.Current(pending)
	if r == nil {
		return Result{Leave: true}
	}
	action := p.styles.Keys.InList(keymap.Approval, key)
	switch action {
	case keymap.Back:
		leave := f.awaits.always == nil
		f.awaits.always = nil
		return Result{Leave: leave}
	case keymap.ViewRequest:
		return Result{Push: p.view(f, r, "")}
	case keymap.PreviousRequest:
		p.cycle(pending, -1)
		return Result{}
	case keymap.NextRequest:
		p.cycle(pending, 1)
		return Result{}
	}
	if f.sending != "" {
		return Result{}
	}
	if f.awaits.always != nil {
		return p.confirmAlways(r, f, action)
	}
	f.err = ""
	switch action {
	case keymap.Up:
		f.move(-1)
	case keymap.Down:
		f.move(1)
	case keymap.First:
		f.move(-len(f.rows))
	case keymap.Last:
		f.move(len(f.rows))
	case "":
		p.choose(f, key)
	case keymap.WriteReason: // without the guard: the keys that follow are its text
		f.editReason()
	default:
		if !p.guard.Ready() {
			if action == keymap.EditRequest {
				p.rearm() // the keys that follow may be a text
			}
			return Result{Status: tooSoon}
		}
		return p.act(r, f, action)
	}
	return Result{}
}

// act carries out an action that may decide.
func (p *Panel) act(r *protocol.Approval, f *Form, action keymap.Action) Result {
	switch action {
	case keymap.EditRequest:
		result := p.startEdit(r, f)
		if result.Status != "" {
			p.rearm() // the keys that follow may be a text
		}
		return result
	case keymap.Allow:
		return p.decideKind(r, f, protocol.AllowOnce)
	case keymap.AllowAlways:
		return p.decideKind(r, f, protocol.AllowAlways)
	case keymap.DenyRequest:
		return p.decideKind(r, f, protocol.Deny)
	case keymap.Choose:
		switch {
		case f.selected < 0:
			return Result{Status: notChosen}
		case p.rows == 0:
			return Result{Status: tooSmall}
		}
		if o := f.enter(); o != nil {
			return p.decide(r, f, o)
		}
	}
	return Result{}
}

// choose selects the row of a digit key.
func (p *Panel) choose(f *Form, key string) bool {
	return isDigit(key) && f.choose(int(key[0]-'0'))
}

// isDigit reports whether a key chooses a row.
func isDigit(key string) bool { return len(key) == 1 && key[0] >= '1' && key[0] <= '9' }

// PressChord handles a digit key with alt while another part has the focus. It takes the focus and
// selects the row of the digit. handled is false for any other key.
func (p *Panel) PressChord(pending []protocol.Approval, key string) (result Result, handled bool) {
	digit, isChord := strings.CutPrefix(key, "alt+")
	_, f := p.Current(pending)
	if f == nil || !isChord || f.sending != "" || f.Typing() || !p.choose(f, digit) {
		return Result{}, false
	}
	f.awaits.always = nil
	return Result{Focus: true}, true
}

// decideKind takes the first option of a kind.
func (p *Panel) decideKind(r *protocol.Approval, f *Form, kind protocol.Decision) Result {
	o := f.optionOfKind(kind)
	if o == nil {
		return Result{Status: describe.NotOffered(r, kind)}
	}
	return p.decide(r, f, o)
}

// decide returns the decision to send, or asks for what it lacks first: the rest of a request that
// was not on the screen, the confirmation of a lasting decision, or a reason.
func (p *Panel) decide(r *protocol.Approval, f *Form, o *decisionOption) Result {
	switch {
	case f.sending != "":
		return Result{}
	case o.Kind == protocol.AllowAlways && f.edit.sends() && f.edit.command:
		f.awaits.always = nil
		return Result{Status: "an edited command cannot be allowed always: allow it once"}
	case o.Kind == protocol.AllowAlways && f.awaits.always == nil && f.card.complete(formRow{}):
		f.awaits.always = o
		return Result{}
	case o.allows() && !f.card.complete(f.rowOf(o)):
		return Result{Push: p.view(f, r, "not decided: view it to its end first")}
	case f.askReason(o):
		return Result{Focus: true}
	}
	data, ok := f.beginOption(r.Request, o)
	if !ok {
		return Result{}
	}
	f.awaits.always = nil
	return Result{Decide: &data}
}

// confirmAlways handles a key while a lasting decision waits for its confirmation. Only the key
// that allows confirms it.
func (p *Panel) confirmAlways(r *protocol.Approval, f *Form, action keymap.Action) Result {
	switch {
	case action != keymap.Allow:
		f.awaits.always = nil
		return Result{}
	case !p.guard.Ready():
		return Result{Status: tooSoon}
	}
	return p.decide(r, f, f.awaits.always)
}

// Decided records the response to a decision. message is the error message, or "" if the decision
// was accepted. Its texts are gone then, unless the request only gets an explanation. If the request
// was removed before the response, TakeUnsent returns what is left.
func (p *Panel) Decided(request, message string) {
	if f := p.sent[request]; f != nil {
		delete(p.sent, request)
		f.decided(message)
		p.unsent.add(f.text())
	} else if f := p.forms[request]; f != nil {
		f.decided(message)
	}
}

// Sending reports whether a decision on a request is being sent from this panel. known is false if
// the request is not pending.
func (p *Panel) Sending(request string) (sending, known bool) {
	f := p.forms[request]
	return f != nil && f.sending != "", f != nil
}

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
	if f.edit.field != nil {
		return p.pressCommand(r, f, msg)
	}
	if edit, ok := f.input.Edit(msg, nil); ok {
		intent := edit.Intent.(ui.EditIntent)
		intent.Returned = p.rearm
		return Result{Edit: &intent}
	}
	if f.awaits.reason != nil && msg.String() == "enter" && !p.guard.Armed() {
		return Result{Status: tooSoon}
	}
	o := f.pressTyping(msg)
	switch {
	case o == nil:
		return Result{}
	case f.reason.text == "":
		f.err = "not sent: a new plan needs a reason"
		return Result{}
	}
	return p.decide(r, f, o)
}

// Paste inserts text into the edited text row, if any.
func (p *Panel) Paste(pending []protocol.Approval, text string) {
	switch _, f := p.Current(pending); {
	case f == nil:
	case f.edit.field != nil:
		f.edit.field.Paste(text)
	case f.input != nil:
		f.input.Paste(text)
	}
}

// Visible reports whether the panel shows a request.
func (p *Panel) Visible() bool { return p.request != "" }

// SetOffline sets whether decisions wait for the connection.
func (p *Panel) SetOffline(offline bool) { p.offline = offline }

// Reopen blocks the decision of a request that appears again, as of a new one.
func (p *Panel) Reopen(now time.Time) {
	p.guard = Guard{}
	p.guard.Reset(now)
}

// TakeFocus records that the panel gets the focus. A key that follows directly decides nothing.
func (p *Panel) TakeFocus() {
	p.guard.keys++
	p.rearm()
}

// rearm blocks decisions for the grace period from now.
func (p *Panel) rearm() { p.guard.Rearm(p.styles.Now()) }

// Touch records a key press; see Guard.Touch.
func (p *Panel) Touch(now time.Time) { p.guard.Touch(now) }

// Deadline returns the time to call Arm, or zero; see Guard.Deadline.
func (p *Panel) Deadline() time.Time {
	if p.request == "" {
		return time.Time{}
	}
	return p.guard.Deadline()
}

// Arm makes the shown request accept a decision after the grace period; see Guard.Arm.
func (p *Panel) Arm(now time.Time) (armed bool) { return p.request != "" && p.guard.Arm(now) }
