package approval

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// Widths of the parts of a card, in cells.
const (
	frameWidth  = 4 // both sides of the frame, with a space
	labelWidth  = 8
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
	gutter string // "" for a line of agentctl's own
	text   string
	styled bool // text has style marks
	prose  bool
	risks  []span
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

// isChanged reports whether the card shows another text than that of the request.
func (c *card) isChanged(r *protocol.Approval) bool { return c.key.known && c.text() != textOf(r) }

// update lays out a request at a width unless the card shows it already. Lines that do not change
// stay seen; so do all lines if the request was seen completely.
func (c *card) update(s *ui.Styles, r *protocol.Approval, options decisionOptions, width int) {
	key := textOf(r)
	key.width, key.sideBySide = width, s.SideBySide(width-labelWidth)
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
	sections := slices.Concat(c.outcome, c.changes.withoutNamed(Sections(r, c.changes.parsed), r.CWD), c.asked)
	c.lines, c.firstRun, c.lastRun, c.runLines = nil, 0, 0, 0
	if names := c.changes.risks; len(names) > 0 {
		c.lines = append(c.lines, cardLine{label: "⚠", text: fitNames(names, c.key.width-frameWidth-labelWidth)})
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

// fitNames returns the names that fit into width cells and the number of the others.
func fitNames(names []string, width int) string {
	text := strings.Join(names, keymap.Separator)
	for n := len(names) - 1; n > 0 && ansi.StringWidth(text) > width; n-- {
		text = fmt.Sprintf("%s +%d", strings.Join(names[:n], keymap.Separator), len(names)-n)
	}
	return text
}

// appendSection adds the lines of a section. It returns the number of its lines as the agent wrote
// them.
func (c *card) appendSection(s *Section, dir string) int {
	width := max(1, c.key.width-frameWidth-labelWidth-gutterWidth)
	label := s.Label
	add := func(l cardLine) {
		l.label, l.row = label, s.row
		label = ""
		c.lines = append(c.lines, l)
	}
	if text := c.documentOf(s); text != nil {
		lines, _ := text.Lines(width)
		for _, line := range lines {
			add(cardLine{gutter: lineGutter, text: line, styled: true})
		}
		return len(lines)
	}
	for _, line := range Wrap(s.Note, width, true) {
		if line != "" {
			add(cardLine{text: line})
		}
	}
	lines := s.Lines()
	spans := make([][]span, len(lines))
	if s.exact() {
		_, spans = findRisks(lines, dir)
	}
	for i, line := range lines {
		from, gutter := 0, lineGutter
		for _, part := range Wrap(line, width, s.Prose) {
			to := from + len(part)
			add(cardLine{gutter: gutter, text: part, prose: s.Prose, risks: clip(spans[i], from, to)})
			from, gutter = to, wrapGutter
		}
	}
	return strings.Count(s.Text, "\n") + 1
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

// clip returns the parts of spans in a range of bytes, relative to its start.
func clip(spans []span, from, to int) []span {
	var out []span
	for _, s := range spans {
		if a, b := max(s.from, from), min(s.to, to); a < b {
			out = append(out, span{a - from, b - from})
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
		if row := c.lines[i].row; !c.seen[i] && (row.kind != rowOption || row == option) {
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
	if l.gutter == "" {
		return s.Warning.Render(ui.Pad(l.label, labelWidth) + l.text)
	}
	label := s.Dim.Render(ui.Pad(ui.Fit(l.label, labelWidth-1), labelWidth) + l.gutter)
	if l.styled {
		return label + s.RenderLine(l.text)
	}
	var out strings.Builder
	out.WriteString(label)
	at := 0
	for _, r := range l.risks {
		out.WriteString(l.text[at:r.from])
		out.WriteString(s.Warning.Bold(true).Render(l.text[r.from:r.to]))
		at = r.to
	}
	out.WriteString(l.text[at:])
	return out.String()
}
