package approval

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/ui"
)

// Form is the form that decides one request: a list of rows, one of them selected.
type Form struct {
	styles  *ui.Styles
	request string    // ID
	arrived time.Time // time of arrival; zero if the request was pending before
	options decisionOptions
	rows    formRows

	answers answers
	plan    planEdit
	edit    textEdit
	reason  reason
	card    card
	page    *protocol.Page // of the request, with its whole URL; nil: not known

	input   *ui.TextInput // of the text row being edited, or nil
	awaits  awaits
	sending string // label of the decision being sent, or ""; the form is read-only then
	err     string

	accepted bool // a decision that was sent
}

// awaits holds the decision that waits for the user, if any.
type awaits struct {
	reason *decisionOption // for the edited reason
	always *decisionOption // for the confirmation that it lasts
}

// NewForm returns an empty form for a request. It keeps the questions and tasks of r.
func NewForm(s *ui.Styles, r *protocol.Approval) *Form {
	f := &Form{
		styles: s, request: r.Request, options: optionsOf(r),
		answers: newAnswers(r.Questions),
		plan:    planEdit{tasks: r.Tasks, dropped: map[string]bool{}, titles: map[string]string{}},
		edit:    textEdit{command: r.Patch == ""},
		card:    card{requested: r.Command},
	}
	rows := f.answers.rows()
	for t := range r.Tasks {
		rows = append(rows, formRow{rowTask, 0, t})
	}
	for i := range f.options {
		rows = append(rows, f.options[i].row)
	}
	f.rows.all = append(rows, formRow{kind: rowReason})
	if f.rows.all[0].kind == rowOption {
		f.rows.selected = -1 // a key meant for another place chooses nothing
	}
	return f
}

// isDigit reports whether a key chooses a row.
func isDigit(key string) bool { return len(key) == 1 && key[0] >= '1' && key[0] <= '9' }

// choose handles a key that is the digit of a row, counted from 1: a choice of the current question,
// else an option. It reports whether there is such a row. It decides nothing.
func (f *Form) choose(key string) bool {
	if !isDigit(key) {
		return false
	}
	row := formRow{rowOption, 0, int(key[0] - '1')}
	if len(f.answers.questions) > 0 {
		row.kind, row.question = rowChoice, f.currentQuestion()
	}
	if !f.rows.selectRow(row) {
		return false
	}
	if row.kind == rowChoice {
		f.pick(row)
	}
	return true
}

// currentQuestion returns the index of the question of the selected row, or of the last question.
func (f *Form) currentQuestion() int {
	if r := f.rows.current(); r.asks() {
		return r.question
	}
	return len(f.answers.questions) - 1
}

// pick selects or clears the choice of a row. After the only choice of a question it selects the
// next question or the options.
func (f *Form) pick(row formRow) {
	if f.answers.toggle(row.question, row.index) {
		f.rows.leaveQuestion(row.question)
	}
}

// enter activates the selected row. It returns the option of an option row, else nil.
func (f *Form) enter() *decisionOption {
	switch r := f.rows.current(); r.kind {
	case rowChoice:
		f.pick(r)
	case rowAnswer:
		f.startEdit(f.answers.textOf(r.question))
		if f.answers.questions[r.question].Secret {
			f.input.Mask()
		}
	case rowReason:
		f.startEdit(f.reason.text)
	case rowTask:
		f.plan.toggle(r.index)
	case rowEdit:
		f.edit.enabled = !f.edit.enabled
	case rowOption:
		return &f.options[r.index]
	}
	return nil
}

// editReason selects the reason row and starts to edit it.
func (f *Form) editReason() {
	f.rows.selectRow(formRow{kind: rowReason})
	f.startEdit(f.reason.text)
}

// askReason edits the reason if a decision needs one and has none. Enter then takes the decision.
func (f *Form) askReason(o *decisionOption) bool {
	if !o.revise || f.reason.full() != "" {
		return false
	}
	f.editReason()
	f.awaits.reason = o
	return true
}

// setEdited sets the edited text and selects its row. A text that is empty or equal to the
// requested one removes the edit.
func (f *Form) setEdited(requested, text string) {
	f.err = ""
	f.rows.setEdited(f.edit.set(requested, text))
}

// startEdit starts to edit the text of the selected row.
func (f *Form) startEdit(text string) { f.input = f.styles.NewTextInput(text) }

// Typing reports whether a text row is being edited.
func (f *Form) Typing() bool { return f.input != nil || f.edit.field != nil }

// pressTyping handles a key while a text row is edited. Enter and tab save the text, esc discards
// it. After enter it returns the decision that the text was for, if any.
func (f *Form) pressTyping(msg tea.KeyPressMsg) *decisionOption {
	key := msg.String()
	switch key {
	case "enter", "tab":
		f.saveText()
	case "esc":
	default:
		f.input.Press(msg)
		return nil
	}
	next := f.awaits.reason
	f.input, f.awaits.reason = nil, nil
	if key != "enter" {
		return nil
	}
	return next
}

// paste inserts a text into the edited text row, if any.
func (f *Form) paste(text string) {
	switch {
	case f.edit.field != nil:
		f.edit.field.Paste(text)
	case f.input != nil:
		f.input.Paste(text)
	}
}

// saveText saves the edited text to the selected row.
func (f *Form) saveText() {
	text := strings.TrimSpace(f.input.Value())
	switch r := f.rows.current(); r.kind {
	case rowAnswer:
		q := &f.answers.questions[r.question]
		if q.Secret {
			text = f.input.Value() // each character counts
		}
		f.answers.text[q.ID] = text
	case rowTask:
		f.plan.setTitle(r.index, text)
	default:
		f.reason.text = text
	}
}
