package diff

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Parse parses a unified diff, with or without git's headers, or the apply_patch format ("*** Begin
// Patch"). It keeps lines that it does not understand as notes. It returns false if the text is not
// a patch.
func Parse(text string) ([]File, bool) {
	p := &parser{}
	lines := splitLines(text)
	for i := 0; i < len(lines); i++ {
		if p.remaining() == 0 && !p.uncounted && startsFileNames(lines[i:]) {
			p.fileNames(parsePath(lines[i][4:], "a/"), parsePath(lines[i+1][4:], "b/"))
			i++
			continue
		}
		p.line(lines[i])
	}
	for i := range p.files {
		f := &p.files[i]
		f.Hunks = slices.DeleteFunc(f.Hunks, func(h Hunk) bool { return len(h.Lines) == 0 && h.Section == "" })
	}
	return p.files, p.found
}

// startsFileNames reports whether lines begin with the two names of a unified diff.
func startsFileNames(lines []string) bool {
	return len(lines) > 1 && strings.HasPrefix(lines[0], "--- ") && strings.HasPrefix(lines[1], "+++ ")
}

type parser struct {
	files []File
	found bool // the text contains a line that only patches have

	old, new  int    // lines left in the hunk on each side
	uncounted bool   // the hunk's header has no line counts
	gitHeader string // paths of the last "diff --git", until fileNames
}

// remaining returns the number of lines left in a counted hunk.
func (p *parser) remaining() int { return p.old + p.new }

func (p *parser) startFile(oldPath, newPath string) {
	p.files = append(p.files, File{Old: oldPath, New: newPath})
	p.old, p.new, p.uncounted = 0, 0, false
}

// currentFile returns the last file. Without files it adds one without paths.
func (p *parser) currentFile() *File {
	if len(p.files) == 0 {
		p.startFile("", "")
	}
	return &p.files[len(p.files)-1]
}

// fileNames handles the "---" and "+++" lines. They start a file, unless a git header did.
func (p *parser) fileNames(oldPath, newPath string) {
	p.found = true
	if p.gitHeader == "" || len(p.currentFile().Hunks) > 0 {
		p.startFile(oldPath, newPath)
		return
	}
	f := p.currentFile()
	if f.Old, f.New = oldPath, newPath; p.gitHeader != "a/"+cmp.Or(oldPath, newPath)+" b/"+cmp.Or(newPath, oldPath) {
		f.Notes = append(f.Notes, "diff --git "+p.gitHeader)
	}
	p.gitHeader = ""
}

// line handles any line except file names.
func (p *parser) line(line string) {
	switch {
	case p.remaining() > 0 && p.countedLine(line):
	case p.header(line):
	case p.uncounted && line != "" && strings.IndexByte(" +-", line[0]) >= 0:
		p.appendLine(Op(line[0]), line[1:])
	case p.uncounted && line == "":
		p.appendLine(Context, "")
	default:
		p.note(line)
	}
}

// countedLine handles a line of a hunk with line counts. It returns false if the line does not fit.
func (p *parser) countedLine(line string) bool {
	op := Context
	if line != "" {
		op, line = Op(line[0]), line[1:]
	}
	switch {
	case op == Note:
		line = strings.TrimPrefix(line, " ")
	case op == Context && p.old > 0 && p.new > 0:
		p.old, p.new = p.old-1, p.new-1
	case op == Removed && p.old > 0:
		p.old--
	case op == Added && p.new > 0:
		p.new--
	default:
		p.old, p.new = 0, 0
		return false
	}
	p.appendLine(op, line)
	return true
}

func (p *parser) appendLine(op Op, text string) {
	h := p.currentFile().Hunks
	h[len(h)-1].Lines = append(h[len(h)-1].Lines, Line{op, text})
}

// note keeps a line that is not part of the patch, or a comment on the line before.
func (p *parser) note(line string) {
	f := p.currentFile()
	if len(f.Hunks) == 0 {
		f.Notes = append(f.Notes, line)
		return
	}
	p.appendLine(Note, strings.TrimPrefix(line, `\ `))
}

// header handles a line that starts a file or a hunk.
func (p *parser) header(line string) bool {
	if git, ok := strings.CutPrefix(line, "diff --git "); ok {
		oldPath, newPath, ok := strings.Cut(git, " b/")
		if !ok || !strings.HasPrefix(oldPath, "a/") {
			return false
		}
		p.found = true
		p.startFile(oldPath[2:], newPath)
		p.gitHeader = git
		return true
	}
	if before, after, section, ok := parseHunkHeader(line); ok && len(p.files) > 0 {
		p.found = true
		p.startHunk(Hunk{Old: before.first, New: after.first, Section: section})
		p.old, p.new, p.uncounted = before.count, after.count, false
		return true
	}
	if line == "*** Begin Patch" || line == "*** End Patch" {
		p.found, p.uncounted = true, false
		return true
	}
	section, ok := strings.CutPrefix(line, "@@")
	if ok && len(p.files) > 0 && (section == "" || section[0] == ' ') {
		p.startHunk(Hunk{Section: strings.TrimSpace(section)})
		p.uncounted = true
		return true
	}
	return p.directive(line)
}

func (p *parser) startHunk(h Hunk) {
	f := p.currentFile()
	f.Hunks = append(f.Hunks, h)
}

// directive handles a "*** " line of the apply_patch format.
func (p *parser) directive(line string) bool {
	rest, ok := strings.CutPrefix(line, "*** ")
	what, name, named := strings.Cut(rest, ": ")
	if !ok || !named {
		return false
	}
	switch what {
	case "Update File":
		p.startFile(name, name)
	case "Add File":
		p.startFile("", name)
		p.startHunk(Hunk{New: 1})
	case "Delete File":
		p.startFile(name, "")
		p.found = true
		return true
	case "Move to":
		if f := p.currentFile(); f.Old != "" && len(f.Hunks) == 0 {
			f.New = name
			return true
		}
		return false
	default:
		return false
	}
	p.found, p.uncounted = true, what == "Add File"
	return true
}

// lineRange is the range of lines of one side of a hunk.
type lineRange struct{ first, count int }

// parseHunkHeader parses "@@ -1,2 +3,4 @@ section".
func parseHunkHeader(line string) (before, after lineRange, section string, ok bool) {
	rest, ok := strings.CutPrefix(line, "@@ -")
	if !ok {
		return before, after, "", false
	}
	ranges, section, ok := strings.Cut(rest, " @@")
	oldRange, newRange, two := strings.Cut(ranges, " +")
	if !ok || !two {
		return before, after, "", false
	}
	before, ok = parseRange(oldRange)
	if after, two = parseRange(newRange); !ok || !two {
		return before, after, "", false
	}
	return before, after, strings.TrimSpace(section), true
}

// parseRange parses "FIRST,COUNT", or "FIRST" for one line.
func parseRange(s string) (r lineRange, ok bool) {
	first, n, counted := strings.Cut(s, ",")
	r.count = 1
	var err, err2 error
	r.first, err = strconv.Atoi(first)
	if counted {
		r.count, err2 = strconv.Atoi(n)
	}
	const limit = 1 << 30
	return r, err == nil && err2 == nil && r.first >= 0 && r.count >= 0 && r.first < limit && r.count < limit
}

// parsePath parses a file name without git's prefix. It ignores text after a tab. For /dev/null it
// returns "".
func parsePath(s, prefix string) string {
	s, _, _ = strings.Cut(s, "\t")
	if s == "/dev/null" {
		return ""
	}
	return strings.TrimPrefix(s, prefix)
}
