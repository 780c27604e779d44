package diff

import (
	"unicode"
	"unicode/utf8"
)

const (
	maxLineBytes = 1024    // longer lines are not compared
	maxWordPairs = 1 << 17 // pairs of words that are compared; lines with more are not similar
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
	weight := func(i, j int) int {
		if word := oldLine[a[i].from:a[i].to]; word == newLine[b[j].from:b[j].to] {
			return len(word)
		}
		return 0
	}
	inA, inB := make([]bool, len(a)), make([]bool, len(b)) // the words in common
	head, n, m := 0, len(a), len(b)                        // the words between equal starts and ends
	for ; head < min(n, m) && weight(head, head) > 0; head++ {
		inA[head], inB[head] = true, true
	}
	for ; min(n, m) > head && weight(n-1, m-1) > 0; n, m = n-1, m-1 {
		inA[n-1], inB[m-1] = true, true
	}
	if (n-head)*(m-head) > maxWordPairs {
		return nil, nil, 0
	}
	pairs := bestPairs(n-head, m-head, func(i, j int) int { return weight(head+i, head+j) })
	for _, p := range pairs {
		inA[head+p.removed], inB[head+p.added] = true, true
	}
	for i, w := range a {
		if inA[i] {
			common += nonBlank(oldLine[w.from:w.to])
		}
	}
	if 3*common < min(nonBlank(oldLine), nonBlank(newLine)) {
		return nil, nil, 0
	}
	return joinChanged(oldLine, a, inA), joinChanged(newLine, b, inB), common
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
