package commandline

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds of what is read of one line. Beyond them the line may run anything.
const (
	maxRuns  = 2000
	maxDepth = 12
	maxDirs  = 8
	maxSteps = 5000 // statements that are read
	maxLater = 64   // words of a command that may begin another
	maxRead  = 16   // times the length of the line, for all lines in it
	minRead  = 1 << 16
	maxWords = 1 << 18 // of all commands
)

// A Run is a command that a line may run.
type Run struct {
	Words   []Word
	Dirs    []string // directories that it may run in, absolute; with Unknown: any
	Certain bool     // it is no text
	Sure    bool     // the line runs it unless it fails before, and fails if the command fails
}

// A Line is what a shell may do with a line.
type Line struct {
	Commands   []Run
	redirected []Run // words that are files

	// Unread reports that the line may run programs that it does not show.
	Unread bool
}

// Read reads a line for a shell that starts in dir, an absolute path with slashes.
func Read(line, dir string) *Line {
	r := reader{line: &Line{}, written: map[string]bool{}, left: max(minRead, maxRead*len(line))}
	r.script(line, state{dirs: []string{dir}, sure: true}, true)
	r.checkWritten()
	return r.line
}

// ReadText reads a text of which any word may be a program.
func ReadText(text string) *Line {
	r := reader{line: &Line{}}
	r.foreign(text, state{}, true)
	return r.line
}

// A reader reads a line, and the lines in it.
type reader struct {
	line       *Line
	depth      int
	steps      int
	left       int             // bytes of lines that may be read
	total      int             // words of commands
	plainShell bool            // the shell knows no [[
	home       bool            // the home directory, or the directory of settings, may be another
	noVars     bool            // the values of variables cannot be followed
	written    map[string]bool // base names of files that the line writes
	paths      []string        // of these files
	scripts    []string        // base names of files that it runs
	reads      []string        // see row.reads
	texts      []Word          // here-documents
	ended      bool            // what follows may not run, or other commands have its names
}

// A state is what a shell knows at a place of a line.
type state struct {
	dirs  []string
	vars  map[string]string
	input []Word // texts that the command may read
	piped bool   // it may read something else than input
	sure  bool   // see Run
}

func (s state) union(o state) state {
	for _, d := range o.dirs {
		if !slices.Contains(s.dirs, d) {
			s.dirs = append(slices.Clip(s.dirs), d)
		}
	}
	if len(s.dirs) > maxDirs {
		s.dirs = []string{unknownText}
	}
	vars := map[string]string{}
	for name, value := range s.vars {
		if other, ok := o.vars[name]; ok && other == value {
			vars[name] = value
		}
	}
	s.vars, s.piped = vars, s.piped || o.piped
	return s
}

// script reads a text as lines for a shell.
func (r *reader) script(text string, s state, certain bool) {
	if strings.TrimSpace(text) == "" {
		return
	}
	if r.left -= len(text); r.depth >= maxDepth || r.left < 0 {
		r.line.Unread = true
		return
	}
	r.depth++
	defer func() { r.depth-- }()
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		r.foreign(text, s, certain)
		return
	}
	read := func() { r.stmts(file.Stmts, s) }
	if certain {
		read()
	} else {
		r.unsure(read)
	}
	r.posix(text, s)
}

// posix reads a text as a shell without [[, (( and &>, to which their parts are commands. Of those
// only known ones count: the others are words of conditions.
func (r *reader) posix(text string, s state) {
	if r.plainShell || !strings.Contains(text, "[[") && !strings.Contains(text, "((") && !strings.Contains(text, "&>") {
		return
	}
	text = strings.ReplaceAll(text, "&>", "& >")
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(text), "")
	if err != nil {
		return
	}
	r.plainShell, s.sure = true, false
	r.stmts(file.Stmts, s)
	r.plainShell = false
}

// unsure reads something that may be only text.
func (r *reader) unsure(read func()) {
	from := len(r.line.Commands)
	read()
	for i := from; i < len(r.line.Commands); i++ {
		r.line.Commands[i].Certain = false
	}
}

// foreign reads a text of another language: every word may be a program.
func (r *reader) foreign(text string, s state, certain bool) {
	r.line.Unread = true
	s.sure = false
	words := known(Names(text)...)
	for i := range words {
		r.add(words[i:], s, certain)
	}
}

func (r *reader) add(words []Word, s state, certain bool) bool {
	if r.total += len(words); r.total > maxWords || len(r.line.Commands) >= maxRuns {
		r.line.Unread = true
		return false
	}
	r.line.Commands = append(r.line.Commands, Run{words, s.dirs, certain, s.sure && certain && !r.ended})
	return true
}

// writes notes that the line writes a file.
func (r *reader) writes(file string) {
	r.written[path.Base(file)] = true
	if len(r.paths) < maxRuns {
		r.paths = append(r.paths, "/"+file)
	}
}

// checkWritten notes that the line runs a file that it writes.
func (r *reader) checkWritten() {
	if len(r.written) == 0 {
		return
	}
	any := r.written[unknownText]
	for _, name := range r.scripts {
		r.line.Unread = r.line.Unread || any || r.written[name] || strings.ContainsRune(name, Unknown)
	}
	for _, name := range r.reads {
		dir := strings.HasSuffix(name, "/")
		r.line.Unread = r.line.Unread || any || !dir && r.written[name] || dir && slices.ContainsFunc(r.paths,
			func(file string) bool { return strings.Contains(file, "/"+name) })
	}
}

// Names returns the parts of a text that may be names of programs or files.
func Names(text string) []string {
	return strings.FieldsFunc(text, func(c rune) bool {
		return c != Unknown && (c > '~' || !isLiteral(byte(c)) || c == '=')
	})
}

func isLiteralText(text string) bool {
	return !strings.ContainsFunc(text, func(c rune) bool { return c > '~' || !isLiteral(byte(c)) })
}
