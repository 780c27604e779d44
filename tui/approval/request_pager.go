package approval

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/diff"
	"agentctl/tui/filechange"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// maxChangeLines limits the lines of changes in a panel. The pager shows all.
const maxChangeLines = 200

// changesOf returns the changes of a request, or nil if there are none, and whether its patch could
// be parsed. If not, the patch is shown as text.
func changesOf(r *protocol.Approval) (c *filechange.Changes, parsed bool) {
	files, parsed := diff.Parse(transcript.Reveal(r.Patch))
	if !parsed {
		files = nil
	}
	if files = append(files, filechange.FromContent(r.Content, transcript.Reveal)...); len(files) > 0 {
		c = filechange.New(files)
	}
	return c, parsed
}

// RequestLines returns at most rows lines that describe a request, and the number of lines left
// out. Invisible characters are made visible.
func (f *Form) RequestLines(r *protocol.Approval, width, rows int) (out []string, hidden int) {
	changes := f.cache.update(r)
	add := func(lines []string, render func(string) string) {
		room := max(0, min(len(lines), rows-len(out)))
		hidden += len(lines) - room
		for _, line := range lines[:room] {
			out = append(out, "   "+render(line))
		}
	}
	for _, p := range Passages(r, f.cache.parsed) {
		if text := f.cache.markdownOf(&p); text != nil {
			lines, _ := text.Lines(width - ui.Indent)
			add(lines, f.styles.RenderLine)
			continue
		}
		text := transcript.NewText()
		if p.preformatted {
			text = transcript.NewPreformatted()
		}
		text.Append(transcript.Reveal(p.Text))
		style := p.role.style(f.styles)
		lines, _ := text.Lines(width - ui.Indent)
		add(lines, func(s string) string { return style.Render(s) })
	}
	if changes != nil {
		lines, more := changes.Lines(max(1, width-ui.Indent), maxChangeLines, f.styles.SideBySide(width))
		add(lines, f.styles.RenderLine)
		hidden += more
	}
	return out, hidden
}

// NewRequestPager returns a pager that shows the whole request.
func NewRequestPager(s *ui.Styles, r *protocol.Approval) *ui.Pager {
	var items []transcript.Item
	changes, parsed := changesOf(r)
	for _, p := range Passages(r, parsed) {
		if text := p.markdownText(); text != nil {
			items = append(items, ui.MarkdownItem(s, text))
			continue
		}
		text := strings.TrimSuffix(transcript.Reveal(p.Text), "\n")
		items = append(items, ui.TextItems(s, text, ui.AsPreformatted)...)
	}
	if changes != nil {
		items = append(items, changes.Items(s)...)
	}
	for i := range r.Questions {
		text := r.Questions[i].Text + "\n"
		for _, c := range r.Questions[i].Choices {
			text += "   " + c.Label + ui.Prefixed(": ", c.About) + "\n"
		}
		items = append(items, ui.TextItems(s, transcript.Reveal(text), ui.AsPreformatted)...)
	}
	for i := range r.Tasks {
		text := fmt.Sprintf("%d. %s\n   %s\n", i+1, r.Tasks[i].Title, r.Tasks[i].Description)
		items = append(items, ui.TextItems(s, transcript.Reveal(text), ui.AsPreformatted)...)
	}
	return ui.NewPager(s, "approval · "+ui.OneLine(transcript.Reveal(r.Title)), items...)
}

// Passage is a part of the description of a request.
type Passage struct {
	Text         string
	role         passageRole
	preformatted bool // wrap anywhere, not only at words
	markdown     bool
}

// passageRole selects the style of a passage.
type passageRole uint8

const (
	roleText passageRole = iota
	roleTitle
	roleCommand
	roleDetail
)

func (r passageRole) style(s *ui.Styles) lipgloss.Style {
	switch r {
	case roleTitle:
		return s.Bold
	case roleDetail:
		return s.Dim
	}
	return s.Plain
}

// Passages returns the description of a request: all that it tells. It leaves out diffs in the
// content, which are shown as changes, the patch if patchShown is set, and texts that are shown
// elsewhere: the questions, and parts that repeat another one. A line of one part cannot pass for
// another part: the lines after the first are indented.
func Passages(r *protocol.Approval, patchShown bool) []Passage {
	var out []Passage
	add := func(role passageRole, preformatted bool, prefix, text string) {
		if text != "" {
			indent := "\n" + strings.Repeat(" ", max(2, len(prefix)))
			text = prefix + strings.ReplaceAll(text, "\n", indent)
			out = append(out, Passage{Text: text, role: role, preformatted: preformatted})
		}
	}
	if !titleRepeats(r) {
		add(roleTitle, false, "", strings.TrimSpace(r.Title))
	}
	add(roleCommand, true, "$ ", describe.LastLines(r.Command))
	for _, setting := range r.CommandSettings() {
		add(roleDetail, true, "", setting)
	}
	add(roleDetail, true, "in ", r.CWD)
	if !strings.Contains(r.Title, strings.TrimSpace(r.Why)) {
		if r.Kind == protocol.ApprovePlan { // the plan itself
			out = append(out, Passage{Text: r.Why, role: roleText})
		} else {
			add(roleText, false, "why: ", r.Why)
		}
	}
	for _, p := range describe.Paths(r) {
		add(roleDetail, true, "changes ", p)
	}
	if !patchShown && r.Patch != "" {
		out = append(out, Passage{Text: r.Patch, role: roleText, preformatted: true})
	}
	for i := range r.Content {
		if c := &r.Content[i]; c.Type != "diff" {
			out = append(out, Passage{Text: describe.Content(c), preformatted: true, markdown: describe.IsMarkdown(c)})
		}
	}
	if rest, opaque := r.RestArguments(); rest != "" {
		add(roleCommand, true, describe.ArgumentsLabel(opaque), describe.ArgumentsText(rest))
	} else if r.Kind == protocol.ApproveQuestion || r.Kind == protocol.ApprovePlan {
		if r.Command == "" && r.Patch == "" && len(r.Content) == 0 && unseenInput(r) != "" {
			out = append(out, Passage{Text: unseenInput(r), role: roleCommand, preformatted: true})
		}
	}
	for _, e := range r.Explained {
		add(roleText, false, "explained: ", e)
	}
	return out
}

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
		return describe.Field(key, value)
	})
	if !ok {
		return describe.JSON(r.Input)
	}
	return strings.Join(slices.DeleteFunc(fields, func(s string) bool { return s == "" }), "\n")
}

// questionText returns questions in the arguments, which the client cannot answer, as text. It
// leaves out what the title or the reason tells. ok is false if they are no questions.
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
