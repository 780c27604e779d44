package approval

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/filechange"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// Section is a labelled part of the description of a request. The label is agentctl's, the text the
// agent's.
type Section struct {
	Label string
	Note  string // words of agentctl's before the text, or ""
	Text  string
	Runs  bool // an allowed request carries this text out
	Prose bool // wrap at words
	Exact bool // a name, of which each letter counts

	markdown bool
	shell    bool     // a command line
	changes  bool     // the changes of the request, in place of a text
	row      formRow  // row of the form that shows the section instead of the card
	risks    [][]span // by line, found once for all widths; nil: not yet
}

// Sections returns the description of a request: all that it says, except its questions, tasks
// and options. Why the sandbox refuses it is first, then the parts that it runs, and the tool. Each setting and
// each file has its own section: a line break in it begins no other one. patchShown leaves out
// a patch that the changes show.
func Sections(r *protocol.Approval, patchShown bool) []Section {
	var out []Section
	add := func(s Section) {
		if s.Text != "" {
			out = append(out, s)
		}
	}
	add(Section{Label: "refused", Text: r.Refused})
	add(Section{Label: "command", Text: describe.LastLines(r.Command), Runs: true, shell: true})
	for _, setting := range r.CommandSettings() {
		add(Section{Label: "with", Text: setting, Runs: true})
	}
	out = append(out, pageSections(r.Page)...)
	if r.Name != r.Command {
		add(Section{Label: "tool", Text: r.Name, Exact: true})
	}
	add(inputSection(r))
	if !patchShown {
		add(Section{Label: "patch", Text: r.Patch, Runs: true})
	}
	if r.Patch != "" && patchShown || filechange.HasDiff(r.Content) {
		out = append(out, Section{Label: "changes", Runs: r.Kind == protocol.ApprovePatch, changes: true})
	}
	for _, path := range describe.Paths(r) {
		add(Section{Label: "file", Text: path, Runs: true})
	}
	add(Section{Label: "in", Text: r.CWD, Exact: true})
	if !titleRepeats(r) && r.Title != r.Name {
		add(Section{Label: "title", Text: r.Title, Prose: true})
	}
	if !strings.Contains(r.Title, strings.TrimSpace(r.Why)) || titleRepeats(r) {
		label := "reason"
		if r.Kind == protocol.ApprovePlan {
			label = "plan"
		}
		add(Section{Label: label, Text: r.Why, Runs: label == "plan", Prose: true})
	}
	for i := range r.Content {
		if c := &r.Content[i]; c.Type != "diff" {
			add(Section{Label: "content", Text: describe.Content(c), markdown: describe.IsMarkdown(c)})
		}
	}
	for _, e := range r.Explained {
		add(Section{Label: "explain", Text: e, Prose: true})
	}
	return out
}

// PlainSections returns the description of a request with its changes as text.
func PlainSections(r *protocol.Approval) []Section {
	var out []Section
	for _, s := range Sections(r, false) {
		if !s.changes {
			out = append(out, s)
			continue
		}
		for i := range r.Content {
			if c := &r.Content[i]; c.Type == "diff" {
				out = append(out, Section{Label: s.Label, Text: describe.Content(c)})
			}
		}
	}
	return out
}

// inputSection returns the arguments that no other section shows. Those of a question or a plan are
// its fields in lines; others are JSON, in lines if they are long.
func inputSection(r *protocol.Approval) Section {
	s := Section{Label: "input", Runs: true}
	rest, opaque := r.RestArguments()
	switch {
	case rest != "":
		s.Text, s.Note = describe.ArgumentsText(rest), describe.ArgumentsNote(opaque)
	case r.Kind == protocol.ApproveQuestion || r.Kind == protocol.ApprovePlan:
		s.Text = unseenInput(r)
	}
	return s
}

// Lines returns the lines of the text, with everything that is in it visible.
func (s *Section) Lines() []string { return revealLines(s.Text, s.exact()) }

// exact reports whether each letter of the text counts.
func (s *Section) exact() bool { return s.Exact || s.Runs && !s.Prose }

// rowSections returns the texts of the agent that the rows of a form show: tasks, questions with
// their choices, and options.
func rowSections(r *protocol.Approval, options decisionOptions) []Section {
	var out []Section
	add := func(label string, row formRow, texts ...string) {
		texts = slices.DeleteFunc(texts, func(s string) bool { return s == "" })
		if len(texts) > 0 {
			out = append(out, Section{Label: label, Text: strings.Join(texts, "\n"), Prose: true, row: row})
		}
	}
	for i := range r.Tasks {
		t := &r.Tasks[i]
		add(TaskLabel(r.Tasks, i, nil), formRow{rowTask, 0, i}, t.Title, t.Description)
	}
	for i := range r.Questions {
		q := &r.Questions[i]
		add("asks", formRow{rowText, i, 0}, append([]string{q.Text}, q.Details()...)...)
		for j := range q.Choices {
			c := &q.Choices[j]
			add(fmt.Sprintf("  %d", j+1), formRow{rowChoice, i, j}, cmp.Or(c.Label, c.ID), c.About)
		}
	}
	for i := range options {
		o := &options[i]
		add("option", o.row, o.agentLabel())
		if o.Scope != "" {
			out = append(out, Section{Note: alwaysNote, Text: o.Scope, Prose: true, row: o.row})
		}
	}
	return out
}

// alwaysNote is the note of what a lasting decision covers.
const alwaysNote = "Always would allow:"

// titleRepeats reports whether the title is also the command or the text of a question.
func titleRepeats(r *protocol.Approval) bool {
	title := strings.TrimSpace(r.Title)
	return r.Title == r.Command || slices.ContainsFunc(r.Questions, func(q protocol.Question) bool {
		return title == strings.TrimSpace(q.Text)
	})
}

// unseenInput returns the arguments of the tool as text, without the fields that other parts of the
// request show: the decoded questions, and texts equal to the title, the reason or the directory.
func unseenInput(r *protocol.Approval) string {
	shown := []string{strings.TrimSpace(r.Title), strings.TrimSpace(r.Why), r.CWD}
	fields, ok := describe.Fields(r.Input, func(key, value string) string {
		text := strings.TrimSpace(value)
		repeats := text != "" && slices.Contains(shown, text)
		if repeats || key == "questions" && len(r.Questions) > 0 {
			return ""
		}
		if key == "questions" && r.Kind == protocol.ApproveQuestion {
			if questions, ok := questionText(r, value); ok {
				return questions
			}
		}
		return strings.ReplaceAll(describe.Field(key, value), "\n", "\n  ") // none looks like another
	})
	if !ok {
		return describe.JSON(r.Input)
	}
	return strings.Join(slices.DeleteFunc(fields, func(s string) bool { return s == "" }), "\n")
}

// questionText returns questions in the arguments, which the client cannot answer, as text. It
// leaves out what the title or the reason says. ok is false if they are no questions.
func questionText(r *protocol.Approval, value string) (text string, ok bool) {
	var questions []protocol.Question
	if json.Unmarshal([]byte(value), &questions) != nil {
		return "", false
	}
	var lines []string
	for i := range questions {
		q := &questions[i]
		if q.Text == "" {
			return "", false
		}
		if q.Text != r.Title && !strings.Contains(r.Why, q.Text) || len(questions) > 1 && len(q.Choices) > 0 {
			lines = append(lines, q.Text)
		}
		for _, c := range q.Choices {
			lines = append(lines, "- "+c.Label+ui.Prefixed(": ", c.About))
		}
	}
	return strings.Join(lines, "\n"), true
}

// document returns a section as Markdown, or nil if it is not Markdown. It returns nil also if
// the drawing would leave out a letter or a digit, such as those of an unused link definition: the
// user decides on the text and must see all of it.
func (s *Section) document() *transcript.Markdown {
	if !s.markdown {
		return nil
	}
	source := transcript.Reveal(s.Text)
	text := transcript.NewMarkdown()
	text.Append(source)
	lines, _ := text.Lines(checkWidth)
	drawn := transcript.StripStyles(strings.Join(lines, "\n"))
	if lettersAndDigits(drawn) != lettersAndDigits(source) {
		return nil
	}
	return text
}

// checkWidth is a width at which tables keep their columns.
const checkWidth = 1000

// lettersAndDigits returns the letters and digits of a text.
func lettersAndDigits(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, text)
}
