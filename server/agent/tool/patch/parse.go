package patch

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// Limits of a patch.
const (
	maxPatch = 8 << 20 // bytes
	maxFiles = 1000
)

const (
	beginMark  = "*** Begin Patch"
	endMark    = "*** End Patch"
	addMark    = "*** Add File: "
	updateMark = "*** Update File: "
	deleteMark = "*** Delete File: "
	moveMark   = "*** Move to: "
	eofMark    = "*** End of File"
)

// counts is the header of a unified diff. Its numbers are ignored: the lines determine the place.
var counts = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-\d+(,\d+)? \+\d+(,\d+)? @@`) })

// Parse parses a patch. Each file is in it once.
func Parse(text string) ([]File, error) {
	if len(text) > maxPatch {
		return nil, fmt.Errorf("the patch is larger than %d MiB", maxPatch>>20)
	}
	p := &parser{lines: unwrap(text)}
	n := len(p.lines)
	switch {
	case strings.TrimSpace(p.lines[0]) != beginMark:
		return nil, fmt.Errorf("the patch does not begin with %q", beginMark)
	case n < 2 || strings.TrimSpace(p.lines[n-1]) != endMark:
		return nil, fmt.Errorf("the patch does not end with %q", endMark)
	}
	p.lines, p.at = p.lines[:n-1], 1
	var files []File
	for p.at < len(p.lines) {
		f, err := p.file()
		if err != nil {
			return nil, fmt.Errorf("line %d of the patch: %w", min(p.at+1, n), err)
		}
		if files = append(files, f); len(files) > maxFiles {
			return nil, fmt.Errorf("the patch changes more than %d files", maxFiles)
		}
	}
	if len(files) == 0 {
		return nil, errors.New("the patch changes no file")
	}
	return files, nil
}

// unwrap returns the lines of a patch without the here-document around it. Line ends of a patch
// that has CRLF throughout are changed to LF.
func unwrap(text string) []string {
	text = strings.TrimSpace(text)
	if n := strings.Count(text, "\n"); n > 0 && strings.Count(text, "\r\n") == n {
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	lines := strings.Split(text, "\n")
	word, wrapped := strings.CutPrefix(lines[0], "<<")
	word = strings.Trim(strings.TrimSpace(word), `'"`)
	if n := len(lines); wrapped && word != "" && n > 2 && strings.TrimSpace(lines[n-1]) == word {
		return strings.Split(strings.TrimSpace(strings.Join(lines[1:n-1], "\n")), "\n")
	}
	return lines
}

// A parser reads the lines of a patch between its first and last line.
type parser struct {
	lines []string
	at    int
}

// file reads the part of one file.
func (p *parser) file() (f File, err error) {
	line := strings.TrimSpace(p.lines[p.at])
	mark := func(mark string) bool {
		name, ok := strings.CutPrefix(line, mark)
		f.Path = strings.TrimSpace(name)
		return ok && f.Path != ""
	}
	switch {
	case mark(addMark):
		f.Operation = Add
		p.at++
		f.Text = p.added()
	case mark(deleteMark):
		f.Operation = Delete
		p.at++
	case mark(updateMark):
		f.Operation = Update
		p.at++
		err = p.update(&f)
	default:
		err = fmt.Errorf("%.200q: want *** Add File, *** Update File or *** Delete File with a path", line)
	}
	return f, err
}

// added reads the lines of a new file.
func (p *parser) added() string {
	var b strings.Builder
	for ; p.at < len(p.lines) && strings.HasPrefix(p.lines[p.at], "+"); p.at++ {
		b.WriteString(p.lines[p.at][1:])
		b.WriteByte('\n')
	}
	return b.String()
}

// update reads the new name and the chunks of a file.
func (p *parser) update(f *File) error {
	if p.at < len(p.lines) {
		name, ok := strings.CutPrefix(strings.TrimSpace(p.lines[p.at]), moveMark)
		if ok {
			f.MoveTo = strings.TrimSpace(name)
			p.at++
		}
	}
	for p.at < len(p.lines) && !strings.HasPrefix(p.lines[p.at], "***") {
		if strings.TrimSpace(p.lines[p.at]) == "" && p.lastOfFile() {
			p.at++ // between two files
			continue
		}
		c, err := p.chunk(len(f.Chunks) == 0)
		if err != nil {
			return err
		}
		f.Chunks = append(f.Chunks, c)
	}
	if len(f.Chunks) == 0 && f.MoveTo == "" {
		return fmt.Errorf("the update of %q has no lines", f.Path)
	}
	return nil
}

// lastOfFile reports whether only empty lines are left of the present file.
func (p *parser) lastOfFile() bool {
	for _, line := range p.lines[p.at:] {
		if strings.TrimSpace(line) != "" {
			return strings.HasPrefix(line, "***")
		}
	}
	return true
}

// chunk reads a chunk. The first of a file may lack its header.
func (p *parser) chunk(first bool) (c Chunk, err error) {
	headed := false
	for ; p.at < len(p.lines); p.at++ {
		header, ok := strings.CutPrefix(strings.TrimRight(p.lines[p.at], " \t\r"), "@@")
		if !ok || header != "" && header[0] != ' ' {
			break
		}
		headed = true
		if header = strings.TrimPrefix(header, " "); header != "" && !counts().MatchString(header) {
			c.Headers = append(c.Headers, header)
		}
	}
	if !headed && !first {
		return c, fmt.Errorf("%.200q: want a line that begins with @@", p.lines[p.at])
	}
	for ; p.at < len(p.lines); p.at++ {
		line := strings.TrimSuffix(p.lines[p.at], "\r")
		switch {
		case strings.TrimRight(line, " \t") == eofMark:
			c.AtEnd = true
			p.at++
			return c, c.check()
		case strings.HasPrefix(line, "***") || strings.HasPrefix(line, "@@"):
			return c, c.check()
		case line == "" && p.lastOfFile():
			return c, c.check()
		case line == "":
			c.Lines = append(c.Lines, Line{' ', ""})
		case strings.HasPrefix(line, `\ No newline`): // as diff writes it
		case strings.IndexByte(" +-", line[0]) >= 0:
			c.Lines = append(c.Lines, Line{line[0], line[1:]})
		default:
			return c, fmt.Errorf("%.200q: a line of a chunk begins with a space, + or -", line)
		}
	}
	return c, c.check()
}

func (c *Chunk) check() error {
	for _, l := range c.Lines {
		if l.Mark != ' ' {
			return nil
		}
	}
	return errors.New("the chunk before changes nothing")
}
