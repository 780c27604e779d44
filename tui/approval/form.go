package approval

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/transcript"
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
	patch   patchEdit
	reason  string
	cache   requestCache

	input   *textinput.Model // of the text row being edited, or nil
	next    *decisionOption  // the decision that the edited reason is for, or nil
	sending string           // label of the decision being sent, or ""; the form is read-only meanwhile
	err     string
}

// answers holds the answers to the questions of a request, by question ID.
type answers struct {
	choices map[string][]string // IDs of the chosen choices
	text    map[string]string   // free text
}

// patchEdit holds the user's edit of a patch.
type patchEdit struct {
	text    *string // nil if not edited
	enabled bool    // send text in place of the requested patch
}

// decisionOption is an option of a request.
type decisionOption struct {
	protocol.Option
	revise bool // denies and asks for a new plan
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
	rowChoice rowKind = iota
	rowAnswer
	rowTask
	rowPatch
	rowOption
	rowReason
)

// NewForm returns an empty form for a request. It keeps the questions and tasks of r.
func NewForm(s *ui.Styles, r *protocol.Approval) *Form {
	f := &Form{
		styles: s, questions: r.Questions,
		answers: answers{choices: map[string][]string{}, text: map[string]string{}},
		plan:    planEdit{tasks: r.Tasks, dropped: map[string]bool{}, titles: map[string]string{}},
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
	return f
}

// optionsOf returns the options of a request. A plan that can be denied has one more option: to
// revise it.
func optionsOf(r *protocol.Approval) []decisionOption {
	var out []decisionOption
	for _, o := range r.Offered() {
		out = append(out, decisionOption{Option: o})
	}
	if r.Kind == protocol.ApprovePlan && r.Offers(protocol.Deny) {
		out = append(out, decisionOption{protocol.Option{Kind: protocol.Deny, Label: "Revise with reason"}, true})
	}
	return out
}

// move moves the selection by a number of rows, within the form.
func (f *Form) move(by int) { f.selected = min(max(f.selected+by, 0), len(f.rows)-1) }

// selectOption selects the row of an option.
func (f *Form) selectOption(o *decisionOption) {
	f.selected = slices.IndexFunc(f.rows, func(r formRow) bool {
		return r.kind == rowOption && &f.options[r.index] == o
	})
}

// enter activates the selected row. It returns the option of an option row, else nil.
func (f *Form) enter() *decisionOption {
	r := f.rows[f.selected]
	switch r.kind {
	case rowChoice:
		q := &f.questions[r.question]
		f.answers.toggle(q, q.Choices[r.index].ID)
	case rowAnswer:
		f.startEdit(f.answers.text[f.questions[r.question].ID])
	case rowReason:
		f.startEdit(f.reason)
	case rowTask:
		id := f.plan.tasks[r.index].ID
		f.plan.dropped[id] = !f.plan.dropped[id]
	case rowPatch:
		f.patch.enabled = !f.patch.enabled
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
	f.startEdit(f.reason)
}

// askReason edits the reason if a decision needs one and has none. Enter then takes the decision.
func (f *Form) askReason(o *decisionOption) bool {
	if !o.revise || f.reason != "" {
		return false
	}
	f.editReason()
	f.next = o
	return true
}

// startEdit starts to edit the text of the selected row.
func (f *Form) startEdit(text string) { f.input = ui.NewTextInput(text) }

// Typing reports whether a text row is being edited.
func (f *Form) Typing() bool { return f.input != nil }

// pressTyping handles a key while a text row is edited. Enter and tab save the text, esc discards
// it. After enter it returns the decision that the text was for, if any.
func (f *Form) pressTyping(msg tea.KeyPressMsg) *decisionOption {
	key := msg.String()
	switch key {
	case "enter", "tab":
		f.saveText(strings.TrimSpace(f.input.Value()))
	case "esc":
	default:
		*f.input, _ = f.input.Update(msg)
		return nil
	}
	next := f.next
	f.input, f.next = nil, nil
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
		f.reason = text
	}
}

// setPatch sets the edited patch and selects its row. A text that is empty or equal to the
// requested patch removes the edit.
func (f *Form) setPatch(requested, text string) {
	f.err = ""
	at := slices.IndexFunc(f.rows, func(r formRow) bool { return r.kind == rowPatch })
	if same := strings.TrimRight(text, "\n"); same == strings.TrimRight(requested, "\n") || same == "" {
		f.patch = patchEdit{}
		if at >= 0 {
			f.rows = slices.Delete(f.rows, at, at+1)
		}
		f.selected = min(f.selected, len(f.rows)-1)
		return
	}
	f.patch = patchEdit{&text, true}
	if at < 0 {
		at = slices.IndexFunc(f.rows, func(r formRow) bool { return r.kind == rowOption })
		f.rows = slices.Insert(f.rows, at, formRow{kind: rowPatch})
	}
	f.selected = at
}

// currentPatch returns the edited patch, or that of the request if there is none.
func (f *Form) currentPatch(r *protocol.Approval) string {
	if f.patch.text != nil {
		return *f.patch.text
	}
	return r.Patch
}

// editedRequest returns the request with the edits that an allowing decision would apply. It does
// not modify r.
func (f *Form) editedRequest(r *protocol.Approval) *protocol.Approval {
	if f.patch.text == nil || !f.patch.enabled {
		return r
	}
	changed := *r
	changed.Patch = *f.patch.text
	return &changed
}

// beginOption marks an option as being sent and returns the data of the command. If the form is
// incomplete, it sets the error message and returns false.
func (f *Form) beginOption(request string, o *decisionOption) (protocol.ApproveData, bool) {
	if f.incomplete(o) {
		f.err = "no question is answered yet"
		return protocol.ApproveData{}, false
	}
	f.sending, f.err = cmp.Or(ui.OneLine(transcript.Clean(o.Label)), string(o.Kind)), ""
	return f.data(request, o), true
}

// data returns the data of the approve command.
func (f *Form) data(request string, o *decisionOption) protocol.ApproveData {
	d := protocol.ApproveData{Request: request, Option: o.ID, Reason: f.reason}
	if o.ID == "" {
		d.Decision = o.Kind
	}
	switch {
	case o.revise:
		d.Input = &protocol.ApprovalInput{Replan: true}
	case !o.allows():
	case len(f.questions) > 0:
		d.Input = &protocol.ApprovalInput{Answers: f.answers.all(f.questions)}
	case f.plan.changed():
		d.Input = &protocol.ApprovalInput{Tasks: f.plan.remaining()}
	case f.patch.text != nil && f.patch.enabled:
		d.Input = &protocol.ApprovalInput{Patch: *f.patch.text}
	}
	return d
}

// allows reports whether the option allows the request.
func (o *decisionOption) allows() bool {
	return o.Kind == protocol.AllowOnce || o.Kind == protocol.AllowAlways
}

// incomplete reports whether the option allows a request with questions and no question has an
// answer.
func (f *Form) incomplete(o *decisionOption) bool {
	return o.allows() && len(f.questions) > 0 && len(f.answers.all(f.questions)) == 0
}

// all returns the answers by question ID, without unanswered questions.
func (a *answers) all(questions []protocol.Question) map[string][]string {
	out := map[string][]string{}
	for _, q := range questions {
		given := slices.Clone(a.choices[q.ID])
		if text := a.text[q.ID]; text != "" {
			given = append(given, text)
		}
		if len(given) > 0 {
			out[q.ID] = given
		}
	}
	return out
}

// optionByNumber returns the option of a digit key, counted from 1, or nil.
func (f *Form) optionByNumber(key string) *decisionOption {
	if len(key) != 1 || key[0] < '1' || int(key[0]-'1') >= len(f.options) {
		return nil
	}
	return &f.options[key[0]-'1']
}

// optionOfKind returns the first option of a kind, or nil.
func (f *Form) optionOfKind(kind protocol.Decision) *decisionOption {
	if i := slices.IndexFunc(f.options, func(o decisionOption) bool { return o.Kind == kind }); i >= 0 {
		return &f.options[i]
	}
	return nil
}

// Begin marks the first option of a kind as being sent and returns the data of the command. ok is
// false if the request has no such option or the form is incomplete.
func (f *Form) Begin(request string, kind protocol.Decision) (data protocol.ApproveData, ok bool) {
	o := f.optionOfKind(kind)
	if o == nil {
		return data, false
	}
	return f.beginOption(request, o)
}

// Sending returns the label of the decision being sent, or "".
func (f *Form) Sending() string { return f.sending }

// Failed marks the decision as not sent, so that the form can be changed again.
func (f *Form) Failed() { f.sending = "" }
