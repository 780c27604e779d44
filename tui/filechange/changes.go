package filechange

import (
	"encoding/json"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/diff"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// Changes is what a request or a tool call changes in files, laid out once for a
// width.
type Changes struct {
	pieces []diff.Piece

	width      int
	sideBySide bool
	limit      int
	lines      []string // with their styles
	hidden     int
}

func New(files []diff.File) *Changes { return &Changes{pieces: diff.Split(files)} }

// Lines is at most so many lines at a width, and about how many follow. They
// carry their styles.
func (c *Changes) Lines(width, most int, split bool) (lines []string, more int) {
	if c.lines != nil && c.width == width && c.limit == most && c.sideBySide == split {
		return c.lines, c.hidden
	}
	c.width, c.limit, c.sideBySide, c.lines, c.hidden = width, most, split, []string{}, 0
	for i := range c.pieces {
		p := &c.pieces[i]
		if len(c.lines) >= most {
			c.hidden += p.Estimate()
			continue
		}
		c.lines = append(c.lines, p.Lines(width, split)...)
	}
	if n := len(c.lines); n > most {
		c.lines, c.hidden = c.lines[:most], c.hidden+n-most
	}
	return c.lines, c.hidden
}

// change is a piece of a patch as an item of a pager.
type change struct {
	styles *ui.Styles
	piece  *diff.Piece
}

func (c *change) Estimate(int, bool) int { return c.piece.Estimate() }

func (c *change) Block(width int, _ bool) transcript.Block {
	return transcript.Block{Body: c.piece.Lines(width, c.styles.SideBySide(width)), RenderLine: c.styles.RenderLine}
}

// Items are the pieces as items of a pager.
func (c *Changes) Items(l *ui.Styles) []transcript.Item {
	out := make([]transcript.Item, len(c.pieces))
	for i := range c.pieces {
		out[i] = &change{l, &c.pieces[i]}
	}
	return out
}

// FromContent are the files that structured content changes. clean makes
// untrusted text fit to be shown.
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
		f := diff.Compare(ui.OneLine(clean(c.Path)), old, clean(c.New))
		switch {
		case len(f.Hunks) > 0 || old == nil:
		case *c.Old == c.New:
			f.Notes = []string{"nothing is different"}
		default:
			f.Notes = []string{"nothing that shows is different: the ends of lines, or characters without a width"}
		}
		out = append(out, f)
	}
	return out
}

// The fields by which tools that change files are told what to do.
var (
	PathFields    = []string{"file_path", "path", "filename", "file", "target_file"}
	oldFields     = []string{"old_string", "old_str", "old_text", "oldText", "oldString"}
	newFields     = []string{"new_string", "new_str", "new_text", "newText", "newString"}
	contentFields = []string{"content", "contents", "file_text", "text"}
	patchFields   = []string{"patch", "diff", "input", "command"}
)

// FromArguments are the files that a tool's arguments say it will change. Their lines
// have no numbers: where they are is for the tool to find.
func FromArguments(kind string, input json.RawMessage, clean func(string) string) []diff.File {
	given := map[string]string{}
	if _, ok := describe.Fields(input, func(key, value string) bool {
		given[key] = value
		return true
	}); !ok {
		return nil
	}
	pick := func(names []string) (string, bool) {
		for _, name := range names {
			if value, ok := given[name]; ok {
				return clean(value), true
			}
		}
		return "", false
	}
	path, _ := pick(PathFields)
	path = ui.OneLine(path)
	old, replaces := pick(oldFields)
	text, by := pick(newFields)
	if replaces && by {
		f := diff.Compare(path, &old, text)
		for i := range f.Hunks {
			f.Hunks[i].Old, f.Hunks[i].New = 0, 0
		}
		return []diff.File{f}
	}
	if whole, ok := pick(contentFields); ok && path != "" && kind == protocol.ToolEdit {
		f := diff.Compare(path, nil, whole)
		f.Old = path // there may have been one
		return []diff.File{f}
	}
	for _, name := range patchFields {
		if value, ok := given[name]; ok && strings.Contains(value, "\n") {
			if files, ok := diff.Parse(clean(value)); ok {
				return files
			}
		}
	}
	return nil
}

// TextContent is the content that is no diff, as text.
func TextContent(content []protocol.Content) string {
	var out strings.Builder
	for i := range content {
		if content[i].Type != "diff" {
			out.WriteString(describe.Content(&content[i]))
		}
	}
	return out.String()
}

// HasDiff tells that some of the content is one.
func HasDiff(content []protocol.Content) bool {
	return slices.ContainsFunc(content, func(c protocol.Content) bool { return c.Type == "diff" })
}
