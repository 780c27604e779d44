package commandline

import (
	"slices"
	"strings"
)

// A kind says what a part of a command is.
type kind int

const (
	textPart       kind = iota
	subcommandPart      // of a program with subcommands
	listPart            // a file that names further files
	otherPart           // an unknown subcommand or flag
	opaquePart          // a flag that runs what the line does not show
	namedPart           // a text that a rule which allows must name
	writtenPart         // a file that is written
	changedPart         // a file that is changed or removed, whose content the line does not show
	assignmentPart      // of a variable
	settingPart         // NAME=VALUE
	linePart            // a line for a shell
	codePart            // a text in the program's own language
	filePart            // a script
	commandPart         // words that are a command
	wordsPart           // words of which each may begin a command
	inputPart           // commands are read from the input
)

// A part is a part of a command: words[at:end], of which the value is the last.
type part struct {
	kind    kind
	at, end int
	value   Word
	flag    string
	before  string // of a command: words that the program puts before it, apart by colons
	loose   bool   // it may be at another place
}

// A scanner divides the words of a command into parts.
type scanner struct {
	words    []Word
	row      *row
	key      string // of the row
	operands []string
	i        int

	loose bool // an unknown flag or word came before
	coded bool // a flag had the code
	line  bool // a flag of a shell makes the first operand a line
	ended bool // no flags follow
	stdin bool // a flag of a shell makes it read its input
	parts []part
}

// scan returns the parts of a command after its program; ok is false for an unknown program.
func scan(list []Word) (parts []part, ok bool) {
	key := program(list[0])
	p := rows()[key]
	if p == nil {
		return nil, false
	}
	s := scanner{words: list, row: p, key: key, operands: p.operands, i: 1}
	if p.bundle && len(list) > 1 && !strings.HasPrefix(list[1].Text, "-") {
		s.bundle()
	}
	for s.i < len(list) {
		w := list[s.i]
		switch {
		case w.Text == "--" && s.rest():
			return s.parts, true
		case !s.ended && w.Text == "--":
			s.ended = true
			s.i++
		case !s.ended && s.isFlag(w.Text):
			if s.flag() {
				return s.parts, true
			}
		default:
			if s.loose = s.loose || w.Splits; s.operand() {
				return s.parts, true
			}
		}
	}
	input := func(o string) bool { return o == "STDIN" || o == "CODEIN" || o == "FILE" }
	if !s.coded && slices.ContainsFunc(s.operands, input) {
		s.emitInput(s.operands[len(s.operands)-1])
	}
	s.destination()
	return s.parts, true
}

// destination makes the last operand of a copy the changed file, unless a flag names the directory.
func (s *scanner) destination() {
	if !slices.Contains(s.operands, "DEST") {
		return
	}
	last, n := 0, 0
	for i, p := range s.parts {
		if p.kind == writtenPart { // the directory of a flag
			return
		}
		if p.kind == textPart && p.flag == "" {
			last, n = i, n+1
		}
	}
	if n > 1 {
		s.parts[last].kind = changedPart
	}
}

// emit adds a part, which is valid until the next one.
func (s *scanner) emit(k kind, at, end int, value Word) *part {
	s.parts = append(s.parts, part{kind: k, at: at, end: end, value: value, loose: s.loose})
	return &s.parts[len(s.parts)-1]
}

// emitInput adds the input from which a program reads commands: with STDIN lines for a shell.
func (s *scanner) emitInput(kind string) {
	s.emit(inputPart, s.i, s.i, Word{}).flag = kind
}

// rest takes the words after -- as a command, or as the arguments of one.
func (s *scanner) rest() bool {
	for _, o := range s.operands {
		if command, of, _ := strings.Cut(o, ":"); command == "--CMD" {
			s.emit(commandPart, s.i+1, len(s.words), Word{}).before = of
			return true
		}
	}
	return false
}

func (s *scanner) isFlag(w string) bool {
	operands := s.operands
	if name, _, ok := strings.Cut(w, "="); ok {
		if _, dd := s.row.flags[name]; dd {
			return true
		}
	}
	if s.line && strings.ContainsAny(w, " \t\n") {
		return false
	}
	if w == "-" {
		return len(operands) > 0 && (operands[0] == "CMD" || operands[0] == "VARS")
	}
	if _, ok := s.row.flags[w]; ok {
		return true
	}
	if _, plus := s.row.flags["+"]; plus && strings.HasPrefix(w, "+") {
		return true
	}
	return strings.HasPrefix(w, "-")
}

// flag takes a flag with its value. It reports whether nothing is left.
func (s *scanner) flag() (done bool) {
	w := s.words[s.i].Text
	if w == "-" {
		s.i++
		return false
	}
	name, value, attached := strings.Cut(w, "=")
	for _, n := range []string{w, name, strings.TrimPrefix(w, "-"), strings.TrimPrefix(name, "-")} {
		if takes, ok := s.row.flags[n]; ok && len(n) > 1 && (n == w || strings.HasPrefix(n, "-") || attached) {
			has := attached && n != w && n != strings.TrimPrefix(w, "-")
			return s.take(n, takes, Word{Text: value}, has)
		}
	}
	if takes, ok := s.row.flags["+"]; ok && w[0] == '+' {
		return s.take("+", takes, Word{Text: w[1:]}, true)
	}
	if _, ok := s.row.flags["-NUM"]; ok && strings.Trim(w, "0123456789") == "-" {
		s.i++
		return false
	}
	if strings.HasPrefix(w, "--") {
		if n := s.row.completed(name); n != "" {
			s.emit(otherPart, s.i, s.i+1, Word{})
			return s.take(n, s.row.flags[n], Word{Text: value}, attached)
		}
	} else if done, ok := s.cluster(w[1:]); ok {
		return done
	}
	switch {
	case strings.Contains(w, "plugin") && strings.HasPrefix(w, "-W"): // -Wl,-plugin,FILE of a compiler
		s.emit(opaquePart, s.i, s.i+1, Word{Text: w})
	case !s.row.others:
		s.emit(otherPart, s.i, s.i+1, Word{Text: value}).flag = name
	}
	s.loose = true
	s.i++
	return false
}

// cluster takes flags of one character each in one word. ok is false if one is not known.
func (s *scanner) cluster(letters string) (done, ok bool) {
	for i := range letters {
		name := "-" + letters[i:i+1]
		takes, known := s.row.flags[name]
		if !known && i > 0 && strings.Contains("0123456789", letters[i:i+1]) {
			continue // of the flag before it, as in -l0
		}
		if !known {
			return false, false
		}
		s.shellFlag(name, takes)
		if takes != "" && !strings.Contains(".!~", takes) {
			rest := letters[i+1:]
			return s.take(name, takes, Word{Text: strings.TrimPrefix(rest, "=")}, rest != ""), true
		}
		if takes == "." {
			return true, true
		}
		if takes != "" {
			s.emit(valueKind(takes), s.i, s.i+1, Word{})
		}
	}
	s.i++
	return false, true
}

// bundle takes the first word as flags without a dash, whose values follow in their order.
func (s *scanner) bundle() {
	letters := s.words[1].Text
	s.i = 2
	for _, c := range letters {
		takes, ok := s.row.flags["-"+string(c)]
		if !ok {
			s.emit(otherPart, 1, 2, Word{})
			continue
		}
		if strings.Trim(takes, "=>$%:<") == "" && takes != "" && s.i < len(s.words) {
			s.i++
			s.value("-"+string(c), takes, 1, s.words[s.i-1])
		} else if takes == "!" || takes == "~" {
			s.emit(valueKind(takes), 1, 2, Word{})
		}
	}
}

// shellFlag notes the flags of a shell that change its first operand.
func (s *scanner) shellFlag(name, takes string) {
	s.line = s.line || name == "-c" && takes == ""
	s.stdin = s.stdin || name == "-s" && takes == ""
}

func (s *scanner) take(name, takes string, value Word, attached bool) (done bool) {
	at := s.i
	value.Splits = s.words[at].Splits
	s.i++
	s.shellFlag(name, takes)
	if optional, ok := strings.CutPrefix(takes, "?"); ok {
		if takes = optional; takes == "" || !attached {
			return false
		}
	}
	switch takes {
	case "":
		return false
	case ".":
		return true
	case "!", "~":
		s.emit(valueKind(takes), at, s.i, value)
		return false
	case "*", "+":
		from, end := s.i, len(s.words)
		if takes == "+" {
			end = from
			for end < len(s.words) && s.words[end].Text != ";" && (s.words[end].Text != "+" ||
				s.words[end-1].Text != "{}") {
				end++
			}
		}
		if attached {
			s.emit(linePart, at, end, Word{Text: join(append([]Word{value}, s.words[from:end]...))})
		} else {
			s.emit(commandPart, from, end, Word{})
		}
		s.i = min(end+1, len(s.words))
		return takes == "*"
	}
	if !attached {
		if s.i >= len(s.words) {
			return true
		}
		value = s.words[s.i]
		s.loose = s.loose || value.Splits
		s.i++
	}
	if takes == "&" {
		return s.module(at, value, attached)
	}
	s.value(name, takes, at, value)
	return false
}

// module takes the module that an interpreter runs. One without a row that has the name of a program
// is that program.
func (s *scanner) module(at int, value Word, attached bool) (done bool) {
	s.emit(namedPart, at, s.i, value)
	key := "python -m " + value.Text
	p := rows()[key]
	switch {
	case p != nil:
		s.row, s.key, s.operands, s.coded = p, key, p.operands, false
	case !value.Known():
		s.emit(opaquePart, at, s.i, value)
		return true
	case rows()[value.Text] != nil && !attached:
		s.emit(commandPart, s.i-1, len(s.words), Word{})
		return true
	default:
		s.coded, s.operands = true, nil
	}
	return false
}

func (s *scanner) value(name, takes string, at int, value Word) {
	k := valueKind(takes)
	if k == codePart || k == filePart || k == namedPart {
		s.coded = s.coded || !strings.HasSuffix(takes, "^")
	}
	s.emit(k, at, s.i, value).flag = name
}

// valueKind returns what a flag is, or its value.
func valueKind(takes string) kind {
	switch takes {
	case ">":
		return writtenPart
	case ">~":
		return changedPart
	case "$":
		return linePart
	case "%", "^":
		return codePart
	case ":":
		return settingPart
	case "!", "!=":
		return opaquePart
	case "~", "~=":
		return namedPart
	case "<":
		return listPart
	case "@", "@^":
		return filePart
	}
	return textPart
}

// wordOperands are operands of one word each. One that is once is followed by the next operand.
var wordOperands = map[string]struct {
	kind kind
	once bool
}{
	"ARG": {textPart, true}, "NAMEDARG": {namedPart, true}, "OUT1": {writtenPart, true}, "$": {linePart, true},
	"NAMED": {kind: namedPart}, "OUT": {kind: writtenPart}, "CHANGED": {kind: changedPart}, "CODE": {kind: codePart},
	"SOCAT": {kind: settingPart},
}

// operand takes a word that is no flag. It reports whether nothing is left.
func (s *scanner) operand() (done bool) {
	at, w := s.i, s.words[s.i]
	next := ""
	if len(s.operands) > 0 {
		next, _, _ = strings.Cut(s.operands[0], ":")
	}
	pop := func() { s.operands = s.operands[1:] }
	one := func(k kind) { s.emit(k, at, at+1, w) }
	s.i++
	if o, ok := wordOperands[next]; ok {
		if one(o.kind); o.once {
			pop()
		}
		return false
	}
	switch next {
	case "VARS":
		if name, _, ok := strings.Cut(w.Text, "="); ok && name != "" {
			one(assignmentPart)
			return false
		}
		pop()
		s.i--
	case "--CMD", "--CMDTEXT":
		pop()
		s.i--
	case "IMAGE":
		pop()
		one(namedPart)
		s.ended = true
	case "CMD":
		s.emit(commandPart, at, len(s.words), Word{})
		return true
	case "ANY", "ANYIN":
		s.emit(wordsPart, at, len(s.words), Word{})
		if next == "ANYIN" {
			s.emitInput("STDIN")
		}
		return true
	case "LINE":
		s.emit(linePart, at, len(s.words), Word{Text: join(s.words[at:])})
		return true
	case "%":
		pop()
		if s.coded {
			s.i--
			return false
		}
		one(codePart)
	case "FILE":
		switch {
		case s.line:
			one(linePart)
		case s.stdin:
			s.emit(inputPart, at, at, Word{})
		case !s.coded:
			one(filePart)
		}
		if slices.Contains(s.operands, "CODEIN") {
			s.emitInput("CODEIN")
		}
		return true
	case "SUB", "SUBCMD", "SUBTEXT":
		return s.sub(w)
	case "SETTINGS":
		if strings.Contains(w.Text, "=") || !w.Known() {
			one(settingPart)
		} else {
			one(textPart)
		}
	case "CONFIG":
		return s.config(w)
	case "PROGRAM":
		pop()
		s.emit(commandPart, at, at+1, Word{})
	case "MODULE":
		return s.module(at, w, false)
	case "SOURCES":
		switch {
		case w.Text == "-": // the input is a source
			one(opaquePart)
		case strings.HasPrefix(w.Text, "@"): // a file with flags
			one(namedPart)
		default:
			one(textPart)
		}
	case "PACKAGES": // one that is a file or an address runs what is there
		if isPlace(w.Text) {
			one(namedPart)
		} else {
			one(textPart)
		}
	default:
		one(textPart)
	}
	return false
}

// config takes the key and the value of a setting, or several settings KEY=VALUE.
func (s *scanner) config(w Word) (done bool) {
	switch w.Text {
	case "set", "get", "list", "ls", "unset", "edit", "delete", "rename-section", "remove-section":
		s.emit(textPart, s.i-1, s.i, w)
		return false
	}
	if strings.Contains(w.Text, "=") {
		s.emit(settingPart, s.i-1, s.i, w)
		return false
	}
	at := s.i - 1
	if s.i < len(s.words) {
		w.Text += "=" + s.words[s.i].Text
	}
	s.emit(settingPart, at, len(s.words), w)
	return true
}

// isPlace reports whether a package is named by a path or an address.
func isPlace(name string) bool {
	return strings.ContainsAny(name, `/\`) || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "~") ||
		strings.ContainsRune(name, Unknown)
}

// sub takes a subcommand. Of some programs a command that they do not know is another program.
func (s *scanner) sub(w Word) (done bool) {
	key := s.key + " " + w.Text
	p := rows()[key]
	switch {
	case p == nil && s.operands[0] == "SUBCMD":
		s.emit(commandPart, s.i-1, len(s.words), Word{})
		return true
	case p == nil && s.operands[0] == "SUBTEXT":
		s.emit(textPart, s.i-1, s.i, w)
		s.operands = s.operands[1:]
		return false
	case p == nil:
		k := otherPart
		if strings.Contains(s.key, " ") {
			k = subcommandPart // the row of its program judges it
		}
		s.emit(k, s.i-1, s.i, w)
		s.operands = nil
		return false
	}
	s.emit(subcommandPart, s.i-1, s.i, w)
	if p.named {
		s.emit(namedPart, s.i-1, s.i, w)
	}
	s.row, s.key, s.operands = p, key, p.operands
	return false
}
