package approval

import (
	"cmp"
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// view returns the lines of all rows and the index of the first line of the selected row.
func (f *Form) view(width int, focused bool) (out []string, at int) {
	for i, r := range f.rows {
		if (r.kind == rowChoice || r.kind == rowAnswer) && (i == 0 || f.rows[i-1].kind == rowAnswer) {
			for _, line := range ui.Wrap(transcript.Reveal(f.questions[r.question].Text), width-ui.Indent) {
				out = append(out, "   "+f.styles.Bold.Render(line))
			}
		}
		if i == f.selected {
			at = len(out)
			if f.input != nil {
				out = append(out, f.styles.InputLine(r.inputLabel(), f.input, width))
				continue
			}
		}
		out = append(out, f.rowLines(i, r, width, focused)...)
	}
	return out, at
}

// rowLines returns the lines of row i, wrapped to width.
func (f *Form) rowLines(i int, r formRow, width int, focused bool) []string {
	selected := focused && i == f.selected
	lines := ui.Wrap(f.rowText(r), width-ui.Indent-2)
	for n, line := range lines {
		switch {
		case n > 0:
			line = "     " + line
		case selected:
			line = " ▸ " + line
		default:
			line = "   " + line
		}
		if selected {
			line = f.styles.Selected.Render(line)
		}
		lines[n] = line
	}
	return lines
}

// rowText returns the text of a row.
func (f *Form) rowText(r formRow) string {
	switch r.kind {
	case rowChoice:
		q := &f.questions[r.question]
		c := &q.Choices[r.index]
		picked := slices.Contains(f.answers.choices[q.ID], c.ID)
		return checkbox(picked, !q.Many) + withDetails(cmp.Or(c.Label, c.ID), c.About)
	case rowAnswer:
		return "Other: " + ui.OneLine(transcript.Reveal(f.answers.text[f.questions[r.question].ID]))
	case rowTask:
		t := &f.plan.tasks[r.index]
		return checkbox(!f.plan.dropped[t.ID], false) + withDetails(cmp.Or(f.plan.titles[t.ID], t.Title), t.Description)
	case rowPatch:
		hint := ui.Prefixed(": ", f.styles.Keys.Hint(keymap.EditRequest, "edits it again"))
		return checkbox(f.patch.enabled, false) + "with the patch as edited" + hint
	case rowReason:
		return f.styles.Keys.Key(keymap.WriteReason) + " reason: " + ui.OneLine(transcript.Reveal(f.reason))
	}
	o := &f.options[r.index]
	text := fmt.Sprintf("%d %s", r.index+1, ui.OneLine(transcript.Reveal(cmp.Or(o.Label, string(o.Kind)))))
	if o.Scope != "" {
		text += ": " + ui.OneLine(transcript.Reveal(o.Scope))
	}
	return text
}

// checkbox returns a check box or a radio button.
func checkbox(checked, radio bool) string {
	switch {
	case radio && checked:
		return "(•) "
	case radio:
		return "( ) "
	case checked:
		return "[x] "
	}
	return "[ ] "
}

// withDetails returns a text and its details, if any, on one line.
func withDetails(text, details string) string {
	text = ui.OneLine(transcript.Reveal(text))
	if details != "" {
		text += " — " + ui.OneLine(transcript.Reveal(details))
	}
	return text
}

// inputLabel returns the label of the row's text input.
func (r formRow) inputLabel() string {
	switch r.kind {
	case rowReason:
		return " ▸ reason: "
	case rowTask:
		return " ▸ task: "
	}
	return " ▸ Other: "
}

// cursor returns the cursor of the text input, on screen row y.
func (f *Form) cursor(y int) *tea.Cursor {
	return ui.InputCursor(f.rows[f.selected].inputLabel(), f.input, y)
}
