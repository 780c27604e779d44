package protocol

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of a query.
const (
	maxQuery = 1 << 10 // bytes
	maxWords = 16
)

// A Query is a set of words. A text matches if it contains all of them, in any case, or in their
// case if the query has an upper-case letter. Not safe for concurrent use.
type Query struct {
	text  string
	exact bool     // case matters
	words [][]byte // in the form that is compared
	low   []byte   // scratch
}

// ParseQuery parses words separated by white space. Text in double quotes is one word; each space
// in it matches any white space character. Errors have the code invalid_message.
func ParseQuery(s string) (*Query, error) {
	if len(s) > maxQuery {
		return nil, Errorf(CodeInvalidMessage, "query: at most %d bytes", maxQuery)
	}
	q := &Query{text: s, exact: strings.IndexFunc(s, unicode.IsUpper) >= 0}
	s = strings.ToValidUTF8(s, "\uFFFD") // a word begins at a rune boundary
	for {
		s = strings.TrimLeftFunc(s, unicode.IsSpace)
		if s == "" {
			break
		}
		var word string
		if quoted, rest, whole := strings.Cut(s[1:], `"`); s[0] == '"' && whole {
			word, s = quoted, rest
		} else {
			end := strings.IndexFunc(s, unicode.IsSpace)
			if end < 0 {
				end = len(s)
			}
			word, s = s[:end], s[end:]
		}
		low, _ := q.fold(nil, word)
		if len(low) > 0 && !slices.ContainsFunc(q.words, func(w []byte) bool { return bytes.Equal(w, low) }) {
			q.words = append(q.words, low)
		}
	}
	switch {
	case len(q.words) == 0:
		return nil, Errorf(CodeInvalidMessage, "query: no words")
	case len(q.words) > maxWords:
		return nil, Errorf(CodeInvalidMessage, "query: at most %d words", maxWords)
	}
	return q, nil
}

// String returns the query as written.
func (q *Query) String() string { return q.text }

// Match reports whether the text contains every word.
func (q *Query) Match(text string) bool {
	q.low, _ = q.fold(q.low[:0], text)
	for _, w := range q.words {
		if !bytes.Contains(q.low, w) {
			return false
		}
	}
	return true
}

// Count returns how often the text contains every word: the count of the rarest word, without
// overlaps.
func (q *Query) Count(text string) int {
	q.low, _ = q.fold(q.low[:0], text)
	least := -1
	for _, w := range q.words {
		if n := bytes.Count(q.low, w); least < 0 || n < least {
			least = n
		}
	}
	return least
}

// Spans returns the places of all words, in order. Spans that touch or overlap are joined.
func (q *Query) Spans(text string) []Span {
	low, same := q.fold(q.low[:0], text)
	q.low = low
	var found []Span
	for _, w := range q.words {
		for at := 0; ; {
			i := bytes.Index(low[at:], w)
			if i < 0 {
				break
			}
			found = append(found, Span{at + i, at + i + len(w)})
			at += i + len(w)
		}
	}
	slices.SortFunc(found, func(a, b Span) int { return cmp.Or(a.From-b.From, a.To-b.To) })
	joined := found[:0]
	for _, s := range found {
		if n := len(joined); n > 0 && s.From <= joined[n-1].To {
			joined[n-1].To = max(joined[n-1].To, s.To)
		} else {
			joined = append(joined, s)
		}
	}
	if !same {
		unfoldSpans(text, joined)
	}
	return joined
}

// Index returns the place of the first word found, or -1.
func (q *Query) Index(text string) int {
	low, same := q.fold(q.low[:0], text)
	q.low = low
	first := -1
	for _, w := range q.words {
		end := len(low)
		if first >= 0 {
			end = min(first+len(w)-1, end)
		}
		if i := bytes.Index(low[:end], w); i >= 0 {
			first = i
		}
	}
	if first > 0 && !same {
		at := []Span{{first, first}}
		unfoldSpans(text, at)
		return at[0].From
	}
	return first
}

// fold appends the text in the form that is compared. same reports whether every rune kept its
// length.
func (q *Query) fold(dst []byte, text string) (_ []byte, same bool) {
	if !q.exact {
		return foldCase(dst, text)
	}
	at := len(dst)
	dst = append(dst, text...)
	for i, c := range dst[at:] {
		if '\t' <= c && c <= '\r' {
			dst[at+i] = ' '
		}
	}
	return dst, true
}

// foldCase appends the text in the form that is compared: letters case-folded, ASCII white space as
// a space. same reports whether every rune kept its length.
func foldCase(dst []byte, text string) (_ []byte, same bool) {
	same = true
	for i := 0; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf {
			dst = append(dst, foldedASCII[c])
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size == 1 {
			dst = append(dst, text[i])
			i++
			continue
		}
		n := len(dst)
		dst = utf8.AppendRune(dst, foldRune(r))
		same = same && len(dst)-n == size
		i += size
	}
	return dst, same
}

// foldedASCII is foldCase of the ASCII characters.
var foldedASCII = func() (t [utf8.RuneSelf]byte) {
	for c := range t {
		switch {
		case 'A' <= c && c <= 'Z':
			t[c] = byte(c) - 'A' + 'a'
		case '\t' <= c && c <= '\r':
			t[c] = ' '
		default:
			t[c] = byte(c)
		}
	}
	return t
}()

// foldRune returns the least rune that differs from r in case only, an ASCII letter in lower case.
func foldRune(r rune) rune {
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	if least < utf8.RuneSelf {
		return rune(foldedASCII[least])
	}
	return least
}

// unfoldSpans converts spans of the folded text to spans of the original. They are in order and do
// not overlap.
func unfoldSpans(text string, spans []Span) {
	at, low := 0, 0
	upto := func(end int) int {
		for low < end && at < len(text) {
			r, size := utf8.DecodeRuneInString(text[at:])
			at += size
			if r == utf8.RuneError && size == 1 {
				low++
			} else {
				low += utf8.RuneLen(foldRune(r))
			}
		}
		return at
	}
	for i := range spans {
		spans[i] = Span{upto(spans[i].From), upto(spans[i].To)}
	}
}
