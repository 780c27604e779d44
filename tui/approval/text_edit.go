package approval

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/composer"
	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// textEdit holds the user's edit of the command or the patch of a request.
type textEdit struct {
	command bool               // the text is a command, else a patch
	text    *string            // nil if not edited
	enabled bool               // send text in place of the requested one
	field   *composer.Composer // the command while it is edited, or nil
	cursor  tea.Cursor         // of the field in the lines of the last view
}

// sends reports whether a decision that allows carries the edited text.
func (e *textEdit) sends() bool { return e.text != nil && e.enabled }

// input returns the edit as input of a decision, or nil.
func (e *textEdit) input() *protocol.ApprovalInput {
	switch {
	case !e.sends():
		return nil
	case e.command:
		return &protocol.ApprovalInput{Command: *e.text}
	}
	return &protocol.ApprovalInput{Patch: *e.text}
}

// editable reports whether the user can change a request before allowing it.
func editable(r *protocol.Approval) bool {
	return r.Editable && (r.Patch != "" || editableCommand(r)) || len(r.Tasks) > 0
}

// editableCommand reports whether the user can change the command of a request.
func editableCommand(r *protocol.Approval) bool {
	return r.Editable && r.Kind == protocol.ApproveCommand && r.Command != "" && r.Patch == ""
}

// startEdit edits the title of the selected task or the command, or opens the patch in the user's
// editor.
func (p *Panel) startEdit(r *protocol.Approval, f *Form) Result {
	switch {
	case f.selected >= 0 && f.rows[f.selected].kind == rowTask:
		f.startEdit(f.plan.title(f.rows[f.selected].index))
		return Result{}
	case editableCommand(r):
		if f.startCommand(r) {
			return Result{}
		}
		return Result{Edit: p.textToEdit(r, f.currentText(r))}
	case r.Kind == protocol.ApproveCommand && r.Command != "":
		return Result{Status: "this agent takes no edited command: deny with a reason instead"}
	case r.Patch != "" && !r.Editable:
		return Result{Status: "this agent takes no edited patch: deny with a reason instead"}
	case r.Patch != "":
		return Result{Edit: p.textToEdit(r, f.currentText(r))}
	case len(r.Tasks) > 0:
		return Result{Status: "select a task to edit it"}
	}
	return Result{Status: "this request has nothing to edit"}
}

// textToEdit returns a text of a request for the user's editor.
func (p *Panel) textToEdit(r *protocol.Approval, text string) *ui.EditIntent {
	request, requested, extension := r.Request, r.Patch, "diff"
	if editableCommand(r) {
		requested, extension = r.Command, "sh"
	}
	return &ui.EditIntent{Extension: extension, Text: text, Returned: p.rearm, Done: func(text string) {
		if f := p.forms[request]; f != nil && f.sending == "" {
			f.setEdited(requested, text)
		}
	}}
}

// pressCommand handles a key while the command is edited. Enter and tab keep the edited command:
// the card shows it before a key decides. Esc discards the edit.
func (p *Panel) pressCommand(r *protocol.Approval, f *Form, msg tea.KeyPressMsg) Result {
	field, key := f.edit.field, msg.String()
	switch {
	case key == "enter" || key == "tab":
		f.edit.field = nil
		f.setEdited(r.Command, field.Text())
		p.rearm()
	case key == "esc":
		f.edit.field = nil
	case p.styles.Keys.At(keymap.Global, key) == keymap.OpenEditor:
		f.edit.field = nil
		return Result{Edit: p.textToEdit(r, field.Text())}
	default:
		field.Press(msg)
	}
	return Result{}
}

// startCommand opens the command in a text field. It reports false if the field cannot hold it
// unchanged and visible, as one with tabs or hidden characters.
func (f *Form) startCommand(r *protocol.Approval) bool {
	text, field := f.currentText(r), composer.New()
	field.SetText(text)
	if field.Text() != text || transcript.Reveal(text) != text {
		return false
	}
	f.edit.field = &field
	return true
}

// setEdited sets the edited text and selects its row. A text that is empty or equal to the
// requested one removes the edit.
func (f *Form) setEdited(requested, text string) {
	f.err = ""
	at := slices.IndexFunc(f.rows, func(r formRow) bool { return r.kind == rowEdit })
	same := strings.TrimRight(text, "\n") == strings.TrimRight(requested, "\n")
	if same || strings.TrimSpace(text) == "" {
		f.edit.text, f.edit.enabled = nil, false
		if at >= 0 {
			f.rows = slices.Delete(f.rows, at, at+1)
		}
		f.selected = min(f.selected, len(f.rows)-1)
		return
	}
	if f.edit.command {
		text = strings.TrimRight(text, "\n")
	}
	f.edit.text, f.edit.enabled = &text, true
	if at < 0 {
		at = slices.IndexFunc(f.rows, func(r formRow) bool { return r.kind == rowOption })
		f.rows = slices.Insert(f.rows, at, formRow{kind: rowEdit})
	}
	f.selected = at
}

// currentText returns the edited text, or the text of the request without an edit.
func (f *Form) currentText(r *protocol.Approval) string {
	switch {
	case f.edit.text != nil:
		return *f.edit.text
	case f.edit.command:
		return r.Command
	}
	return r.Patch
}

// editedRequest returns the request with the edits that an allowing decision would apply, without
// arguments that only repeat the requested text. It does not modify r.
func (f *Form) editedRequest(r *protocol.Approval) *protocol.Approval {
	if !f.edit.sends() {
		return r
	}
	changed := *r
	rest, _ := r.RestArguments()
	switch {
	case !f.edit.command:
		changed.Patch = *f.edit.text
		if rest == "" {
			changed.Input = nil
		}
	default:
		changed.Command = *f.edit.text
		if changed.Title == r.Command {
			changed.Title = ""
		}
		if rest == "" && len(r.Input) > 0 {
			args := protocol.ReadArguments(r.Input)
			fields := args.Fields()
			fields["command"] = protocol.MustEncode(changed.Command)
			delete(fields, "commands")
			changed.Input = protocol.MustEncode(fields)
		}
	}
	return &changed
}

// commandRows is the maximum height of the text field of a command.
const commandRows = 8

// commandLines returns the text field of the command below its label, and the row of the cursor.
func (f *Form) commandLines(width int) (out []formLine, at int) {
	const indent = "   "
	lines, cursor := f.edit.field.View(width-len(indent), commandRows)
	label := f.styles.KeyName.Render(" ▸ command:")
	out = append(out, formLine{text: ui.Fit(label, width)})
	for _, line := range lines {
		out = append(out, formLine{text: ui.Fit(indent+line, width)})
	}
	f.edit.cursor = tea.Cursor{}
	if cursor != nil {
		f.edit.cursor = *cursor
		f.edit.cursor.X += len(indent)
		at = 1 + cursor.Y
	}
	return out, at
}
