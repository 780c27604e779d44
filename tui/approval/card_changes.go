package approval

import (
	"slices"
	"strings"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/diff"
	"agentctl/tui/filechange"
	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// cardChanges are the changes of files that a card shows.
type cardChanges struct {
	*filechange.Changes // nil: none

	parsed bool // the patch has diff syntax; otherwise it is shown as text
	risks  []string
	at     int  // index of the line of the card that follows the changes
	run    bool // the request carries the changes out
}

// newCardChanges returns the changes of a request in a session with the directory dir.
func newCardChanges(r *protocol.Approval, dir string) cardChanges {
	files, parsed := diff.Parse(transcript.Reveal(r.Patch))
	if !parsed {
		files = nil
	}
	c := cardChanges{parsed: parsed, risks: Risks(r, dir)}
	if files = append(files, filechange.FromContent(r.Content, transcript.Reveal)...); len(files) > 0 {
		c.Changes = filechange.New(files)
	}
	return c
}

// withoutNamed returns the sections without the files that the changes name. A path with characters
// that are not shown as they are stays.
func (c *cardChanges) withoutNamed(sections []Section, cwd string) []Section {
	if c.Changes == nil {
		return sections
	}
	named := map[string]bool{}
	for _, f := range c.Files() {
		named[f.Old], named[f.New] = true, true
	}
	return slices.DeleteFunc(sections, func(s Section) bool {
		return s.Label == "file" && !strings.ContainsAny(s.Text, "\n\t") && transcript.Reveal(s.Text) == s.Text &&
			(named[s.Text] || cwd != "" && named[strings.TrimSuffix(cwd, "/")+"/"+s.Text])
	})
}

// excerptLine is a line of an excerpt: of the card, of its changes, or the mark of lines left out.
type excerptLine struct {
	index  int // of a line of the card; -1: of the changes or the mark
	change filechange.TopLine
	hidden int // number of lines left out at the mark
}

// minChangeRows are the rows of changes that the other lines of a card leave in an excerpt.
const minChangeRows = 5

// excerpt returns at most rows lines that show the most of the request. It shows the start of
// changes, or the start and the end of what else the request runs.
func (c *card) excerpt(rows int) []excerptLine {
	var changes []filechange.TopLine
	total := c.inForm
	if c.changes.Changes != nil && rows > 0 {
		changes = c.changes.Top(c.textWidth(), rows+1, c.key.sideBySide)
		total += max(len(changes), c.changes.Estimate())
		if len(changes) <= rows {
			total = c.inForm + len(changes)
		}
	}
	var out []excerptLine
	add := func(from, to int) {
		for i := from; i < to; i++ {
			out = append(out, excerptLine{index: i})
		}
	}
	addChanges := func(n int) {
		for _, line := range changes[:min(max(n, 0), len(changes))] {
			out = append(out, excerptLine{index: -1, change: line})
		}
	}
	mark := func() { out = append(out, excerptLine{index: -1, hidden: 1}) }
	switch {
	case total <= rows:
		add(0, min(c.changes.at, c.inForm))
		addChanges(len(changes))
		add(min(c.changes.at, c.inForm), c.inForm)
	case rows <= 0:
	case c.changes.run:
		before, after := min(c.changes.at, max(0, rows-3)), c.inForm-c.changes.at
		if rows-before-after-1 < minChangeRows {
			after = 0
		}
		add(0, before)
		addChanges(rows - before - after - 1)
		if after == 0 {
			add(c.changes.at, min(c.inForm, c.changes.at+rows-1-len(out)))
		}
		mark()
		add(c.inForm-after, c.inForm)
	case c.lastRun < rows:
		add(0, min(rows-1, c.inForm))
		mark()
	default:
		before := min(c.firstRun, max(0, rows-2)) // the risks and the tool count for all that is left out
		run := rows - before - 1
		add(0, before)
		first := c.firstRun
		if run < 3 && c.lines[first].gutter == "" {
			first++ // the text before its label
		}
		add(first, first+(run+1)/2)
		mark()
		add(c.lastRun-run/2, c.lastRun)
	}
	shown := len(out)
	for i := range out {
		if out[i].hidden > 0 {
			out[i].hidden = max(1, total-shown+1)
		}
	}
	return out
}

// excerptLines draws the lines of an excerpt. keyActs: the key that views all of it acts.
func (c *card) excerptLines(s *ui.Styles, excerpt []excerptLine, keyActs bool) []string {
	out := make([]string, len(excerpt))
	label := "changes"
	if c.column() == 0 {
		label = ""
	}
	for i, l := range excerpt {
		switch {
		case l.index >= 0:
			out[i] = c.lines[l.index].render(s)
		case l.hidden > 0:
			out[i] = s.Warning.Render(c.moreText(s, l.hidden, keyActs))
		default:
			line := cardLine{label: label, column: c.column(), gutter: lineGutter, text: l.change.Text}
			out[i], label = line.render(s), ""
		}
	}
	return out
}

// moreText returns how many lines of a request are left out. It names the key that shows them if the
// key acts.
func (c *card) moreText(s *ui.Styles, hidden int, keyActs bool) string {
	text := ui.Pad("⋯", max(c.column(), 2)) + format.Count(hidden, "line") + " not shown"
	if !keyActs {
		return text
	}
	what := "views all"
	if c.changes.Changes != nil {
		what = "reviews all"
	}
	return text + ui.Prefixed(": ", s.Keys.Hint(keymap.ViewWhole, what))
}

// markExcerptSeen records that the lines of an excerpt were on the screen.
func (c *card) markExcerptSeen(lines []excerptLine) {
	for _, l := range lines {
		switch {
		case l.index >= 0:
			c.markSeen(l.index, l.index+1)
		case l.hidden == 0 && c.key.width >= minWidth+minChangeWidth:
			c.changes.MarkDrawn(l.change.Piece, l.change.Line, l.change.Line+1)
		}
	}
}

// minChangeWidth is the width below which the lines of changes show nothing, beside minWidth.
const minChangeWidth = 16
