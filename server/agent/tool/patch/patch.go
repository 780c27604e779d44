package patch

// An Operation is the change of a file by a patch.
type Operation int

// The operations.
const (
	Add Operation = iota + 1
	Update
	Delete
)

// A File is the part of a patch that changes one file.
type File struct {
	Operation Operation
	Path      string
	MoveTo    string  // of an update; empty: the file keeps its name
	Text      string  // of a new file
	Chunks    []Chunk // of an update
}

// A Chunk replaces lines of a file.
type Chunk struct {
	Headers []string // lines before the chunk, in their order
	Lines   []Line
	AtEnd   bool // the chunk ends with the file
}

// A Line is a line of a chunk, without its line end.
type Line struct {
	Mark byte // ' ' of context, '-' removed, '+' added
	Text string
}

// lines returns the lines of a chunk, except lines with the given mark.
func (c *Chunk) lines(without byte) (lines []string) {
	for _, l := range c.Lines {
		if l.Mark != without {
			lines = append(lines, l.Text)
		}
	}
	return lines
}
