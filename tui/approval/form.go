package approval

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/review"
	"agentctl/tui/ui"
)

// Form is the form that decides one request: a list of rows, one of them selected.
type Form struct {
	styles    *ui.Styles
	arrived   time.Time // time of arrival; zero if the request was pending before
	questions []protocol.Question
	options   []decisionOption
	rows      []formRow
	selected  int // index in rows

	answers answers
	plan    planEdit
	edit    textEdit
	reason  reason
	card    card

	input   *ui.TextInput // of the text row being edited, or nil
	awaits  awaits
	sending string // label of the decision being sent, or ""; the form is read-only then
	err     string
}

// awaits holds the decision that waits for the user, if any.
type awaits struct {
	reason *decisionOption // for the edited reason
	always *decisionOption // for the confirmation that it lasts
}

// reason is what the user writes about a decision.
type reason struct {
	text     string
	comments review.Comments // on the changes
	review   *review.View    // in which they are written, or nil
}

// answers holds the answers to the questions of a request, by question ID.
type answers struct {
	choices map[string][]string // IDs of the chosen choices
	text    map[string]string   // free text
}

// formRow identifies a row of a form.
type formRow struct {
	kind     rowKind
	question int
	index    int // of the choice, task or option
}

// rowKind is the kind of a row of a form.
type rowKind uint8

const (
	rowNone rowKind = iota
	rowText         // text of a question; the form has no such row
	rowChoice
	rowAnswer
	rowTask
	rowEdit
	rowOption
	rowReason
)

// NewForm returns an empty form for a request. It keeps the questions and tasks of r.
func NewForm(s *ui.Styles, r *protocol.Approval) *Form {
	f := &Form{
		styles: s, questions: r.Questions,
		answers: answers{choices: map[string][]string{}, text: map[string]string{}},
		plan:    planEdit{tasks: r.Tasks, dropped: map[string]bool{}, titles: map[string]string{}},
		edit:    textEdit{command: r.Patch == ""},
		card:    card{requested: r.Command},
	}
	for q := range r.Questions {
		for c := range r.Questions[q].Choices {
			f.rows = append(f.rows, formRow{rowChoice, q, c})
		}
		f.rows = append(f.rows, formRow{rowAnswer, q, 0})
	}
	for t := range r.Tasks {
		f.rows = append(f.rows, formRow{rowTask, 0, t})
	}
	for i, o := range optionsOf(r) {
		f.options = append(f.options, o)
		f.rows = append(f.rows, formRow{rowOption, 0, i})
	}
	f.rows = append(f.rows, formRow{kind: rowReason})
	if f.rows[0].kind == rowOption {
		f.selected = -1 // a key meant for another place chooses nothing
	}
	return f
}

// move moves the selection by a number of rows, within the form.
func (f *Form) move(by int) { f.selected = min(max(f.selected+by, 0), len(f.rows)-1) }

// choose handles the digit of a row, counted from 1: a choice of the current question, else an
// option. It reports whether there is such a row. It decides nothing.
func (f *Form) choose(digit int) bool {
	if len(f.questions) == 0 {
		at := slices.Index(f.rows, formRow{rowOption, 0, digit - 1})
		if at >= 0 {
			f.selected = at
		}
		return at >= 0
	}
	at := slices.Index(f.rows, formRow{rowChoice, f.currentQuestion(), digit - 1})
	if at < 0 {
		return false
	}
	f.selected = at
	f.pick()
	return true
}

// currentQuestion returns the index of the question of the selected row, or of the last question.
func (f *Form) currentQuestion() int {
	if r := f.rows[f.selected]; r.kind == rowChoice || r.kind == rowAnswer {
		return r.question
	}
	return len(f.questions) - 1
}

// pick selects or clears the choice of the selected row. After the only choice of a question it
// selects the next question or the options.
func (f *Form) pick() {
	r := f.rows[f.selected]
	q := &f.questions[r.question]
	f.answers.toggle(q, q.Choices[r.index].ID)
	if q.Many || len(f.answers.choices[q.ID]) == 0 {
		return
	}
	answer := slices.Index(f.rows, formRow{rowAnswer, r.question, 0})
	f.selected = min(answer+1, len(f.rows)-1)
}

// enter activates the selected row. It returns the option of an option row, else nil.
func (f *Form) enter() *decisionOption {
	r := f.rows[f.selected]
	switch r.kind {
	case rowChoice:
		f.pick()
	case rowAnswer:
		f.startEdit(f.answers.text[f.questions[r.question].ID])
	case rowReason:
		f.startEdit(f.reason.text)
	case rowTask:
		id := f.plan.tasks[r.index].ID
		f.plan.dropped[id] = !f.plan.dropped[id]
	case rowEdit:
		f.edit.enabled = !f.edit.enabled
	case rowOption:
		return &f.options[r.index]
	}
	return nil
}

// toggle selects or clears a choice. In a single-choice question it replaces the selected one.
func (a *answers) toggle(q *protocol.Question, choice string) {
	chosen := a.choices[q.ID]
	switch i := slices.Index(chosen, choice); {
	case i >= 0:
		a.choices[q.ID] = slices.Delete(chosen, i, i+1)
	case q.Many:
		a.choices[q.ID] = append(chosen, choice)
	default:
		a.choices[q.ID] = []string{choice}
	}
}

// editReason selects the reason row and starts to edit it.
func (f *Form) editReason() {
	f.selected = len(f.rows) - 1
	f.startEdit(f.reason.text)
}

// askReason edits the reason if a decision needs one and has none. Enter then takes the decision.
func (f *Form) askReason(o *decisionOption) bool {
	if !o.revise || f.fullReason() != "" {
		return false
	}
	f.editReason()
	f.awaits.reason = o
	return true
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
		f.saveText(strings.TrimSpace(f.input.Value()))
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

// saveText saves the edited text to the selected row.
func (f *Form) saveText(text string) {
	switch r := f.rows[f.selected]; r.kind {
	case rowAnswer:
		f.answers.text[f.questions[r.question].ID] = text
	case rowTask:
		if t := &f.plan.tasks[r.index]; text != "" && text != t.Title {
			f.plan.titles[t.ID] = text
		} else {
			delete(f.plan.titles, t.ID)
		}
	default:
		f.reason.text = text
	}
}

// optionOfKind returns the first option of a kind, or nil.
func (f *Form) optionOfKind(kind protocol.Decision) *decisionOption {
	if i := slices.IndexFunc(f.options, func(o decisionOption) bool { return o.Kind == kind }); i >= 0 {
		return &f.options[i]
	}
	return nil
}

// rowOf returns the row of an option.
func (f *Form) rowOf(o *decisionOption) formRow {
	for i := range f.options {
		if &f.options[i] == o {
			return formRow{rowOption, 0, i}
		}
	}
	return formRow{}
}
