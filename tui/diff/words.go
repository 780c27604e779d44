package diff

import (
	"unicode"
	"unicode/utf8"
)

const (
	maxLineBytes = 1024 // longer lines are not compared
	maxWordEdits = 80   // lines with more edits are not similar
)

// span is the part [from, to) of a line.
type span struct{ from, to int }

// changedWords compares two lines by words. It returns the spans that differ and the number of
// non-blank bytes in common, which is 0 if the lines are not similar.
func changedWords(oldLine, newLine string) (inOld, inNew []span, common int) {
	if len(oldLine) > maxLineBytes || len(newLine) > maxLineBytes {
		return nil, nil, 0
	}
	a, b := splitWords(oldLine), splitWords(newLine)
	ids := map[string]int{}
	inA, inB, ok := myers(textIDs(texts(oldLine, a), ids), textIDs(texts(newLine, b), ids), maxWordEdits)
	if !ok {
		return nil, nil, 0
	}
	for i, w := range a {
		if inA[i] && !isBlank(oldLine[w.from:w.to]) {
			common += w.to - w.from
		}
	}
	if 3*common < min(nonBlank(oldLine), nonBlank(newLine)) {
		return nil, nil, 0
	}
	return joinChanged(oldLine, a, inA), joinChanged(newLine, b, inB), common
}

// texts returns the texts of spans of a line.
func texts(line string, spans []span) []string {
	out := make([]string, len(spans))
	for i, s := range spans {
		out[i] = line[s.from:s.to]
	}
	return out
}

// joinChanged returns the words not in common, joined across blanks between them.
func joinChanged(s string, words []span, common []bool) []span {
	var out []span
	for i, w := range words {
		if common[i] {
			continue
		}
		if n := len(out); n > 0 && (out[n-1].to == w.from || isBlank(s[out[n-1].to:w.from])) {
			out[n-1].to = w.to
			continue
		}
		out = append(out, w)
	}
	return out
}

// splitWords splits a line into runs of word characters, runs of blanks, and other single runes.
func splitWords(s string) []span {
	var out []span
	last := 0
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		kind := 0
		switch {
		case r == ' ' || r == '\t':
			kind = 1
		case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			kind = 2
		}
		if k := len(out); k > 0 && kind != 0 && kind == last {
			out[k-1].to = i + n
		} else {
			out = append(out, span{i, i + n})
		}
		last = kind
		i += n
	}
	return out
}

func isBlank(s string) bool { return nonBlank(s) == 0 }

// nonBlank returns the number of bytes that are neither spaces nor tabs.
func nonBlank(s string) int {
	n := 0
	for i := range len(s) {
		if s[i] != ' ' && s[i] != '\t' {
			n++
		}
	}
	return n
}
