package review

import (
	"fmt"
	"slices"
	"strings"

	"agentctl/tui/filechange"
)

// Place is a line of a change that a comment is about.
type Place struct {
	Path    string
	Line    int  // its number, or 0 if it is not known
	Removed bool // the number counts lines of the old file
	Text    string
}

// String returns the place as path:line. A line without a number is quoted.
func (p Place) String() string {
	switch {
	case p.Line == 0:
		return fmt.Sprintf("%s: %q", p.Path, strings.TrimSpace(p.Text))
	case p.Removed:
		return fmt.Sprintf("%s:%d (removed)", p.Path, p.Line)
	}
	return fmt.Sprintf("%s:%d", p.Path, p.Line)
}

// Comment is a comment of the user on a line.
type Comment struct {
	Place Place
	Text  string
}

// Comments are the comments on a patch, in the order in which they were written.
type Comments struct {
	list    []Comment
	version int // incremented by each change
}

// Len returns the number of comments.
func (c *Comments) Len() int { return len(c.list) }

// At returns the comment on a line, or "".
func (c *Comments) At(p Place) string {
	for _, comment := range c.list {
		if comment.Place == p {
			return comment.Text
		}
	}
	return ""
}

// Set replaces the comment on a line. An empty text removes it.
func (c *Comments) Set(p Place, text string) {
	c.version++
	i := slices.IndexFunc(c.list, func(comment Comment) bool { return comment.Place == p })
	switch {
	case i >= 0 && text == "":
		c.list = slices.Delete(c.list, i, i+1)
	case i >= 0:
		c.list[i].Text = text
	case text != "":
		c.list = append(c.list, Comment{p, text})
	}
}

// Message returns all comments as a message: each with its line, which later changes may have moved. Paths
// below the directory dir are relative to it.
func (c *Comments) Message(dir string) string {
	parts := make([]string, len(c.list))
	for i, comment := range c.list {
		comment.Place.Path = filechange.Relative(comment.Place.Path, dir)
		place := comment.Place.String()
		if text := strings.TrimSpace(comment.Place.Text); text != "" && comment.Place.Line > 0 {
			place += ": `" + text + "`"
		}
		parts[i] = place + "\n" + comment.Text
	}
	return strings.Join(parts, "\n\n")
}

// Text returns all comments, one a line: "path:line: comment".
func (c *Comments) Text() string {
	lines := make([]string, len(c.list))
	for i, comment := range c.list {
		lines[i] = comment.Place.String() + ": " + comment.Text
	}
	return strings.Join(lines, "\n")
}
