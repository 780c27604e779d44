package approval

import (
	"cmp"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/keymap"
	"agentctl/tui/ui"
)

// Status messages of keys that decide nothing.
const (
	notChosen = "choose first: a number or ↑↓"
	tooSmall  = "the window is too small to decide here"
)

// decider turns keys and clicks on the form of a request into a decision: no sooner than its guard
// allows it, and an allowing one only after all of the request was on the screen. The guard holds the
// decision of a key, not of a click, which is the second one.
type decider struct {
	styles  *ui.Styles
	guard   Guard
	drawn   int  // lines of the form in the last drawing
	offline bool // decisions wait for the connection
}

// rearm blocks decisions for the grace period after the next drawing.
func (d *decider) rearm() { d.guard.Change(d.styles.Now()) }

// press handles a key while no text row is edited. action is the action of the key, or "".
func (d *decider) press(r *protocol.Approval, f *Form, key string, action keymap.Action) Result {
	switch {
	case f.sending != "":
		return Result{}
	case f.awaits.always != nil:
		return d.confirmAlways(f, action)
	}
	f.err = ""
	switch action {
	case keymap.Up:
		f.rows.move(-1)
	case keymap.Down:
		f.rows.move(1)
	case keymap.First:
		f.rows.move(-len(f.rows.all))
	case keymap.Last:
		f.rows.move(len(f.rows.all))
	case "":
		f.choose(key)
	case keymap.WriteReason: // without the guard: the keys that follow are its text
		f.editReason()
	case keymap.Allow, keymap.AllowAlways, keymap.DenyRequest, keymap.Choose, keymap.Edit, keymap.Open:
		if refusal := d.guard.Refusal(); refusal != "" {
			if action == keymap.Edit {
				d.rearm() // the keys that follow may be a text
			}
			return Result{Status: refusal}
		}
		return d.hold(f, d.act(r, f, action))
	}
	return Result{}
}

// act carries out an action that may decide: it returns the option to take. The guard must be ready.
func (d *decider) act(r *protocol.Approval, f *Form, action keymap.Action) Result {
	switch action {
	case keymap.Edit:
		result := d.startEdit(r, f)
		if result.Status != "" {
			d.rearm() // the keys that follow may be a text
		}
		return result
	case keymap.Open:
		return d.openPage(r, f)
	case keymap.Allow:
		return d.decideKind(r, f, protocol.AllowOnce)
	case keymap.AllowAlways:
		return d.decideKind(r, f, protocol.AllowAlways)
	case keymap.DenyRequest:
		return d.decideKind(r, f, protocol.Deny)
	case keymap.Choose:
		switch {
		case f.rows.selected < 0:
			return Result{Status: notChosen}
		case d.drawn == 0:
			return Result{Status: tooSmall}
		}
		if o := f.enter(); o != nil {
			return d.decide(f, o)
		}
	}
	return Result{}
}

// mark marks the lines of a request. While it is new, a click acts on nothing.
func (d *decider) mark(lines []string) []string {
	keys := d.styles.Keys
	for i, line := range lines {
		if until := d.guard.New(); i == 0 && !until.IsZero() {
			line = keys.MarkNew(until, line)
		}
		lines[i] = keys.MarkRow(Rows, -1, line)
	}
	return lines
}

// point handles the mouse on a row of the form. The wheel and the first click on a row select one. A
// click on the selected row does what the key does that confirms it, under the same guard. What a key must
// confirm, no click does.
func (d *decider) point(r *protocol.Approval, f *Form, msg ui.RowMsg) Result {
	confirm := keymap.Choose
	if msg.List == PageRows {
		confirm = keymap.Open
	}
	switch {
	case f.sending != "" || f.Typing() || f.awaits.always != nil || msg.Row < 0 || msg.Row >= len(f.rows.all):
		return Result{}
	case msg.Wheel != 0:
		f.rows.move(cmp.Compare(msg.Wheel, 0))
		return Result{}
	case msg.Row != f.rows.selected:
		f.rows.selected, f.err = msg.Row, ""
		return Result{}
	case d.guard.Refusal() != "":
		return Result{Status: d.guard.Refusal()}
	}
	f.err = ""
	return d.take(f, d.act(r, f, confirm))
}

// take sends the option of a result, if any.
func (d *decider) take(f *Form, result Result) Result {
	if result.option == nil {
		return result
	}
	data := f.send(result.option)
	f.awaits.always = nil
	return Result{Decide: &data, Open: result.Open}
}

// hold is take for a result of a key.
func (d *decider) hold(f *Form, result Result) Result {
	if result.option == nil {
		return result
	}
	d.guard.Hold(func() Result { return d.take(f, result) })
	return Result{}
}

// decideKind takes the first option of a kind.
func (d *decider) decideKind(r *protocol.Approval, f *Form, kind protocol.Decision) Result {
	o := f.options.ofKind(kind)
	if o == nil {
		return Result{Status: describe.NotOffered(r, kind)}
	}
	return d.decide(f, o)
}

// decide returns the option to take, or asks for what it lacks first: the rest of a request that
// was not on the screen, the confirmation of a lasting decision, a reason, or answers.
func (d *decider) decide(f *Form, o *decisionOption) Result {
	switch {
	case f.sending != "":
		return Result{}
	case o.Kind == protocol.AllowAlways && f.edit.sends() && f.edit.command:
		f.awaits.always = nil
		return Result{Status: "an edited command cannot be allowed always: allow it once"}
	case o.Kind == protocol.AllowAlways && f.awaits.always == nil && f.card.complete(formRow{}):
		f.awaits.always = o
		return Result{}
	case o.allows() && !f.card.complete(o.row):
		return Result{unseen: true}
	case f.askReason(o):
		return Result{Focus: true}
	case !f.check(o):
		return Result{}
	}
	return Result{option: o}
}

// confirmAlways handles a key while a lasting decision waits for its confirmation. Only the key
// that allows confirms it.
func (d *decider) confirmAlways(f *Form, action keymap.Action) Result {
	switch {
	case action != keymap.Allow:
		f.awaits.always = nil
		return Result{}
	case d.guard.Refusal() != "":
		return Result{Status: d.guard.Refusal()}
	}
	return d.hold(f, d.decide(f, f.awaits.always))
}

// pressTyping handles a key while a text row is edited.
func (d *decider) pressTyping(r *protocol.Approval, f *Form, msg tea.KeyPressMsg) Result {
	if f.edit.field != nil {
		return d.pressCommand(r, f, msg)
	}
	if !ui.Writes(msg) && d.styles.Keys.At(keymap.Global, msg.String()) == keymap.OpenEditor {
		if f.input.Masked() {
			return Result{Status: "a secret is written here, not in an editor"}
		}
		intent := f.input.Press(msg).Intent.(ui.EditIntent)
		intent.Returned = d.rearm
		return Result{Edit: &intent}
	}
	if f.awaits.reason != nil && msg.String() == "enter" && !d.guard.armed {
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
	return d.hold(f, d.decide(f, o))
}

// pressCommand handles a key while the command is edited. Enter and tab keep the edited command:
// the card shows it before a key decides. Esc discards the edit.
func (d *decider) pressCommand(r *protocol.Approval, f *Form, msg tea.KeyPressMsg) Result {
	field, key := f.edit.field, msg.String()
	switch {
	case key == "enter" || key == "tab":
		f.edit.field = nil
		f.setEdited(r.Command, field.Text())
		d.rearm()
	case key == "esc":
		f.edit.field = nil
	case d.styles.Keys.At(keymap.Global, key) == keymap.OpenEditor:
		f.edit.field = nil
		return Result{Edit: d.editIntent(r, f, field.Text())}
	default:
		field.Press(msg)
	}
	return Result{}
}

// startEdit edits the title of the selected task or the command, or opens the patch in the user's
// editor.
func (d *decider) startEdit(r *protocol.Approval, f *Form) Result {
	switch row := f.rows.current(); {
	case row.kind == rowTask:
		f.startEdit(f.plan.title(row.index))
		return Result{}
	case editableCommand(r):
		if f.edit.start(r) {
			return Result{}
		}
		return Result{Edit: d.editIntent(r, f, f.edit.current(r))}
	case r.Kind == protocol.ApproveCommand && r.Command != "":
		return Result{Status: "this agent takes no edited command: deny with a reason instead"}
	case r.Patch != "" && !r.Editable:
		return Result{Status: "this agent takes no edited patch: deny with a reason instead"}
	case r.Patch != "":
		return Result{Edit: d.editIntent(r, f, f.edit.current(r))}
	case len(r.Tasks) > 0:
		return Result{Status: "select a task to edit it"}
	}
	return Result{Status: "this request has nothing to edit"}
}

// editIntent returns a text of a request for the user's editor. A key that was meant for the editor
// and comes after its end decides nothing.
func (d *decider) editIntent(r *protocol.Approval, f *Form, text string) *ui.EditIntent {
	requested, extension := r.Patch, "diff"
	if editableCommand(r) {
		requested, extension = r.Command, "sh"
	}
	return &ui.EditIntent{Extension: extension, Text: text, Returned: d.rearm, Done: func(text string) {
		if f.sending == "" {
			f.setEdited(requested, text)
		}
	}}
}
