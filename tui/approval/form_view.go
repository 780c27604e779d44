package approval

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// lines returns the form, the question whether to allow always, or the decision being sent, and the
// first line of the selected row. offline: what is sent waits for the connection.
func (f *Form) lines(width int, focused, offline bool) (lines []formLine, at int) {
	switch {
	case f.sending != "":
		sending := "sending: "
		if offline {
			sending = "waits for the connection: "
		}
		lines = []formLine{{text: f.styles.Warning.Render(ui.Fit("   "+sending+f.sending+" …", width))}}
	case f.awaits.always != nil:
		lines = f.alwaysLines(width)
	default:
		lines, at = f.view(width, focused)
	}
	if f.err != "" {
		text := ui.Fit("   "+transcript.CleanLine(f.err), width)
		lines = append(lines, formLine{text: f.styles.Error.Render(text)})
	}
	return lines, at
}

// view returns the lines of all rows and the index of the first line of the selected row.
func (f *Form) view(width int, focused bool) (out []formLine, at int) {
	if f.edit.field != nil {
		out, at = f.edit.lines(f.styles, width)
		focused = false // the keys of the rows write
	}
	inLine := !focused && f.input == nil && !f.options.labelled()
	for i, r := range f.rows.all {
		newQuestion := i == 0 || f.rows.all[i-1].question != r.question || !f.rows.all[i-1].asks()
		if i > 0 && f.rows.all[i-1].asks() && (newQuestion || !r.asks()) {
			out = append(out, formLine{gap: true})
		}
		if r.asks() && newQuestion {
			out = append(out, f.questionLines(r.question, width)...)
		}
		if r.kind == rowOption && inLine {
			if r.index == 0 {
				out = append(out, f.optionLines(width)...)
			}
			continue
		}
		if i == f.rows.selected && f.edit.field == nil {
			at = len(out)
			if f.input != nil {
				out = append(out, formLine{text: f.styles.InputLine(f.inputLabel(r), f.input, width)})
				continue
			}
		}
		if r.kind == rowReason && f.reason.full() == "" && (!focused || i != f.rows.selected) {
			continue // the keys below name its key
		}
		out = append(out, f.rowLines(i, r, width, focused)...)
	}
	return out, at
}

// rowLines returns the lines of row i.
func (f *Form) rowLines(i int, r formRow, width int, focused bool) []formLine {
	name, theirs := f.rowText(r, focused)
	mark, isOption, selected := "   ", r.kind == rowOption, focused && i == f.rows.selected
	if selected {
		mark = " ▸ "
	}
	var out []formLine
	lines := []string{mark + name}
	if theirs != "" {
		lines = theirLines(mark+name+" ", theirs, width)
	}
	if o := f.options.of(r); o != nil && o.Scope != "" && len(lines) > 1 {
		lines, r = []string{mark + name + " …"}, formRow{} // the confirmation shows the scope
	}
	for _, line := range lines {
		text := ui.Fit(line, width)
		if rest, whole := strings.CutPrefix(text, mark+name); selected {
			text = f.styles.Selected.Render(ui.Pad(text, width))
		} else if whole && isOption {
			text = mark + f.action(name) + rest
		}
		out = append(out, formLine{text: f.markRow(f.rows.all[i], text), row: r})
	}
	return out
}

// markRow marks a text that a click selects a row on.
func (f *Form) markRow(row formRow, text string) string {
	return f.styles.Keys.MarkRow(Rows, slices.Index(f.rows.all, row), text)
}

// action draws the name of an option, which is what the eye shall find first: its digit as the cap of
// a key.
func (f *Form) action(name string) string {
	if digit, label, ok := strings.Cut(name, " "); ok && isDigit(digit) {
		return f.styles.Selected.Render(digit) + " " + f.styles.Bold.Render(label)
	}
	return f.styles.Bold.Render(name)
}

// optionLines returns the names of all options side by side, as many as fit on a line. They do not
// show the scopes of the options.
func (f *Form) optionLines(width int) []formLine {
	var out []formLine
	for i := range f.options {
		row := f.options[i].row
		name, _ := f.rowText(row, f.edit.field == nil) // alt and a digit choose
		name = strings.TrimSuffix(name, " the turn")
		if f.options[i].Scope != "" {
			name += " …"
		}
		const margin = "  "
		cells := len(margin) + transcript.Width(name)
		if n := len(out); n == 0 || transcript.Width(out[n-1].text)+cells > width {
			out = append(out, formLine{text: " "})
		}
		line := &out[len(out)-1]
		line.text += margin + f.markRow(row, f.action(name))
	}
	for i := range out {
		out[i].text = ui.Fit(out[i].text, width)
	}
	return out
}

// theirLines returns a text of the agent after a label of agentctl's, in a gutter.
func theirLines(label, text string, width int) []string {
	var out []string
	indent := transcript.Width(label)
	if indent > width/2 {
		out = append(out, label)
		label, indent = "     ", 5
	}
	for i, line := range ui.Wrap(text, max(1, width-indent-gutterWidth)) {
		if i == 0 {
			out = append(out, label+lineGutter+line)
			continue
		}
		out = append(out, strings.Repeat(" ", indent)+wrapGutter+line)
	}
	return out
}

// rowText returns the text of a row: agentctl's, and the agent's or the user's.
func (f *Form) rowText(r formRow, focused bool) (name, theirs string) {
	number := ""
	if focused && r.index < 9 {
		number = fmt.Sprintf("%d ", r.index+1)
	}
	switch r.kind {
	case rowChoice:
		q := &f.answers.questions[r.question]
		c := &q.Choices[r.index]
		picked := slices.Contains(f.answers.choices[q.ID], c.ID)
		return number + checkbox(picked, !q.Many), withDetails(cmp.Or(c.Label, c.ID), c.About)
	case rowAnswer:
		return f.answerLabel(r.question), f.shownAnswer(r.question)
	case rowTask:
		t := &f.plan.tasks[r.index]
		name := checkbox(!f.plan.dropped[t.ID], false) + " " + TaskLabel(f.plan.tasks, r.index, f.plan.dropped)
		return name, withDetails(f.plan.title(r.index), t.Description)
	case rowEdit:
		name := " with the patch as edited"
		if f.edit.command {
			name = " with the command as edited"
		}
		if focused {
			name += ui.Prefixed(": ", f.styles.Keys.Hint(keymap.Edit, "edits it again"))
		}
		return checkbox(f.edit.enabled, false) + name, ""
	case rowReason:
		return strings.TrimSpace(f.styles.Keys.Key(keymap.WriteReason) + f.reason.label()),
			format.JoinLines(transcript.Reveal(f.reason.text))
	}
	o := &f.options[r.index]
	if o.asks {
		number = "" // the digits are the answers
	}
	return number + o.name(), o.details()
}

// alwaysLines returns the question whether to allow always, with what that covers.
func (f *Form) alwaysLines(width int) []formLine {
	row := f.awaits.always.row
	out := []formLine{{text: f.styles.Warning.Render("   Allow this always, without asking again?"), row: row}}
	for _, line := range theirLines("   ", cmp.Or(f.awaits.always.details(), "as the agent decides"), width) {
		out = append(out, formLine{text: line, row: row})
	}
	return out
}

// checkbox returns a check box or a radio button.
func checkbox(checked, radio bool) string {
	switch {
	case radio && checked:
		return "(•)"
	case radio:
		return "( )"
	case checked:
		return "[x]"
	}
	return "[ ]"
}

// withDetails returns a text and its details, if any, on one line.
func withDetails(text, details string) string {
	text = format.JoinLines(transcript.Reveal(text))
	if details != "" {
		text += " — " + format.JoinLines(transcript.Reveal(details))
	}
	return text
}

// inputLabel returns the label of the text input of a row.
func (f *Form) inputLabel(r formRow) string {
	switch r.kind {
	case rowReason:
		return " ▸ reason: "
	case rowTask:
		return " ▸ task: "
	}
	return " ▸ " + f.answerLabel(r.question) + " "
}

// cursor returns the cursor of the text input, on screen row y.
func (f *Form) cursor(y int) *tea.Cursor {
	if f.edit.field != nil {
		c := f.edit.cursor
		c.X, c.Y = c.X+frameWidth/2, y
		return &c
	}
	c := ui.InputCursor(f.inputLabel(f.rows.current()), f.input, y)
	c.X += frameWidth / 2
	return c
}

// questionLines returns what is above the rows of a question: its text and details, which are the
// agent's, and which answers it accepts.
func (f *Form) questionLines(question, width int) []formLine {
	q, row := &f.answers.questions[question], formRow{rowText, question, 0}
	var out []formLine
	for _, line := range theirLines("   ", transcript.Reveal(q.Text), width) {
		out = append(out, formLine{text: f.styles.Bold.Render(line), row: row})
	}
	for _, detail := range q.Details() {
		for _, line := range theirLines("   ", transcript.Reveal(detail), width) {
			out = append(out, formLine{text: line, row: row})
		}
	}
	if wants := q.Wants(); wants != "" {
		for _, line := range ui.Wrap(wants, max(1, width-3)) {
			out = append(out, formLine{text: f.styles.Dim.Render("   " + line), row: row})
		}
	}
	return out
}

// answerLabel returns the label of the text that answers a question.
func (f *Form) answerLabel(question int) string {
	if len(f.answers.questions[question].Choices) > 0 {
		return "Other:"
	}
	return "Answer:"
}

// shownAnswer returns the text that answers a question as it is shown, on one line.
func (f *Form) shownAnswer(question int) string {
	text := f.answers.textOf(question)
	if f.answers.questions[question].Secret {
		return strings.Repeat("•", min(len(text), 8))
	}
	return format.JoinLines(transcript.Reveal(text))
}
