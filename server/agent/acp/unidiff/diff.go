package unidiff

import (
	"slices"
	"strconv"
	"strings"
)

// A Hunk is a part of a diff of one file: its lines before and after, with their ends.
type Hunk struct {
	Start         int // number of the first old line, or of the line before if the hunk has no old line
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

// Parse reads a diff of one file. ok is false for a line that it does not know, or that is about
// another file, another name or another mode, and for a hunk with more or fewer lines than its head
// announces.
func Parse(diff string, f File) (hunks []Hunk, ok bool) {
	heads := f.heads()
	var kind byte // of the last line
	for line := range strings.Lines(diff) {
		bare := strings.TrimSuffix(line, "\n")
		if h, ok := parseHead(bare); ok {
			hunks = append(hunks, h)
			continue
		}
		if len(hunks) == 0 {
			if !slices.Contains(heads, bare) && !isIndex(bare) && strings.Trim(bare, "=") != "" {
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

// parseHead reads the line before the lines of a hunk, such as "@@ -1,2 +1,3 @@".
func parseHead(line string) (h Hunk, ok bool) {
	words := strings.Split(line, " ")
	if len(words) != 4 || words[0] != "@@" || words[3] != "@@" {
		return h, false
	}
	read := func(word, sign string) (start, count int, ok bool) {
		word, ok = strings.CutPrefix(word, sign)
		first, rest, found := strings.Cut(word, ",")
		if !found {
			rest = "1"
		}
		at, err := strconv.ParseUint(first, 10, 31)
		n, err2 := strconv.ParseUint(rest, 10, 31)
		return int(at), int(n), ok && err == nil && err2 == nil
	}
	var hasBefore, hasAfter bool
	h.Start, h.before, hasBefore = read(words[1], "-")
	_, h.after, hasAfter = read(words[2], "+")
	return h, hasBefore && hasAfter
}

// isIndex reports whether a line of git names the contents of a file, such as
// "index 1a2b..3c4d 100644".
func isIndex(line string) bool {
	names, ok := strings.CutPrefix(strings.TrimSuffix(line, " 100644"), "index ")
	return ok && strings.Trim(names, "0123456789abcdef") == ".."
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
