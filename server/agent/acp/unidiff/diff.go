package unidiff

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A Hunk is a part of a diff of one file: its lines before and after, with their ends.
type Hunk struct {
	Start         int // number of the first old line, or of the one before it if there is none
	Before, After []string

	before, after int // lines that its head announces
}

// A File is the file of a diff.
type File struct {
	Path    string
	Added   bool // it may be new
	Removed bool // it may be gone afterwards
}

// noLineEnd follows a line without an end.
const noLineEnd = `\ No newline at end of file`

var (
	hunkHead  = regexp.MustCompile(`^@@ -(\d{1,9})(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@$`)
	indexLine = regexp.MustCompile(`^index [0-9a-f]+\.\.[0-9a-f]+( 100644)?$`)
	ruler     = regexp.MustCompile(`^=+$`)
)

// Parse reads a diff of one file. ok is false for a line that it does not know, or that is about
// another file, another name or another mode, and for a hunk with more or fewer lines than its head
// announces.
func Parse(diff string, f File) (hunks []Hunk, ok bool) {
	heads := f.heads()
	var kind byte // of the last line
	for line := range strings.Lines(diff) {
		bare := strings.TrimSuffix(line, "\n")
		if m := hunkHead.FindStringSubmatch(bare); m != nil {
			h := Hunk{before: 1, after: 1}
			h.Start, _ = strconv.Atoi(m[1])
			if m[2] != "" {
				h.before, _ = strconv.Atoi(m[2])
			}
			if m[3] != "" {
				h.after, _ = strconv.Atoi(m[3])
			}
			hunks = append(hunks, h)
			continue
		}
		if len(hunks) == 0 {
			if !slices.Contains(heads, bare) && !indexLine.MatchString(bare) && !ruler.MatchString(bare) {
				return nil, false
			}
			continue
		}
		h := &hunks[len(hunks)-1]
		if bare == noLineEnd {
			h.trim(kind)
			continue
		}
		kind = line[0]
		switch kind {
		case ' ':
			h.Before, h.After = append(h.Before, line[1:]), append(h.After, line[1:])
		case '-':
			h.Before = append(h.Before, line[1:])
		case '+':
			h.After = append(h.After, line[1:])
		default:
			return nil, false
		}
	}
	short := func(h Hunk) bool { return len(h.Before) != h.before || len(h.After) != h.after }
	return hunks, !slices.ContainsFunc(hunks, short)
}

// trim removes the end of the last line of a kind.
func (h *Hunk) trim(kind byte) {
	last := func(lines []string) {
		if n := len(lines); n > 0 {
			lines[n-1] = strings.TrimSuffix(lines[n-1], "\n")
		}
	}
	if kind != '+' {
		last(h.Before)
	}
	if kind != '-' {
		last(h.After)
	}
}

// heads returns the lines before the hunks that are about the file alone. Paths may have the
// prefixes of git.
func (f *File) heads() []string {
	rooted := "/" + strings.TrimPrefix(f.Path, "/")
	heads := []string{
		"", "Index: " + f.Path, "diff --git " + f.Path + " " + f.Path, "diff --git a" + rooted + " b" + rooted,
		"--- " + f.Path, "--- a" + rooted, "+++ " + f.Path, "+++ b" + rooted,
	}
	if f.Added {
		heads = append(heads, "create file mode 100644", "new file mode 100644", "--- /dev/null", "--- a/dev/null")
	}
	if f.Removed {
		heads = append(heads, "deleted file mode 100644", "+++ /dev/null")
	}
	return heads
}

// Apply returns a content after the hunks. ok is false if it does not have their lines.
func Apply(content string, hunks []Hunk) (changed string, ok bool) {
	lines := slices.Collect(strings.Lines(content))
	var b strings.Builder
	next := 0
	for _, h := range hunks {
		first := h.Start - 1
		if len(h.Before) == 0 {
			first = h.Start
		}
		end := first + len(h.Before)
		if first < next || end > len(lines) || !slices.Equal(lines[first:end], h.Before) {
			return "", false
		}
		b.WriteString(strings.Join(lines[next:first], "") + strings.Join(h.After, ""))
		next = end
	}
	return b.String() + strings.Join(lines[next:], ""), true
}

// Split returns the parts of a diff that begin with a line of git.
func Split(diff string) (parts []string) {
	for line := range strings.Lines(diff) {
		if len(parts) == 0 || strings.HasPrefix(line, "diff --git ") && strings.TrimSpace(parts[len(parts)-1]) != "" {
			parts = append(parts, "")
		}
		parts[len(parts)-1] += line
	}
	return parts
}
