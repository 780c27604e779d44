package ui

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/tui/keymap"
)

// Question is a docked list of choices before something that cannot be undone. Cancel is selected first.
// No letter answers it.
type Question struct {
	*Picker[Choice]

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
	choices = append([]Choice{{Label: "Cancel", Run: func() tea.Cmd { return nil }}}, choices...)
	return &Question{Picker: NewPicker(s, List[Choice]{
		Title: func(int, int, int) string { return s.Warning.Render(title) },
		Rows:  func(string) []Choice { return choices },
		ID:    func(c Choice) string { return c.Label },
		Draw: func(c Choice, selected bool, width int) []string {
			if selected {
				return []string{s.Selected.Render(Fit(" ▸ "+c.Label+" ", width))}
			}
			return []string{Fit("   "+c.Label, width)}
		},
		Choose:  func(c Choice) Response { return Response{Close: true, Cmd: c.Run()} },
		Hint:    func() string { return "↑↓ choose · enter confirm · esc cancel" },
		Message: true, // keys that write do nothing
		Docked:  len(choices),
	})}
}

// Update implements [Overlay]. The keys that move between fields and between choices move too.
func (q *Question) Update(msg tea.Msg) Response {
	if !IsInput(msg) {
		return Response{Close: q.Until != nil && q.Until(msg)}
	}
	if press, ok := msg.(tea.KeyPressMsg); ok {
		switch q.styles.FieldAction(press) {
		case keymap.Previous:
			q.Act(keymap.Up)
			return Response{}
		case keymap.Next, keymap.Complete:
			q.Act(keymap.Down)
			return Response{}
		}
	}
	return q.Picker.Update(msg)
}
