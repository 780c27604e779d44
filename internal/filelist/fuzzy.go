package filelist

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Search returns the files that have the letters of the text in their order, ignoring case, the
// best match first, at most n. Letters in a row, at the start of a word and in the base name count
// more; of equal matches the shorter path is better.
func (l *Listing) Search(text string, n int) []string {
	type match struct {
		name  string
		score int
	}
	var found []match
	letters := []rune(strings.ToLower(text))
	for _, name := range l.Files {
		if score, ok := fuzzyScore(name, letters); ok {
			found = append(found, match{name, score*1000 - len(name)})
		}
	}
	slices.SortStableFunc(found, func(a, b match) int { return b.score - a.score })
	out := make([]string, 0, min(n, len(found)))
	for _, m := range found[:min(n, len(found))] {
		out = append(out, m.name)
	}
	return out
}

// fuzzyScore returns how well the letters match a path. It prefers the base name: it matches from
// the end.
func fuzzyScore(name string, letters []rune) (score int, ok bool) {
	base := strings.LastIndexByte(name, '/') + 1
	last := len(name) // of the letter after
	end := len(name)
	for i := len(letters) - 1; i >= 0; i-- {
		for {
			if end == 0 {
				return 0, false
			}
			r, size := utf8.DecodeLastRuneInString(name[:end])
			end -= size
			if unicode.ToLower(r) == letters[i] {
				if end+size == last {
					score += 4
				}
				if before, _ := utf8.DecodeLastRuneInString(name[:end]); !unicode.IsLetter(before) || end == 0 {
					score += 3
				}
				if end >= base {
					score++
				}
				last = end
				break
			}
		}
	}
	return score, true
}
