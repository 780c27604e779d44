package filechange

import (
	"encoding/json"
	"slices"
	"strings"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/diff"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// Changes is the file changes of an approval request or a tool call. It caches the lines of the
// last layout, and records which of them were on the screen.
type Changes struct {
	files    []*diff.File
	pieces   []diff.Piece
	fileOf   []int // by piece
	coverage []coverage

	// The last layout and its arguments.
	width      int
	sideBySide bool
	limit      int
	lines      []string // styled
	hidden     int      // approximate number of lines after lines
}

// New returns the changes to files.
func New(files []diff.File) *Changes {
	c := &Changes{pieces: diff.Split(files)}
	c.coverage = make([]coverage, len(c.pieces))
	c.fileOf = make([]int, len(c.pieces))
	for i := range c.pieces {
		p := &c.pieces[i]
		if p.IsHeader {
			c.files = append(c.files, p.File)
		}
		c.fileOf[i] = len(c.files) - 1
		c.coverage[i].left = 1 + p.Len()
		if p.IsHeader && p.File.Path() == "" && len(p.File.Notes) == 0 {
			c.coverage[i].left = 0 // it has no lines
		}
	}
	return c
}

// Lines returns at most limit styled lines at a width, and approximately how many more there are.
func (c *Changes) Lines(width, limit int, sideBySide bool) (lines []string, more int) {
	if c.lines != nil && c.width == width && c.limit == limit && c.sideBySide == sideBySide {
		return c.lines, c.hidden
	}
	c.width, c.limit, c.sideBySide, c.lines, c.hidden = width, limit, sideBySide, []string{}, 0
	for i := range c.pieces {
		p := &c.pieces[i]
		if len(c.lines) >= limit {
			c.hidden += p.Estimate()
			continue
		}
		c.lines = append(c.lines, p.Lines(width, sideBySide)...)
	}
	if n := len(c.lines); n > limit {
		c.lines, c.hidden = c.lines[:limit], c.hidden+n-limit
	}
	return c.lines, c.hidden
}

// OnlyFile returns the changed file, or nil if there are several or it has notes.
func (c *Changes) OnlyFile() *diff.File {
	if len(c.files) != 1 || len(c.files[0].Notes) > 0 {
		return nil
	}
	return c.files[0]
}

// HeaderLines returns the number of lines of the first file's header at a width.
func (c *Changes) HeaderLines(width int) int { return len(c.pieces[0].Lines(width, false)) }

// change is a piece of a patch as a pager item.
type change struct {
	styles *ui.Styles
	piece  *diff.Piece
}

// Estimate implements transcript.Item.
func (c *change) Estimate(int, bool) int { return c.piece.Estimate() }

// Block implements transcript.Item.
func (c *change) Block(width int, _ bool) transcript.Block {
	return transcript.Block{Body: c.piece.Lines(width, c.styles.SideBySide(width)), RenderLine: c.styles.RenderLine}
}

// Items returns the changes as pager items.
func (c *Changes) Items(styles *ui.Styles) []transcript.Item {
	out := make([]transcript.Item, len(c.pieces))
	for i := range c.pieces {
		out[i] = &change{styles, &c.pieces[i]}
	}
	return out
}

// visibleBreaks makes a path with line breaks a line that no other path has.
var visibleBreaks = strings.NewReplacer("\n", "⏎", "\t", "␉")

// FromContent returns the files changed by the diffs in structured content. clean makes untrusted
// text safe to display.
func FromContent(content []protocol.Content, clean func(string) string) []diff.File {
	var out []diff.File
	for i := range content {
		c := &content[i]
		if c.Type != "diff" {
			continue
		}
		var old *string
		if c.Old != nil {
			old = new(clean(*c.Old))
		}
		f := diff.Compare(visibleBreaks.Replace(clean(c.Path)), old, clean(c.New))
		switch {
		case len(f.Hunks) > 0 || old == nil:
		case *c.Old == c.New:
			f.Notes = []string{"no difference"}
		default:
			f.Notes = []string{"no visible difference: line ends or characters without width"}
		}
		out = append(out, f)
	}
	return out
}

// Names of the arguments of tools that change files.
var (
	oldFields     = []string{"old_string", "old_str", "old_text", "oldText", "oldString"}
	newFields     = []string{"new_string", "new_str", "new_text", "newText", "newString"}
	contentFields = []string{"content", "contents", "file_text", "text"}
	patchFields   = []string{"patch", "diff", "input", "command"}
)

// FromArguments returns the files that a tool of a kind will change, read from its arguments, or
// nil. clean makes untrusted text safe to display. Replaced lines have no numbers: the tool finds
// their position.
func FromArguments(kind string, input json.RawMessage, clean func(string) string) []diff.File {
	args := map[string]string{}
	if _, ok := describe.Fields(input, func(key, value string) bool {
		args[key] = value
		return true
	}); !ok {
		return nil
	}
	pick := func(names []string) (string, bool) {
		for _, name := range names {
			if value, ok := args[name]; ok {
				return clean(value), true
			}
		}
		return "", false
	}
	path, _ := pick(describe.PathFields)
	path = format.JoinLines(path)
	old, hasOld := pick(oldFields)
	text, hasNew := pick(newFields)
	if hasOld && hasNew {
		f := diff.Compare(path, &old, text)
		for i := range f.Hunks {
			f.Hunks[i].Old, f.Hunks[i].New = 0, 0
		}
		return []diff.File{f}
	}
	if content, ok := pick(contentFields); ok && path != "" && kind == protocol.ToolEdit {
		f := diff.Compare(path, nil, content)
		f.Old = path // the file may exist
		return []diff.File{f}
	}
	for _, name := range patchFields {
		if value, ok := args[name]; ok && strings.Contains(value, "\n") {
			if files, ok := diff.Parse(clean(value)); ok {
				return files
			}
		}
	}
	return nil
}

// HasDiff reports whether the content has a diff.
func HasDiff(content []protocol.Content) bool {
	return slices.ContainsFunc(content, func(c protocol.Content) bool { return c.Type == "diff" })
}
