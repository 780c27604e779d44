package palette

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"agentctl/tui/ui"
)

const (
	nameColumn = 14  // width of the names, in cells
	maxWidth   = 100 // of a row: the key stays beside its text
)

// List is the list of the commands that match a text, one of them selected.
type List struct {
	styles   *ui.Styles
	abouts   bool      // the texts beside the names are searched too
	found    []Command // that match text
	text     string
	selected int
}

// NewList returns a list without commands, which finds them by their names.
func NewList(s *ui.Styles) List { return List{styles: s} }

// Find sets the commands and the text. A new text selects the best match.
func (l *List) Find(commands []Command, text string) {
	if l.text != text {
		l.text, l.selected = text, 0
	}
	l.found = Rank(commands, text, l.abouts)
	l.selected = max(0, min(l.selected, len(l.found)-1))
}

// Len returns the number of matches.
func (l *List) Len() int { return len(l.found) }

// Move moves the selection.
func (l *List) Move(by int) { l.selected = max(0, min(l.selected+by, len(l.found)-1)) }

// Selected returns the selected command. ok is false without a match.
func (l *List) Selected() (c Command, ok bool) {
	if l.selected >= len(l.found) {
		return Command{}, false
	}
	return l.found[l.selected], true
}

// View returns at most rows commands around the selected one, each on one line: name, text, key.
func (l *List) View(width, rows int) []string {
	if len(l.found) == 0 {
		return []string{l.styles.Dim.Render(ui.Fit("   no command", width))}
	}
	lines := make([]string, len(l.found))
	for i := range l.found {
		lines[i] = l.row(&l.found[i], i == l.selected, width)
	}
	lines, _ = ui.Window(lines, l.selected, max(1, rows))
	return lines
}

// row returns the line of a command. The key is left out before the name is cut.
func (l *List) row(c *Command, selected bool, width int) string {
	width = min(width, maxWidth)
	about := c.About
	if c.Action == "" {
		about = strings.TrimSpace(c.Hint + " — " + c.About)
		about = strings.Trim(about, "— ")
	}
	name := ui.Pad(c.Name, nameColumn) + " "
	key := ui.Prefixed(" ", c.Key)
	if room := width - 4; ansi.StringWidth(name)+ansi.StringWidth(key) > room {
		key = ""
	}
	room := max(0, width-4-ansi.StringWidth(name)-ansi.StringWidth(key))
	about = ui.Fit(about, room)
	if selected {
		return l.styles.Selected.Render(ui.Spread(" ▸ "+name+about, key+" ", width))
	}
	return ui.Spread("   "+name+l.styles.Dim.Render(about), l.styles.KeyName.Render(key)+" ", width)
}
