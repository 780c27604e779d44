package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/tui/keymap"
)

// Question is a docked overlay that asks before something that cannot be undone. Cancel has the
// focus first. No letter answers it.
type Question struct {
	styles  *Styles
	title   string
	choices []Choice // after Cancel
	focused int      // 0: Cancel

	// Until closes the question when it returns true after a message. It may be nil.
	Until func(tea.Msg) bool
}

// Choice is an answer of a question.
type Choice struct {
	Label string
	Run   func() tea.Cmd
}

// NewQuestion returns a question with the given answers and Cancel.
func NewQuestion(s *Styles, title string, choices ...Choice) *Question {
	return &Question{styles: s, title: title, choices: choices}
}

// Focus gives a choice the focus, counted from 1. It is for questions about what can be undone.
func (q *Question) Focus(choice int) { q.focused = choice }

// Scope implements [Overlay].
func (q *Question) Scope() keymap.Scope { return keymap.Lists }

// FullScreen implements [Overlay].
func (q *Question) FullScreen() bool { return false }

// KeyHint returns the keys, for the last line of the screen.
func (q *Question) KeyHint() string {
	return q.styles.Keys.MarkFixed("← → choose · enter confirm · esc cancel")
}

// Update implements [Overlay].
func (q *Question) Update(msg tea.Msg) Response {
	if row, ok := msg.(RowMsg); ok && row.List == "" && row.Wheel == 0 {
		if row.Row == q.focused {
			return q.confirm()
		}
		q.focused = row.Row
	}
	press, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return Response{Close: q.Until != nil && q.Until(msg)}
	}
	action := q.styles.FieldAction(press)
	if q.styles.Keys.At(keymap.Global, press.String()) == keymap.FocusPrevious {
		action = keymap.Previous
	}
	switch action {
	case keymap.Up, keymap.Previous:
		q.focused = max(0, q.focused-1)
	case keymap.Down, keymap.Next, keymap.Complete:
		q.focused = min(len(q.choices), q.focused+1)
	case keymap.Back:
		return Response{Close: true}
	case keymap.Choose:
		return q.confirm()
	}
	return Response{}
}

// confirm runs the choice with the focus.
func (q *Question) confirm() Response {
	r := Response{Close: true}
	if q.focused > 0 {
		r.Cmd = q.choices[q.focused-1].Run()
	}
	return r
}

// View implements [Overlay].
func (q *Question) View(width, height int) ([]string, *tea.Cursor) {
	labels := []string{"Cancel"}
	for i := range q.choices {
		labels = append(labels, q.choices[i].Label)
	}
	for i, label := range labels {
		if i == q.focused {
			labels[i] = q.styles.Selected.Render("▸ " + label + " ")
		} else {
			labels[i] = "  " + label + " "
		}
		labels[i] = q.styles.Keys.MarkRow("", i, labels[i])
	}
	out := []string{q.styles.Rule(q.styles.Warning.Render(q.title), width)}
	if line := "  " + strings.Join(labels, " "); ansi.StringWidth(line) <= width {
		out = append(out, line)
	} else {
		for _, label := range labels {
			out = append(out, Fit("  "+label, width))
		}
	}
	return out[:min(len(out), max(height, 0))], nil
}
