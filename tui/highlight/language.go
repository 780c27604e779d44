package highlight

import (
	"path"
	"strings"
	"sync"
)

// Language describes the syntax of one language. It is safe for concurrent use.
//
// names, files, keywords, types and constants are lists separated by spaces.
type Language struct {
	names string // of code fences
	files string // extensions or names of files

	spans         []span
	keywords      string
	types         string
	constants     string
	wordChars     string // part of words, in addition to letters, digits and underscore
	sigils        string // start a word of kind Meta: @decorator, #include
	ignoreCase    bool   // keywords match in any case
	capitalTypes  bool   // a capitalized word is a type
	colonKeys     bool   // a word or string before a colon is a key
	firstWordOnly bool   // only the first word of a line can be a keyword

	// scanLine replaces the scan by tables. It may be nil.
	scanLine func(s *Scanner, line string, out []Token) []Token

	tables
}

// tables are the lookup tables of a language, built on first use.
type tables struct {
	once       sync.Once
	spanStarts [256]bool // first bytes of spans
	wordKinds  map[string]Kind
}

// span is a token with delimiters, such as a string.
type span struct {
	open, close string // with no close, the span ends with the line
	kind        Kind
	escape      byte // the byte after it is literal; 0 for none
	multiline   bool // the span can continue on the next line
	nests       bool
	char        bool // the span holds one character
	afterSpace  bool // open counts only at the start of a line or after a space
}

// ByName returns the language named by a code fence, or nil.
func ByName(name string) *Language {
	name = strings.ToLower(strings.Trim(name, "{}. "))
	return index().names[name]
}

// ByFilename returns the language of a file by its name, or nil.
func ByFilename(file string) *Language {
	base := strings.ToLower(path.Base(strings.ReplaceAll(file, `\`, "/")))
	if l := index().files[base]; l != nil {
		return l
	}
	return index().files[path.Ext(base)]
}

// NewScanner returns a scanner for one text. For a nil language, it finds no tokens.
func (l *Language) NewScanner() Scanner { return Scanner{lang: l} }

// languageIndex maps fence names and file names to languages.
type languageIndex struct{ names, files map[string]*Language }

var index = sync.OnceValue(func() languageIndex {
	c := languageIndex{map[string]*Language{}, map[string]*Language{}}
	for _, l := range allLanguages() {
		for name := range strings.FieldsSeq(l.names) {
			c.names[name] = l
		}
		for name := range strings.FieldsSeq(l.files) {
			c.files[name] = l
		}
	}
	return c
})

func (l *Language) buildTables() {
	l.wordKinds = map[string]Kind{}
	for kind, words := range map[Kind]string{Keyword: l.keywords, Type: l.types, Number: l.constants} {
		for word := range strings.FieldsSeq(words) {
			l.wordKinds[word] = kind
		}
	}
	for i := range l.spans {
		l.spanStarts[l.spans[i].open[0]] = true
	}
}

// spanAt returns the index of the span that opens at line[i], or -1. It skips the spans in the bit
// set unclosed.
func (l *Language) spanAt(line string, i int, unclosed uint64) int {
	for k := range l.spans {
		sp := &l.spans[k]
		if unclosed&(1<<k) != 0 || !strings.HasPrefix(line[i:], sp.open) {
			continue
		}
		if sp.afterSpace && i > 0 && line[i-1] != ' ' && line[i-1] != '\t' && line[i-1] != ';' {
			continue
		}
		return k
	}
	return -1
}

func (l *Language) isWordStart(line string, i int) bool {
	return isLetter(line, i) ||
		strings.IndexByte(l.sigils, line[i]) >= 0 && i+1 < len(line) && isLetter(line, i+1)
}

func isLetter(line string, i int) bool {
	_, ok := decodeLetter(line, i)
	return ok
}

// wordEnd returns the end of the word at i.
func (l *Language) wordEnd(line string, i int) int {
	if strings.IndexByte(l.sigils, line[i]) >= 0 {
		i++
	}
	for i < len(line) {
		size, ok := decodeLetter(line, i)
		if c := line[i]; !ok && (c < '0' || c > '9') && strings.IndexByte(l.wordChars, c) < 0 {
			break
		}
		i += size
	}
	return i
}

// classify returns the kind of the word line[from:to]. first reports whether it is the first one of
// its line.
func (l *Language) classify(line string, from, to int, first bool) Kind {
	word := line[from:to]
	if strings.IndexByte(l.sigils, word[0]) >= 0 {
		return Meta
	}
	if l.colonKeys && isKey(line, to) {
		return Key
	}
	known := word
	if l.ignoreCase {
		known = strings.ToLower(word)
	}
	if kind, ok := l.wordKinds[known]; ok && (!l.firstWordOnly || first || kind != Keyword) {
		if from == 0 || line[from-1] != '.' || kind != Keyword {
			return kind
		}
	}
	switch {
	case to < len(line) && line[to] == '(':
		return Name
	case l.capitalTypes && word[0] >= 'A' && word[0] <= 'Z':
		return Type
	}
	return Plain
}
