package diff

import (
	"unicode"
	"unicode/utf8"
)

const (
	maxLineBytes = 1024 // of a line whose words are compared
	maxWordEdits = 80   // that may differ in two lines that are still one line changed
)

// span is text[from:to].
type span struct{ from, to int }

// changedWords is what differs in two lines, by words, and how much they have in
// common. That is nothing when it is too little for one to be the other one
// changed.
func changedWords(old, text string) (inOld, inNew []span, kept int) {
	if len(old) > maxLineBytes || len(text) > maxLineBytes {
		return nil, nil, 0
	}
	a, b := splitWords(old), splitWords(text)
	ids := map[string]int{}
	id := func(s string, words []span) []int {
		out := make([]int, len(words))
		for i, w := range words {
			n, ok := ids[s[w.from:w.to]]
			if !ok {
				n = len(ids)
				ids[s[w.from:w.to]] = n
			}
			out[i] = n
		}
		return out
	}
	inA, inB, ok := myers(id(old, a), id(text, b), maxWordEdits)
	if !ok {
		return nil, nil, 0
	}
	for i, w := range a {
		if inA[i] && !isBlank(old[w.from:w.to]) {
			kept += w.to - w.from
		}
	}
	if 3*kept < min(nonBlank(old), nonBlank(text)) {
		return nil, nil, 0
	}
	return joinChanged(old, a, inA), joinChanged(text, b, inB), kept
}

// joinChanged joins the words that are not in common; blanks between two of them go
// with them.
func joinChanged(s string, words []span, in []bool) []span {
	var out []span
	for i, w := range words {
		if in[i] {
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

// splitWords cuts a line into words: letters and digits, blanks, and whatever else
// there is, rune by rune.
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

// nonBlank is how much of a line is not blank.
func nonBlank(s string) int {
	n := 0
	for i := range len(s) {
		if s[i] != ' ' && s[i] != '\t' {
			n++
		}
	}
	return n
}
