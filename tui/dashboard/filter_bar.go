package dashboard

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// maxCompletions is the maximum number of completions that the filter offers.
const maxCompletions = 8

// filterBar is the form of the filter. Each change applies the filter; tab completes its last word.
type filterBar struct {
	*ui.Form
	table *table
}

func newFilterBar(t *table) *filterBar {
	f := ui.NewForm(t.styles, "filter", "", ui.NewField("words", t.filter,
		"words of the row; "+strings.Join(t.list.FilterKeys(), " ")))
	f.Changed = func(f *ui.Form) { t.setFilter(f.Value(0)) }
	f.Submit = func(*ui.Form) ui.Response { return ui.Response{Close: true} }
	f.Cancel = func() { t.setFilter("") }
	return &filterBar{f, t}
}

// Update completes the last word on tab. The form handles all else.
func (b *filterBar) Update(msg tea.Msg) ui.Response {
	if press, ok := msg.(tea.KeyPressMsg); ok && b.table.styles.FieldAction(press) == keymap.Complete {
		if found := b.completions(); len(found) > 0 {
			text := b.Value(0)
			text = text[:strings.LastIndexByte(text, ' ')+1] + found[0]
			if !strings.HasSuffix(found[0], ":") && !strings.HasSuffix(found[0], "=") && len(found) == 1 {
				text += " "
			}
			b.SetValue(0, text)
		}
		return ui.Response{}
	}
	return b.Form.Update(msg)
}

func (b *filterBar) completions() []string {
	return b.table.list.Complete(b.Value(0), maxCompletions)
}

// KeyHint returns the completions and the keys.
func (b *filterBar) KeyHint() string {
	hint := "enter applies · esc clears"
	if found := b.completions(); len(found) > 0 {
		hint += " · tab " + format.JoinLines(transcript.Clean(strings.Join(found, " ")))
	}
	return hint
}
