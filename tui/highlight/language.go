package highlight

import (
	"path"
	"strings"
	"sync"
)

// Language knows the words of one language. It is safe for concurrent use.
type Language struct {
	names string // in fences
	files string // endings, or whole names, of files

	spans         []span
	keywords      string
	types         string
	constants     string
	wordChars     string // beside letters, digits and the underscore, in words
	sigils        string // that begin a word which is Meta: @decorator, #include
	ignoreCase    bool   // keywords in capitals are the same
	capitalTypes  bool   // a word that begins with a capital is a type
	colonKeys     bool   // a word or string before a colon is a key
	firstWordOnly bool   // only the first word of a line is a keyword

	// scanLine cuts a line instead of the tables.
	scanLine func(s *Scanner, line string, out []Token) []Token

	once       sync.Once
	spanStarts [256]bool // what spans begin with
	wordKinds  map[string]Kind
}

// span is a stretch from its opening to its closing, such as a string.
type span struct {
	open, close string // no close: up to the line's end
	kind        Kind
	escape      byte // the byte behind it counts for nothing
	multiline   bool // it may go over many lines
	nests       bool
	char        bool // it holds one character, else it is none
	afterSpace  bool // only at a line's begin or behind a space
}

// ByName is the language that a fence names, or nil.
func ByName(name string) *Language {
	name = strings.ToLower(strings.Trim(name, "{}. "))
	return index().names[name]
}

// ByFilename is the language of a file by its name, or nil.
func ByFilename(file string) *Language {
	base := strings.ToLower(path.Base(strings.ReplaceAll(file, `\`, "/")))
	if l := index().files[base]; l != nil {
		return l
	}
	return index().files[path.Ext(base)]
}

// NewScanner begins a text. A nil language finds nothing.
func (l *Language) NewScanner() Scanner { return Scanner{lang: l} }

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

// spanAt is which span begins at line[i], or -1. Those of never do not.
func (l *Language) spanAt(line string, i int, never uint64) int {
	for k := range l.spans {
		sp := &l.spans[k]
		if never&(1<<k) != 0 || !strings.HasPrefix(line[i:], sp.open) {
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
	if _, ok := decodeLetter(line, i); ok {
		return true
	}
	return strings.IndexByte(l.sigils, line[i]) >= 0 && i+1 < len(line) && isLetter(line, i+1)
}

func isLetter(line string, i int) bool {
	_, ok := decodeLetter(line, i)
	return ok
}

// wordEnd is the end of the word at i.
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
