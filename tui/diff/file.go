package diff

import (
	"cmp"
	"slices"
	"strings"
)

// File is the change of one file.
type File struct {
	Old, New string // paths; Old is empty for a new file, New for a deleted one
	Notes    []string
	Hunks    []Hunk
}

// Hunk is a range of lines with changes.
type Hunk struct {
	Old, New int    // number of the first line on each side; 0 if unknown
	Section  string // section heading from the hunk header
	Lines    []Line
}

// Line is a line of a hunk, without its newline.
type Line struct {
	Op   Op
	Text string
}

// Op is the kind of a line, as written in patches.
type Op byte

// The kinds of lines.
const (
	Context Op = ' '
	Added   Op = '+'
	Removed Op = '-'
	Note    Op = '\\' // a comment on the line before, or a line that is not part of the patch
)

// Stat returns the number of added and removed lines.
func (f *File) Stat() (added, removed int) {
	for i := range f.Hunks {
		for _, l := range f.Hunks[i].Lines {
			switch l.Op {
			case Added:
				added++
			case Removed:
				removed++
			}
		}
	}
	return added, removed
}

// Path returns the new path, or the old path of a deleted file.
func (f *File) Path() string { return cmp.Or(f.New, f.Old) }

// Status is how a patch changes a file.
type Status string

// The statuses.
const (
	Modified  Status = "modified"
	NewFile   Status = "new"
	Deleted   Status = "deleted"
	Renamed   Status = "renamed"
	Binary    Status = "binary"
	ModeOnly  Status = "mode"
	NoChanges Status = "no change"
)

// Status returns how the patch changes the file. Git reports some of it in notes.
func (f *File) Status() Status {
	noted := func(prefix string) bool {
		return slices.ContainsFunc(f.Notes, func(n string) bool { return strings.HasPrefix(n, prefix) })
	}
	switch {
	case f.Old == "" || noted("new file mode "):
		return NewFile
	case f.New == "" || noted("deleted file mode "):
		return Deleted
	case f.Old != f.New:
		return Renamed
	case noted("Binary files ") || noted("GIT binary patch"):
		return Binary
	case len(f.Hunks) > 0:
		return Modified
	case noted("old mode ") || noted("new mode "):
		return ModeOnly
	}
	return NoChanges
}
