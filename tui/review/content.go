package review

import (
	"agentctl/internal/format"
	"agentctl/tui/filechange"
	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// Content is the content of a view.
type Content struct {
	Changes  *filechange.Changes
	Head     Head      // shown before the changes; may be nil
	Comments *Comments // nil: no line can be commented
	Unread   bool      // show which files were not read

	Directory string // of the session: paths below it are shown without it
}

// Head is what a view shows before the changes.
type Head interface {
	transcript.Item
	// Shown is called with the range of the lines that are drawn.
	Shown(width, from, to int)
}

// commented reports whether there is a comment.
func (c *Content) commented() bool { return c.Comments != nil && c.Comments.Len() > 0 }

// titleLine draws a title and how much was read.
func (c *Content) titleLine(s *ui.Styles, title string, width int) string {
	title = s.Bold.Render(title)
	if n := c.Changes.UnseenFiles(); c.Unread && n > 0 {
		title += keymap.Separator + s.Warning.Render(format.Count(n, "file")+" not read")
	} else if c.Unread {
		title += keymap.Separator + "all files read"
	}
	return s.Rule(title+keymap.Separator+c.Changes.Summary(), width)
}
