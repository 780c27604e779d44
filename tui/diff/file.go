package diff

// File is what changes in one file.
type File struct {
	Old, New string // paths; none for a file that is made or goes
	Notes    []string
	Hunks    []Hunk
}

// Hunk is a stretch of lines of which some change.
type Hunk struct {
	Old, New int    // number of the first line on each side; 0 when not known
	Section  string // where it is, in the patch's words
	Lines    []Line
}

// Line is a line of a hunk, without its line break.
type Line struct {
	Op   Op
	Text string
}

// Op is what becomes of a line.
type Op byte

// The ops, as they are written in patches.
const (
	Context Op = ' '
	Added   Op = '+'
	Removed Op = '-'
	Note    Op = '\\' // about the line before, or nothing that a patch has
)

// Stat is how many lines are added and removed.
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

// Path is the file's name: the new one, if it has one.
func (f *File) Path() string {
	if f.New != "" {
		return f.New
	}
	return f.Old
}
