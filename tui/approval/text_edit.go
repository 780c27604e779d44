package approval

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/composer"
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

// start opens the command in a text field. It reports false if the field cannot hold it unchanged
// and visible, as one with tabs or hidden characters.
func (e *textEdit) start(r *protocol.Approval) bool {
	text, field := e.current(r), composer.New()
	field.SetText(text)
	if field.Text() != text || transcript.Reveal(text) != text {
		return false
	}
	e.field = &field
	return true
}

// set sets the edited text and enables it. A text that is empty or equal to the requested one
// removes the edit. It reports whether there is one.
func (e *textEdit) set(requested, text string) (edited bool) {
	same := strings.TrimRight(text, "\n") == strings.TrimRight(requested, "\n")
	if same || strings.TrimSpace(text) == "" {
		e.text, e.enabled = nil, false
		return false
	}
	if e.command {
		text = strings.TrimRight(text, "\n")
	}
	e.text, e.enabled = &text, true
	return true
}

// current returns the edited text, or the text of the request without an edit.
func (e *textEdit) current(r *protocol.Approval) string {
	switch {
	case e.text != nil:
		return *e.text
	case e.command:
		return r.Command
	}
	return r.Patch
}

// written returns the command that the user wrote, or "".
func (e *textEdit) written() string {
	switch {
	case e.field != nil:
		return e.field.Text()
	case e.command && e.text != nil:
		return *e.text
	}
	return ""
}

// apply returns the request with the edit that an allowing decision would apply, without arguments
// that only repeat the requested text. It does not modify r.
func (e *textEdit) apply(r *protocol.Approval) *protocol.Approval {
	if !e.sends() {
		return r
	}
	changed := *r
	rest, _ := r.RestArguments()
	switch {
	case !e.command:
		changed.Patch = *e.text
		if rest == "" {
			changed.Input = nil
		}
	default:
		changed.Command = *e.text
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

// lines returns the text field of the command below its label, and the row of the cursor.
func (e *textEdit) lines(s *ui.Styles, width int) (out []formLine, at int) {
	const indent = "   "
	lines, cursor := e.field.View(width-len(indent), commandRows)
	out = append(out, formLine{text: ui.Fit(s.Bold.Render(" ▸ command:"), width)})
	for _, line := range lines {
		out = append(out, formLine{text: ui.Fit(indent+line, width)})
	}
	e.cursor = tea.Cursor{}
	if cursor != nil {
		e.cursor = *cursor
		e.cursor.X += len(indent)
		at = 1 + cursor.Y
	}
	return out, at
}
