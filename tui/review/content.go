package review

import (
	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/filechange"
	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// Content is the content of a view.
type Content struct {
	Changes  *filechange.Changes
	Head     Part      // shown before the changes; may be nil
	Tail     Part      // shown after the changes; may be nil
	Comments *Comments // nil: no line can be commented
	Unread   bool      // show which files were not read

	Directory string // of the session: paths below it are shown without it

	// Git returns what git status lists in the directory, OpenGit shows such a file by its path. Both may
	// be nil.
	Git     func() []protocol.DirectoryFile
	OpenGit func(path string) ui.Response
}

// Part is what a view shows before or after the changes.
type Part interface {
	transcript.Item
	// Shown is called with the range of the lines that are drawn.
	Shown(width, from, to int)
	// Unread returns the first line that was not drawn, and the number of such lines.
	Unread() (first, lines int)
}

// hasFiles reports whether files are changed.
func (c *Content) hasFiles() bool { return len(c.Changes.Files()) > 0 }

// headRows returns the number of rows above the changes: the title, and the current file.
func (c *Content) headRows() int {
	if c.hasFiles() {
		return 2
	}
	return 1
}

// unread says how much was not read, or returns "".
func (c *Content) unread() string {
	if n := c.Changes.UnseenFiles(); n > 0 {
		return format.Count(n, "file") + " not read"
	}
	lines := 0
	for _, p := range []Part{c.Head, c.Tail} {
		if p != nil {
			_, n := p.Unread()
			lines += n
		}
	}
	if lines > 0 {
		return format.Count(lines, "line") + " not read"
	}
	return ""
}

// commented reports whether there is a comment.
func (c *Content) commented() bool { return c.Comments != nil && c.Comments.Len() > 0 }

// titleLine draws a title and how much was read.
func (c *Content) titleLine(s *ui.Styles, title string, width int) string {
	title = s.Bold.Render(title)
	if unread := c.unread(); c.Unread && unread != "" {
		title += keymap.Separator + s.Warning.Render(unread)
	} else if c.Unread {
		title += keymap.Separator + "all read"
	}
	if c.hasFiles() {
		title += keymap.Separator + c.Changes.Summary()
	}
	return s.Rule(title, width)
}
