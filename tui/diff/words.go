package diff

import (
	"unicode"
	"unicode/utf8"
)

const (
	wordsBytes = 1024 // of a line whose words are compared
	wordsMost  = 80   // that may differ in two lines that are still one line changed
)

// stretch is text[from:to].
type stretch struct{ from, to int }

// changed is what differs in two lines, by words, and how much they have in
// common. That is nothing when it is too little for one to be the other one
// changed.
func changed(old, text string) (inOld, inNew []stretch, kept int) {
	if len(old) > wordsBytes || len(text) > wordsBytes {
		return nil, nil, 0
	}
	a, b := split(old), split(text)
	ids := map[string]int{}
	id := func(s string, words []stretch) []int {
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
	inA, inB, ok := common(id(old, a), id(text, b), wordsMost)
	if !ok {
		return nil, nil, 0
	}
	for i, w := range a {
		if inA[i] && !blank(old[w.from:w.to]) {
			kept += w.to - w.from
		}
	}
	if 3*kept < min(letters(old), letters(text)) {
		return nil, nil, 0
	}
	return others(old, a, inA), others(text, b, inB), kept
}

// others joins the words that are not in common; blanks between two of them go
// with them.
func others(s string, words []stretch, in []bool) []stretch {
	var out []stretch
	for i, w := range words {
		if in[i] {
			continue
		}
		if n := len(out); n > 0 && (out[n-1].to == w.from || blank(s[out[n-1].to:w.from])) {
			out[n-1].to = w.to
			continue
		}
		out = append(out, w)
	}
	return out
}

// split cuts a line into words: letters and digits, blanks, and whatever else
// there is, rune by rune.
func split(s string) []stretch {
	var out []stretch
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
			out = append(out, stretch{i, i + n})
		}
		last = kind
		i += n
	}
	return out
}

func blank(s string) bool { return letters(s) == 0 }

// letters is how much of a line is not blank.
func letters(s string) int {
	n := 0
	for i := range len(s) {
		if s[i] != ' ' && s[i] != '\t' {
			n++
		}
	}
	return n
}
