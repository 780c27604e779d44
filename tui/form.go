package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"agentctl/tui/keymap"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/protocol"
	"agentctl/tui/transcript"
)

// form is what a person fills in to decide one request: a list of rows, of
// which one is chosen.
type form struct {
	look      *look
	came      time.Time // when the request was seen to come; zero: it was there
	questions []protocol.Question
	tasks     []protocol.Task // of a plan
	options   []option
	rows      []row
	at        int

	changes *changes // what it is about, if that is changes
	laid    string   // the patch among them
	patched bool     // it could be read

	picked  map[string][]string // question → choices
	typed   map[string]string   // question → own words
	dropped map[string]bool     // tasks that the plan shall not have
	titles  map[string]string   // tasks that the plan calls otherwise
	patch   *string             // as the person edited it
	offered bool                // that is what is allowed, and not what the agent asked for
	reason  string
	input   *textinput.Model // while a text row is written
	sending string           // what is being sent; nothing can be changed meanwhile
	err     string
}

// option is one way to decide.
type option struct {
	protocol.Option
	replan bool // with a denial: make another plan
}

type row struct {
	kind     rowKind
	question int
	index    int // of the choice, task or option
}

type rowKind uint8

const (
	rowChoice rowKind = iota
	rowAnswer
	rowTask
	rowPatch
	rowOption
	rowReason
)

func newForm(l *look, r *protocol.Approval) *form {
	f := &form{
		look: l, questions: r.Questions, tasks: r.Tasks,
		picked: map[string][]string{}, typed: map[string]string{}, dropped: map[string]bool{}, titles: map[string]string{},
	}
	for q := range r.Questions {
		for c := range r.Questions[q].Choices {
			f.rows = append(f.rows, row{rowChoice, q, c})
		}
		f.rows = append(f.rows, row{rowAnswer, q, 0})
	}
	for t := range r.Tasks {
		f.rows = append(f.rows, row{rowTask, 0, t})
	}
	for i, o := range optionsOf(r) {
		f.options = append(f.options, o)
		f.rows = append(f.rows, row{rowOption, 0, i})
	}
	f.rows = append(f.rows, row{kind: rowReason})
	return f
}

// optionsOf is what the request offers; of one that names nothing, what every
// request can be answered with.
func optionsOf(r *protocol.Approval) []option {
	offered := r.Options
	if len(offered) == 0 {
		offered = []protocol.Option{{Kind: protocol.AllowOnce, Label: "Allow once"}, {Kind: protocol.Deny, Label: "Deny"}}
	}
	var out []option
	for _, o := range offered {
		out = append(out, option{Option: o})
	}
	if r.Kind == protocol.ApprovePlan {
		out = append(out, option{protocol.Option{Kind: protocol.Deny, Label: "Make another plan, for the reason given"}, true})
	}
	return out
}

// move chooses another row.
func (f *form) move(by int) { f.at = min(max(f.at+by, 0), len(f.rows)-1) }

// choose makes the row of an option the chosen one.
func (f *form) choose(o *option) {
	f.at = slices.IndexFunc(f.rows, func(r row) bool { return r.kind == rowOption && &f.options[r.index] == o })
}

// enter acts on the chosen row; what it returns, when not nil, decides.
func (f *form) enter() *option {
	r := f.rows[f.at]
	switch r.kind {
	case rowChoice:
		q := &f.questions[r.question]
		f.pick(q, q.Choices[r.index].ID)
	case rowAnswer:
		f.write(f.typed[f.questions[r.question].ID])
	case rowReason:
		f.write(f.reason)
	case rowTask:
		id := f.tasks[r.index].ID
		f.dropped[id] = !f.dropped[id]
	case rowPatch:
		f.offered = !f.offered
	case rowOption:
		return &f.options[r.index]
	}
	return nil
}

func (f *form) pick(q *protocol.Question, choice string) {
	have := f.picked[q.ID]
	switch i := slices.Index(have, choice); {
	case i >= 0:
		f.picked[q.ID] = slices.Delete(have, i, i+1)
	case q.Many:
		f.picked[q.ID] = append(have, choice)
	default:
		f.picked[q.ID] = []string{choice}
	}
}

// toReason chooses the row of the reason and begins to write it.
func (f *form) toReason() {
	f.at = len(f.rows) - 1
	f.write(f.reason)
}

func (f *form) write(text string) { f.input = newWords(text) }

// key edits the text row that is written; enter keeps it, esc does not.
func (f *form) key(msg tea.KeyPressMsg) {
	switch msg.String() {
	case "enter", "tab":
		f.keep(strings.TrimSpace(f.input.Value()))
		f.input = nil
	case "esc":
		f.input = nil
	default:
		*f.input, _ = f.input.Update(msg)
	}
}

// keep takes what was written into the chosen row.
func (f *form) keep(text string) {
	switch r := f.rows[f.at]; r.kind {
	case rowAnswer:
		f.typed[f.questions[r.question].ID] = text
	case rowTask:
		if t := &f.tasks[r.index]; text != "" && text != t.Title {
			f.titles[t.ID] = text
		} else {
			delete(f.titles, t.ID)
		}
	default:
		f.reason = text
	}
}

// paste inserts into the text row that is written.
func (f *form) paste(s string) {
	*f.input, _ = f.input.Update(tea.PasteMsg{Content: oneLine(transcript.Clean(s))})
}

// data is the decision as it is sent.
func (f *form) data(request string, o *option) protocol.ApproveData {
	d := protocol.ApproveData{Request: request, Option: o.ID, Reason: f.reason}
	if o.ID == "" {
		d.Decision = o.Kind
	}
	switch {
	case o.replan:
		d.Input = &protocol.ApprovalInput{Replan: true}
	case !allows(o):
	case len(f.questions) > 0:
		d.Input = &protocol.ApprovalInput{Answers: f.answers()}
	case len(f.titles) > 0, slices.ContainsFunc(f.tasks, func(t protocol.Task) bool { return f.dropped[t.ID] }):
		d.Input = &protocol.ApprovalInput{Tasks: f.kept()}
	case f.patch != nil && f.offered:
		d.Input = &protocol.ApprovalInput{Patch: *f.patch}
	}
	return d
}

func allows(o *option) bool { return o.Kind == protocol.AllowOnce || o.Kind == protocol.AllowAlways }

// unanswered tells that the option would answer questions with nothing.
func (f *form) unanswered(o *option) bool {
	return allows(o) && len(f.questions) > 0 && len(f.answers()) == 0
}

func (f *form) answers() map[string][]string {
	out := map[string][]string{}
	for _, q := range f.questions {
		given := slices.Clone(f.picked[q.ID])
		if own := f.typed[q.ID]; own != "" {
			given = append(given, own)
		}
		if len(given) > 0 {
			out[q.ID] = given
		}
	}
	return out
}

// kept is the plan as the person wants it: without the tasks dropped, which
// nothing waits for any more.
func (f *form) kept() []protocol.Task {
	var out []protocol.Task
	for _, t := range f.tasks {
		if !f.dropped[t.ID] {
			t.Title = cmp.Or(f.titles[t.ID], t.Title)
			t.After = slices.DeleteFunc(slices.Clone(t.After), func(id string) bool { return f.dropped[id] })
			out = append(out, t)
		}
	}
	return out
}

// option is the option with a number as shown, or nil.
func (f *form) option(key string) *option {
	if len(key) != 1 || key[0] < '1' || int(key[0]-'1') >= len(f.options) {
		return nil
	}
	return &f.options[key[0]-'1']
}

// Render is the rows, each of as many lines as it takes: what is decided shows
// whole. at is the first line of the chosen row.
func (f *form) Render(width int, focused bool) (out []string, at int) {
	for i, r := range f.rows {
		if (r.kind == rowChoice || r.kind == rowAnswer) && (i == 0 || f.rows[i-1].kind == rowAnswer) {
			for _, line := range wrap(transcript.Reveal(f.questions[r.question].Text), width-indent) {
				out = append(out, "   "+f.look.bold.Render(line))
			}
		}
		if i == f.at {
			at = len(out)
			if f.input != nil {
				out = append(out, f.written(r, width))
				continue
			}
		}
		for n, line := range wrap(f.row(r), width-indent-2) {
			switch {
			case n > 0:
				line = "     " + line
			case focused && i == f.at:
				line = " ▸ " + line
			default:
				line = "   " + line
			}
			if focused && i == f.at {
				line = f.look.chosen.Render(line)
			}
			out = append(out, line)
		}
	}
	return out, at
}

// wrap is text in lines of at most width cells.
func wrap(s string, width int) []string {
	text := transcript.NewText()
	text.Append(s)
	out, _ := text.Lines(width)
	if len(out) == 0 {
		return []string{""}
	}
	return out
}

func (f *form) row(r row) string {
	switch r.kind {
	case rowChoice:
		q := &f.questions[r.question]
		c := &q.Choices[r.index]
		marks := [...]string{"( ) ", "(•) "}
		if q.Many {
			marks = [...]string{"[ ] ", "[x] "}
		}
		mark := marks[0]
		if slices.Contains(f.picked[q.ID], c.ID) {
			mark = marks[1]
		}
		text := mark + oneLine(transcript.Reveal(cmp.Or(c.Label, c.ID)))
		if c.About != "" {
			text += " — " + oneLine(transcript.Reveal(c.About))
		}
		return text
	case rowAnswer:
		return "own words: " + oneLine(transcript.Reveal(f.typed[f.questions[r.question].ID]))
	case rowTask:
		t := &f.tasks[r.index]
		text := "[x] "
		if f.dropped[t.ID] {
			text = "[ ] "
		}
		text += oneLine(transcript.Reveal(cmp.Or(f.titles[t.ID], t.Title)))
		if t.Description != "" {
			text += " — " + oneLine(transcript.Reveal(t.Description))
		}
		return text
	case rowPatch:
		mark := "[ ] "
		if f.offered {
			mark = "[x] "
		}
		return mark + "with the patch as edited" + prefixed(": ", f.look.keys.Hint(keymap.EditRequest, "edits it again"))
	case rowReason:
		return f.look.keys.Key(keymap.WriteReason) + " reason: " + oneLine(transcript.Reveal(f.reason))
	}
	o := &f.options[r.index]
	text := fmt.Sprintf("%d %s", r.index+1, oneLine(transcript.Reveal(cmp.Or(o.Label, string(o.Kind)))))
	if o.Scope != "" {
		text += ": " + oneLine(transcript.Reveal(o.Scope))
	}
	return text
}

func (f *form) written(r row, width int) string {
	label := r.label()
	f.input.SetWidth(max(1, width-ansi.StringWidth(label)-1))
	return fit(f.look.key.Render(label)+f.input.View(), width)
}

func (r row) label() string {
	switch r.kind {
	case rowReason:
		return " ▸ reason: "
	case rowTask:
		return " ▸ task: "
	}
	return " ▸ own words: "
}

// cursor is the column where the text row is written.
func (f *form) cursor() int {
	x := ansi.StringWidth(f.rows[f.at].label())
	if c := f.input.Cursor(); c != nil {
		x += c.X
	}
	return x
}
