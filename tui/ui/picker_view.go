package ui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
)

// KeyHint returns the keys of a docked picker, for the last line of the screen.
func (p *Picker[T]) KeyHint() string {
	if p.Hint == nil {
		return ""
	}
	return p.styles.Keys.MarkFixed(p.Hint())
}

// Lines returns at most height lines: the rows around the selected one, or why there are no rows.
func (p *Picker[T]) Lines(width, height int) []string {
	rows := p.Rows(p.Text())
	return p.lines(rows, p.index(rows), width, height)
}

func (p *Picker[T]) lines(rows []T, at, width, height int) []string {
	if at < 0 {
		if p.Empty == nil {
			return nil
		}
		return []string{Fit(p.Empty(p.Text()), width)}
	}
	shown, selected := Window(rows, at, height)
	var lines []string
	var drawn []int // index of the row of each line
	line := 0       // the first one of the selected row
	for i, row := range shown {
		if i == selected {
			line = len(lines)
		}
		for _, text := range p.Draw(row, i == selected, width) {
			n := at - selected + i
			lines, drawn = append(lines, p.styles.Keys.MarkRow("", n, text)), append(drawn, n)
		}
	}
	drawn, _ = Window(drawn, line, height)
	lines, _ = Window(lines, line, height)
	p.page = max(1, len(slices.Compact(drawn)))
	return lines
}

// View implements [Overlay].
func (p *Picker[T]) View(width, height int) ([]string, *tea.Cursor) {
	rows := p.Rows(p.Text())
	at := p.index(rows)
	title := p.Title(at, len(rows), width)
	if p.Docked > 0 {
		return p.docked([]string{p.styles.Rule(title, width)}, rows, at, width, height)
	}
	var body []string
	var cursor *tea.Cursor
	if p.field != nil {
		cursor = InputCursor(p.Label, p.field, 1)
		body = append(body, p.fieldLine(width), "")
	}
	body = append(body, p.lines(rows, at, width, max(1, height-PageFrame-len(body)))...)
	return p.styles.Page(title, body, p.footer(len(rows) > 0, width), width, height), cursor
}

// docked adds the field and the rows to the title.
func (p *Picker[T]) docked(out []string, rows []T, at, width, height int) ([]string, *tea.Cursor) {
	if p.field == nil {
		return append(out, p.lines(rows, at, width, min(p.Docked, max(0, height-1)))...), nil
	}
	out = append(out, p.lines(rows, at, width, min(p.Docked, max(0, height-2)))...)
	y := len(out)
	out = append(out, p.fieldLine(width))
	if height < 2 {
		return out[:max(min(len(out), height), 0)], nil
	}
	return out, InputCursor(p.Label, p.field, y)
}

// fieldLine returns the line of the text field.
func (p *Picker[T]) fieldLine(width int) string {
	if p.field.Value() == "" && p.Placeholder != "" {
		return Fit(p.styles.Bold.Render(p.Label)+p.styles.Dim.Render(p.Placeholder), width)
	}
	return p.styles.InputLine(p.Label, p.field, width)
}

// footer returns the last line of a picker that covers the screen. The keys of a row are left out
// without rows.
func (p *Picker[T]) footer(hasRows bool, width int) string {
	if p.Status != nil && p.Status() != "" {
		return p.styles.Warning.Render(Fit(" "+transcript.CleanLine(p.Status()), width))
	}
	hint := ""
	if hasRows {
		hint = p.KeyHint()
	}
	return p.styles.HintRow(hint, p.styles.Keys.Hint(keymap.Back, "back"), width)
}
