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

	spans     []span
	keywords  string
	types     string
	constants string
	letters   string // beside letters, digits and the underscore, in words
	marks     string // that begin a word which is Meta: @decorator, #include
	anyCase   bool   // keywords in capitals are the same
	capitals  bool   // a word that begins with a capital is a type
	keyed     bool   // a word or string before a colon is a key
	first     bool   // only the first word of a line is a keyword

	// line cuts a line instead of the tables.
	line func(s *Scanner, line string, out []Token) []Token

	once   sync.Once
	starts [256]bool // what spans begin with
	words  map[string]Kind
}

// span is a stretch from its opening to its closing, such as a string.
type span struct {
	open, close string // no close: up to the line's end
	kind        Kind
	escape      byte // the byte behind it counts for nothing
	many        bool // it may go over many lines
	nests       bool
	short       bool // it holds one character, else it is none
	spaced      bool // only at a line's begin or behind a space
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

type catalogue struct{ names, files map[string]*Language }

var index = sync.OnceValue(func() catalogue {
	c := catalogue{map[string]*Language{}, map[string]*Language{}}
	for _, l := range languages() {
		for name := range strings.FieldsSeq(l.names) {
			c.names[name] = l
		}
		for name := range strings.FieldsSeq(l.files) {
			c.files[name] = l
		}
	}
	return c
})

func (l *Language) prepare() {
	l.words = map[string]Kind{}
	for kind, words := range map[Kind]string{Keyword: l.keywords, Type: l.types, Number: l.constants} {
		for word := range strings.FieldsSeq(words) {
			l.words[word] = kind
		}
	}
	for i := range l.spans {
		l.starts[l.spans[i].open[0]] = true
	}
}

// opens is which span begins at line[i], or -1. Those of never do not.
func (l *Language) opens(line string, i int, never uint64) int {
	for k := range l.spans {
		sp := &l.spans[k]
		if never&(1<<k) != 0 || !strings.HasPrefix(line[i:], sp.open) {
			continue
		}
		if sp.spaced && i > 0 && line[i-1] != ' ' && line[i-1] != '\t' && line[i-1] != ';' {
			continue
		}
		return k
	}
	return -1
}

func (l *Language) starting(line string, i int) bool {
	if _, ok := letter(line, i); ok {
		return true
	}
	return strings.IndexByte(l.marks, line[i]) >= 0 && i+1 < len(line) && isLetter(line, i+1)
}

func isLetter(line string, i int) bool {
	_, ok := letter(line, i)
	return ok
}

// word is the end of the word at i.
func (l *Language) word(line string, i int) int {
	if strings.IndexByte(l.marks, line[i]) >= 0 {
		i++
	}
	for i < len(line) {
		size, ok := letter(line, i)
		if c := line[i]; !ok && (c < '0' || c > '9') && strings.IndexByte(l.letters, c) < 0 {
			break
		}
		i += size
	}
	return i
}

func (l *Language) classify(line string, from, to int, first bool) Kind {
	word := line[from:to]
	if strings.IndexByte(l.marks, word[0]) >= 0 {
		return Meta
	}
	if l.keyed && isKey(line, to) {
		return Key
	}
	known := word
	if l.anyCase {
		known = strings.ToLower(word)
	}
	if kind, ok := l.words[known]; ok && (!l.first || first || kind != Keyword) {
		if from == 0 || line[from-1] != '.' || kind != Keyword {
			return kind
		}
	}
	switch {
	case to < len(line) && line[to] == '(':
		return Name
	case l.capitals && word[0] >= 'A' && word[0] <= 'Z':
		return Type
	}
	return Plain
}
