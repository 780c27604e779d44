package approval

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/highlight"
	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// Widths of the parts of a card, in cells.
const (
	frameWidth  = 4  // both sides of the frame, with a space
	labelWidth  = 8  // of the column of the labels
	minColumns  = 60 // narrower cards have no such column: labels stand above a text that needs the width
	gutterWidth = 2
	minWidth    = frameWidth + labelWidth + gutterWidth + 4 // narrower cards show nothing
)

// card is the description of a request as lines at one width, and which of them were on the screen.
// Each line of the agent's text follows a label and a gutter, so that the agent cannot imitate
// agentctl's own lines.
type card struct {
	key       cardKey
	lines     []cardLine
	seen      []bool // by index of a line
	firstRun  int    // index of the first line of what the request runs
	lastRun   int    // index after its last line
	inForm    int    // index of the first line that the form shows instead of the card
	optionsAt int    // index of the first line of an option
	runLines  int    // number of lines of what the request runs, as the agent wrote it
	requested string // command of the request; another one is shown as edited
	directory string // of the session, or ""
	documents map[string]*transcript.Markdown
	changes   cardChanges
	readOnly  bool      // no form shows a part of it
	outcome   []Section // before the sections of the request
	asked     []Section // after them
	above     bool      // the line above the card has the title
}

// cardKey identifies the content and the layout of a card.
type cardKey struct {
	known      bool
	command    string
	patch      string
	page       string
	explained  int
	width      int
	sideBySide bool
}

// text returns the part of the key that identifies the content.
func (c *card) text() cardKey {
	key := c.key
	key.width, key.sideBySide = 0, false
	return key
}

// cardLine is a line of a card.
type cardLine struct {
	label  string
	column int     // width of the label; 0: it is the line, or there is none
	gutter string  // "" for a line of agentctl's own
	text   string  // with style marks
	row    formRow // of the form that shows the line too
}

// Gutters of the agent's text.
const (
	lineGutter = "▏ "
	wrapGutter = "↪ "
)

// textOf returns the part of the key of a request that identifies the content.
func textOf(r *protocol.Approval) cardKey {
	key := cardKey{known: true, command: r.Command, patch: r.Patch, explained: len(r.Explained)}
	if r.Page != nil {
		key.page = r.Page.URL
	}
	return key
}

// isChanged reports whether the card shows another text than the request has.
func (c *card) isChanged(r *protocol.Approval) bool { return c.key.known && c.text() != textOf(r) }

// update lays out a request at a width unless the card shows it already. Lines that do not change
// stay seen; so do all lines if the request was seen completely.
func (c *card) update(s *ui.Styles, r *protocol.Approval, options decisionOptions, width int) {
	key := textOf(r)
	key.width, key.sideBySide = width, s.SideBySide(width-labelColumn(width))
	if c.key == key {
		return
	}
	sameText := c.text() == textOf(r)
	if !c.key.known || c.key.patch != key.patch || c.key.command != key.command {
		c.changes = newCardChanges(r, c.directory)
	}
	old := *c
	c.key = key
	c.layout(r, options)
	c.seen = make([]bool, len(c.lines))
	complete := sameText && !slices.Contains(old.seen, false)
	for i := range c.lines {
		same := i < len(old.lines) && old.seen[i] && old.key.width == width && old.lines[i].text == c.lines[i].text
		c.seen[i] = complete || same
	}
}

// layout sets the lines of the card.
func (c *card) layout(r *protocol.Approval, options decisionOptions) {
	dir := cmp.Or(c.directory, r.CWD)
	sections, title := c.sections(r)
	c.lines, c.firstRun, c.lastRun, c.runLines = nil, 0, 0, 0
	if names, column := c.changes.risks, max(c.column(), 2); len(names) > 0 {
		text := fitNames(names, c.key.width-frameWidth-column)
		c.lines = append(c.lines, cardLine{label: "⚠", column: column, text: text})
	}
	run := slices.IndexFunc(sections, func(s Section) bool { return s.Runs })
	if r.Command != c.requested && run >= 0 {
		sections[run].Label = "edited" // the command comes first
	}
	for i := range sections {
		if i == run {
			c.firstRun = len(c.lines)
		}
		if sections[i].changes {
			c.changes.at, c.changes.run = len(c.lines), i == run
			continue
		}
		n := c.appendSection(&sections[i], dir)
		if i == run {
			c.lastRun, c.runLines = len(c.lines), n
		}
	}
	c.inForm = len(c.lines)
	for i := range title {
		c.appendSection(&title[i], dir)
	}
	c.optionsAt = len(c.lines)
	for _, s := range rowSections(r, options) {
		if c.appendSection(&s, dir); s.row.kind != rowOption {
			c.optionsAt = len(c.lines)
		}
	}
	if c.readOnly {
		c.inForm = c.optionsAt
	}
}

// sections returns the sections of a request, and apart its title if the line above the card has it. A
// directory equal to the directory of the session is left out, except in a record.
func (c *card) sections(r *protocol.Approval) (sections, title []Section) {
	all := c.changes.withoutNamed(Sections(r, c.changes.parsed), r.CWD)
	words := len("? " + keymap.Separator + keymap.Separator + "waiting for a decision")
	runs := slices.ContainsFunc(all, func(s Section) bool { return s.Runs }) // else the title is what runs
	fits := runs && transcript.Width(r.Name+transcript.Reveal(r.Title))+words <= c.key.width
	for _, s := range all {
		switch {
		case s.Label == "in" && r.CWD == c.directory && c.outcome == nil:
		case s.Label == "title" && c.above && fits:
			if s.row.kind = rowAbove; !c.readOnly {
				title = append(title, s)
			}
		default:
			sections = append(sections, s)
		}
	}
	return slices.Concat(c.outcome, sections, c.asked), title
}

// column returns the width of the column of the labels.
func (c *card) column() int { return labelColumn(c.key.width) }

// labelColumn returns the width of the column of the labels in a card of a width.
func labelColumn(width int) int {
	if width < minColumns {
		return 0
	}
	return labelWidth
}

// textWidth returns the width of the agent's text.
func (c *card) textWidth() int { return max(1, c.key.width-frameWidth-c.column()-gutterWidth) }

// fitNames returns the names that fit into width cells and the number of the others.
func fitNames(names []string, width int) string {
	text := strings.Join(names, keymap.Separator)
	for n := len(names) - 1; n > 0 && transcript.Width(text) > width; n-- {
		text = fmt.Sprintf("%s +%d", strings.Join(names[:n], keymap.Separator), len(names)-n)
	}
	return text
}

// appendSection adds the lines of a section. It returns the number of its lines as the agent wrote
// them.
func (c *card) appendSection(s *Section, dir string) int {
	width, label, column := c.textWidth(), s.Label, c.column()
	switch {
	case label == "":
		column, width = 0, width+column
	case column == 0:
		beside, below := rows(s.wrapped(width-labelWidth, dir)), rows(s.wrapped(width, dir))
		if !s.markdown && transcript.Width(label) < labelWidth && (beside <= below || beside == 2) {
			column, width = labelWidth, width-labelWidth
		} else {
			c.lines = append(c.lines, cardLine{label: label, row: s.row})
			label = ""
		}
	}
	add := func(l cardLine) {
		l.label, l.column, l.row = label, column, s.row
		label = ""
		c.lines = append(c.lines, l)
	}
	if text := c.documentOf(s); text != nil {
		lines, _ := text.Lines(width)
		for _, line := range lines {
			add(cardLine{gutter: lineGutter, text: line})
		}
		return len(lines)
	}
	for _, line := range Wrap(s.Note, width, true) {
		if line != "" {
			add(cardLine{text: line})
		}
	}
	for _, parts := range s.wrapped(width, dir) {
		gutter := lineGutter
		for _, part := range parts {
			add(cardLine{gutter: gutter, text: part})
			gutter = wrapGutter
		}
	}
	return strings.Count(s.Text, "\n") + 1
}

// rows returns the number of the parts of all lines.
func rows(lines [][]string) (n int) {
	for _, parts := range lines {
		n += len(parts)
	}
	return n
}

// riskStyle is the style of a risk in a text.
const riskStyle = transcript.Strong | transcript.Underline | transcript.Yellow

// wrapped returns the lines of the text, each cut to parts of at most width cells, with style marks:
// risks stand out, and the words of a command have the colours of the shell.
func (s *Section) wrapped(width int, dir string) (out [][]string) {
	lines := s.Lines()
	if !s.exact() {
		for _, line := range lines {
			out = append(out, Wrap(line, width, s.Prose))
		}
		return out
	}
	if s.risks == nil {
		_, s.risks = findRisks(lines, dir)
	}
	var scanner highlight.Scanner
	if s.shell {
		scanner = highlight.ByName("sh").NewScanner()
	}
	for i, line := range lines {
		var tokens []highlight.Token
		if s.shell {
			tokens = scanner.Scan(line, nil)
		}
		text, at := &transcript.StyledText{}, 0
		code := func(to int) {
			text.AppendCode(line[at:to], clip(tokens, at, to), 0)
			at = to
		}
		for _, r := range s.risks[i] {
			code(r.from)
			text.Append(line[r.from:r.to], riskStyle)
			at = r.to
		}
		code(len(line))
		out = append(out, text.Lines(width))
	}
	return out
}

// Wrap cuts a line into parts of at most width cells. Unless it is prose, the parts joined are the
// line.
func Wrap(line string, width int, prose bool) []string {
	text := transcript.NewPreformatted()
	if prose {
		text = transcript.NewText()
	}
	text.Append(line)
	parts, _ := text.Lines(width)
	if len(parts) == 0 {
		return []string{""}
	}
	return parts
}

// clip returns the parts of tokens in a range of bytes, relative to its start.
func clip(tokens []highlight.Token, from, to int) (out []highlight.Token) {
	for _, t := range tokens {
		if a, b := max(t.From, from), min(t.To, to); a < b {
			out = append(out, highlight.Token{From: a - from, To: b - from, Kind: t.Kind})
		}
	}
	return out
}

// documentOf returns a section as Markdown, or nil if it is shown as text.
func (c *card) documentOf(s *Section) *transcript.Markdown {
	if !s.markdown {
		return nil
	}
	text, ok := c.documents[s.Text]
	if !ok {
		text = s.document()
		if c.documents == nil {
			c.documents = map[string]*transcript.Markdown{}
		}
		c.documents[s.Text] = text
	}
	return text
}

// markSeen records that the lines in a range were on the screen. A card too narrow for its text
// shows nothing.
func (c *card) markSeen(from, to int) {
	if c.key.width < minWidth {
		return
	}
	for i := max(from, 0); i < min(to, len(c.seen)); i++ {
		c.seen[i] = true
	}
}

// markRowsSeen records the rows of a form, drawn as lines, of which all lines are shown.
func (c *card) markRowsSeen(lines, shown []formLine) {
	missing := map[formRow]int{}
	for _, line := range lines {
		missing[line.row]++
	}
	for _, line := range shown {
		if missing[line.row]--; missing[line.row] != 0 {
			continue
		}
		for i := c.inForm; i < len(c.lines); i++ {
			if c.lines[i].row == line.row {
				c.markSeen(i, i+1)
			}
		}
	}
}

// complete reports whether all lines and all changes were on the screen. Of the options, only the
// given one counts.
func (c *card) complete(option formRow) bool {
	for i := range c.lines {
		if row := c.lines[i].row; !c.seen[i] && row.kind != rowAbove && (row.kind != rowOption || row == option) {
			return false
		}
	}
	return c.key.known && (c.changes.Changes == nil || c.changes.Complete())
}

// size returns how much a request runs, after a comma, or "".
func (c *card) size() string {
	switch {
	case c.changes.Changes != nil && len(c.changes.Files()) > 1:
		return ", " + c.changes.Summary()
	case c.runLines > 1:
		return ", " + format.Count(c.runLines, "line")
	}
	return ""
}

// render draws a line without the frame.
func (l *cardLine) render(s *ui.Styles) string {
	switch {
	case l.gutter == "" && l.text == "":
		return s.Dim.Render(l.label)
	case l.gutter == "":
		return s.Warning.Render(ui.Pad(l.label, l.column) + l.text)
	}
	return s.Dim.Render(ui.Pad(ui.Fit(l.label, l.column-1), l.column)+l.gutter) + s.RenderLine(l.text)
}
