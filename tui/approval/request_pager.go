package approval

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"

	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/diff"
	"agentctl/tui/filechange"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// maxChangeLines bounds the lines of changes that are laid out in a panel. The pager shows all.
const maxChangeLines = 200

// requestChanges is what a request changes, laid out once for a patch.
type requestChanges struct {
	changes *filechange.Changes
	patch   string // the patch they were made of
	parsed  bool   // the patch could be read
}

// update returns the changes of a request, or nil.
func (c *requestChanges) update(r *protocol.Approval) *filechange.Changes {
	if c.changes == nil || c.patch != r.Patch {
		c.patch = r.Patch
		c.changes, c.parsed = changesOf(r)
	}
	return c.changes
}

// changesOf returns what a request changes, or nil, and whether its patch could be read. A patch that could
// not is shown as text.
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

// RequestLines returns at most rows lines that say what a request asks for, and how many lines are left out.
// Characters that would not show are made visible.
func (f *Form) RequestLines(r *protocol.Approval, width, rows int) (out []string, hidden int) {
	changes := f.changes.update(r)
	add := func(lines []string, render func(string) string) {
		room := max(0, min(len(lines), rows-len(out)))
		hidden += len(lines) - room
		for _, line := range lines[:room] {
			out = append(out, "   "+render(line))
		}
	}
	for _, p := range Passages(r, f.changes.parsed) {
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

// NewRequestPager returns a pager that shows all of a request.
func NewRequestPager(l *ui.Styles, r *protocol.Approval) *ui.Pager {
	var items []transcript.Item
	changes, parsed := changesOf(r)
	for _, p := range Passages(r, parsed) {
		items = append(items, ui.TextItems(l, strings.TrimSuffix(transcript.Reveal(p.Text), "\n"), ui.AsPreformatted)...)
	}
	if changes != nil {
		items = append(items, changes.Items(l)...)
	}
	for i := range r.Tasks {
		text := fmt.Sprintf("%d. %s\n   %s\n", i+1, r.Tasks[i].Title, r.Tasks[i].Description)
		items = append(items, ui.TextItems(l, transcript.Reveal(text), ui.AsPreformatted)...)
	}
	return ui.NewPager(l, "approval · "+ui.OneLine(transcript.Reveal(r.Title)), items...)
}

// Passage is one piece of what a request says.
type Passage struct {
	Text         string
	role         passageRole
	preformatted bool
}

type passageRole uint8

const (
	roleText passageRole = iota
	roleTitle
	roleCommand
	roleDetail
)

func (r passageRole) style(l *ui.Styles) lipgloss.Style {
	switch r {
	case roleTitle:
		return l.Bold
	case roleDetail:
		return l.Dim
	}
	return l.Plain
}

// Passages returns what a request says. Diffs in its content are left out: they are shown as changes. So is
// its patch when patchShown.
func Passages(r *protocol.Approval, patchShown bool) []Passage {
	out := []Passage{{Text: r.Title, role: roleTitle}}
	add := func(role passageRole, preformatted bool, prefix, text string) {
		if text != "" {
			out = append(out, Passage{prefix + text, role, preformatted})
		}
	}
	add(roleCommand, true, "$ ", r.Command)
	add(roleDetail, true, "in ", r.CWD)
	add(roleText, false, "why: ", r.Why)
	for _, p := range r.Paths {
		add(roleDetail, true, "changes ", p)
	}
	if !patchShown {
		add(roleText, true, "", r.Patch)
	}
	for i := range r.Content {
		if r.Content[i].Type != "diff" {
			add(roleText, true, "", describe.Content(&r.Content[i]))
		}
	}
	if r.Command == "" && r.Patch == "" && len(r.Content) == 0 && len(r.Input) > 0 {
		add(roleCommand, true, "", describe.JSON(r.Input))
	}
	for _, e := range r.Explained {
		add(roleText, false, "explained: ", e)
	}
	return out
}
