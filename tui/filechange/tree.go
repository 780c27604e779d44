package filechange

import (
	"path"
	"strconv"
	"strings"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// TreeRow is a row of a tree of files: a directory, or a file below it.
type TreeRow struct {
	File      int    // index of the file, or of the first file of a directory
	Directory string // "" for a file
	Letter    string // of git status; "": none, or a directory
	name      string
	depth     int
}

// Tree returns the rows of files, given by their clean paths, below a directory dir, with their letters of
// git status. Files of one directory stand together. A directory that has a single file or directory shares
// its row. others are the files of the status that are not among them, as the server sent them.
func Tree(paths []string, dir string, git []protocol.DirectoryFile) (rows []TreeRow, others []protocol.DirectoryFile) {
	root, leaves := &treeNode{}, map[string]*treeNode{}
	for i, p := range paths {
		node, p := root, Relative(p, dir)
		elements := strings.Split(p, "/")
		for _, name := range elements[:len(elements)-1] {
			node = node.child(name)
		}
		leaves[p] = &treeNode{name: elements[len(elements)-1], file: i, leaf: true}
		node.children = append(node.children, leaves[p])
	}
	for _, f := range git {
		if leaf := leaves[transcript.Clean(f.Path)]; leaf != nil {
			leaf.letter = ui.Fit(transcript.Clean(f.Status), 1)
		} else {
			others = append(others, f)
		}
	}
	return root.append(nil, "", 0), others
}

// Relative returns a path below a directory without the directory.
func Relative(p, dir string) string {
	if rest, ok := strings.CutPrefix(p, strings.TrimSuffix(dir, "/")+"/"); ok && dir != "" {
		return rest
	}
	return p
}

// treeNode is a directory or a file of a tree.
type treeNode struct {
	name     string
	leaf     bool
	file     int
	letter   string
	children []*treeNode
}

// child returns the directory of a name below n.
func (n *treeNode) child(name string) *treeNode {
	for _, c := range n.children {
		if !c.leaf && c.name == name {
			return c
		}
	}
	c := &treeNode{name: name}
	n.children = append(n.children, c)
	return c
}

// append appends the rows below n, whose path is dir, to dst.
func (n *treeNode) append(dst []TreeRow, dir string, depth int) []TreeRow {
	for _, c := range n.children {
		name := c.name
		for len(c.children) == 1 {
			c = c.children[0]
			name += "/" + c.name
		}
		if c.leaf {
			dst = append(dst, TreeRow{File: c.file, Letter: c.letter, name: name, depth: depth})
			continue
		}
		name += "/"
		at := len(dst)
		dst = append(dst, TreeRow{Directory: path.Join(dir, name), name: name, depth: depth})
		dst = c.append(dst, path.Join(dir, name), depth+1)
		dst[at].File = dst[at+1].File
	}
	return dst
}

// Line draws the row with a text at its right end.
func (r *TreeRow) Line(s *ui.Styles, right string, width int) string {
	indent := strings.Repeat("  ", min(r.depth, width/8))
	name := ui.FitLeft(format.JoinLines(r.name), max(1, width-len(indent)-1-transcript.Width(right)))
	if r.Directory != "" {
		name = s.Dim.Render(name)
	}
	return ui.Spread(indent+name, right, width)
}

// GitLine draws a file of git status.
func GitLine(s *ui.Styles, f *protocol.DirectoryFile, width int) string {
	right := ""
	if f.Added+f.Removed > 0 {
		right = Counts(s, f.Added, f.Removed)
	}
	path := transcript.CleanLine(f.Path)
	name := ui.FitLeft(path, max(1, width-3-transcript.Width(right)))
	return ui.Spread(s.Dim.Render(ui.Fit(transcript.Clean(f.Status), 1))+" "+name, right, width)
}

// Counts draws the numbers of added and removed lines.
func Counts(s *ui.Styles, added, removed int) string {
	return s.Success.Render("+"+strconv.Itoa(added)) + " " + s.Error.Render("−"+strconv.Itoa(removed))
}
