package diff

import (
	"slices"
	"strconv"
	"strings"
)

// Parse reads a patch: unified, as git writes it, or between Begin and End Patch.
// What it does not understand it keeps. It is false for what is no patch.
func Parse(text string) ([]File, bool) {
	p := &parser{}
	rest := lines(text)
	for i := 0; i < len(rest); i++ {
		if i+1 < len(rest) && strings.HasPrefix(rest[i], "--- ") && strings.HasPrefix(rest[i+1], "+++ ") && p.left() == 0 && !p.free {
			p.sides(path(rest[i][4:], "a/"), path(rest[i+1][4:], "b/"))
			i++
			continue
		}
		p.line(rest[i])
	}
	for i := range p.files {
		f := &p.files[i]
		f.Hunks = slices.DeleteFunc(f.Hunks, func(h Hunk) bool { return len(h.Lines) == 0 && h.Section == "" })
	}
	return p.files, p.found
}

type parser struct {
	files []File
	found bool // something that only patches have

	old, new int    // lines that the hunk still has on each side
	free     bool   // the hunk does not say how many
	git      string // git's line about the file, until its sides are named
}

func (p *parser) left() int { return p.old + p.new }

// begin begins a file.
func (p *parser) begin(old, text string) {
	p.files = append(p.files, File{Old: old, New: text})
	p.old, p.new, p.free = 0, 0, false
}

// file is the file that is read. Without one, what is said is of none.
func (p *parser) file() *File {
	if len(p.files) == 0 {
		p.begin("", "")
	}
	return &p.files[len(p.files)-1]
}

// sides are the names of a unified patch, which belong to git's line before
// them, if there is one.
func (p *parser) sides(old, text string) {
	p.found = true
	if p.git == "" || len(p.file().Hunks) > 0 {
		p.begin(old, text)
		return
	}
	f := p.file()
	if f.Old, f.New = old, text; !names(p.git, old, text) {
		f.Notes = append(f.Notes, "diff --git "+p.git)
	}
	p.git = ""
}

// names tells whether git's line names these paths and no other.
func names(git, old, text string) bool {
	if old == "" {
		old = text
	}
	if text == "" {
		text = old
	}
	return git == "a/"+old+" b/"+text
}

func (p *parser) line(line string) {
	switch {
	case p.left() > 0 && p.counted(line):
	case p.header(line):
	case p.free && line != "" && strings.IndexByte(" +-", line[0]) >= 0:
		p.add(Op(line[0]), line[1:])
	case p.free && line == "":
		p.add(Context, "")
	default:
		p.said(line)
	}
}

// counted takes a line of a hunk that says how many it has.
func (p *parser) counted(line string) bool {
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
	p.add(op, line)
	return true
}

func (p *parser) add(op Op, text string) {
	h := p.file().Hunks
	h[len(h)-1].Lines = append(h[len(h)-1].Lines, Line{op, text})
}

// said keeps a line that is about the patch, or none of it.
func (p *parser) said(line string) {
	f := p.file()
	if len(f.Hunks) == 0 {
		f.Notes = append(f.Notes, line)
		return
	}
	p.add(Note, strings.TrimPrefix(line, `\ `))
}

// header takes a line that begins a file or a hunk.
func (p *parser) header(line string) bool {
	if git, ok := strings.CutPrefix(line, "diff --git "); ok {
		old, text, ok := strings.Cut(git, " b/")
		if !ok || !strings.HasPrefix(old, "a/") {
			return false
		}
		p.found = true
		p.begin(old[2:], text)
		p.git = git
		return true
	}
	if old, text, about, ok := hunkHead(line); ok && len(p.files) > 0 {
		p.found = true
		p.hunk(Hunk{Old: old[0], New: text[0], Section: about})
		p.old, p.new, p.free = old[1], text[1], false
		return true
	}
	if line == "*** Begin Patch" || line == "*** End Patch" {
		p.found, p.free = true, false
		return true
	}
	if about, ok := strings.CutPrefix(line, "@@"); ok && len(p.files) > 0 && (about == "" || about[0] == ' ') {
		p.hunk(Hunk{Section: strings.TrimSpace(about)})
		p.free = true
		return true
	}
	return p.directive(line)
}

func (p *parser) hunk(h Hunk) {
	f := p.file()
	f.Hunks = append(f.Hunks, h)
}

// directive takes a line between Begin and End Patch.
func (p *parser) directive(line string) bool {
	rest, ok := strings.CutPrefix(line, "*** ")
	if !ok {
		return false
	}
	what, name, _ := strings.Cut(rest, ": ")
	switch what {
	case "Update File":
		p.begin(name, name)
	case "Add File":
		p.begin("", name)
		p.hunk(Hunk{New: 1})
	case "Delete File":
		p.begin(name, "")
		p.found = true
		return true
	case "Move to":
		if f := p.file(); f.Old != "" && len(f.Hunks) == 0 {
			f.New = name
			return true
		}
		return false
	default:
		return false
	}
	p.found, p.free = true, what == "Add File"
	return true
}

// hunkHead reads @@ -1,2 +3,4 @@ about: the first line and how many, of each side.
func hunkHead(line string) (old, text [2]int, about string, ok bool) {
	rest, ok := strings.CutPrefix(line, "@@ -")
	if !ok {
		return old, text, "", false
	}
	ranges, about, ok := strings.Cut(rest, " @@")
	before, after, two := strings.Cut(ranges, " +")
	if !ok || !two {
		return old, text, "", false
	}
	old, ok = span(before)
	if text, two = span(after); !ok || !two {
		return old, text, "", false
	}
	return old, text, strings.TrimSpace(about), true
}

func span(s string) (out [2]int, ok bool) {
	first, n, counted := strings.Cut(s, ",")
	out[1] = 1
	var err, err2 error
	out[0], err = strconv.Atoi(first)
	if counted {
		out[1], err2 = strconv.Atoi(n)
	}
	const most = 1 << 30
	return out, err == nil && err2 == nil && out[0] >= 0 && out[1] >= 0 && out[0] < most && out[1] < most
}

// path is the name on one side: without what stands behind a tab, and without
// git's prefix. /dev/null is none.
func path(s, prefix string) string {
	s, _, _ = strings.Cut(s, "\t")
	if s == "/dev/null" {
		return ""
	}
	return strings.TrimPrefix(s, prefix)
}
