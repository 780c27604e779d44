package palette

import (
	"slices"
	"strings"
	"unicode"
)

// Ranks of a match, the best first.
const (
	exact = iota
	prefix
	wordStart // a word of the name begins with the text
	subsequence
	aboutStart // a word of the text beside the name begins with the text
	noMatch
)

// Rank returns the commands that match a text, the best first. Equal matches stay in order. An
// empty text matches every command. The texts beside the names count only with abouts.
func Rank(commands []Command, text string, abouts bool) []Command {
	text = fold(text)
	type ranked struct {
		command Command
		rank    int
	}
	var found []ranked
	for _, c := range commands {
		if r := rank(&c, text, abouts); r < noMatch {
			found = append(found, ranked{c, r})
		}
	}
	slices.SortStableFunc(found, func(a, b ranked) int { return a.rank - b.rank })
	out := make([]Command, len(found))
	for i := range found {
		out[i] = found[i].command
	}
	return out
}

// fold returns a text without its slashes, in lower case.
func fold(text string) string { return strings.ToLower(strings.TrimLeft(strings.TrimSpace(text), "/")) }

// rank returns how well a command matches a folded text.
func rank(c *Command, text string, abouts bool) int {
	name := fold(c.Name)
	switch {
	case text == "":
		return prefix
	case name == text:
		return exact
	case strings.HasPrefix(name, text):
		return prefix
	case anyWordStarts(name, text):
		return wordStart
	case isSubsequence(name, text):
		return subsequence
	case abouts && len(text) > 2 && anyWordStarts(strings.ToLower(c.About), text):
		return aboutStart
	}
	return noMatch
}

// anyWordStarts reports whether a word of s begins with text.
func anyWordStarts(s, text string) bool {
	separates := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	return slices.ContainsFunc(strings.FieldsFunc(s, separates), func(word string) bool {
		return strings.HasPrefix(word, text)
	})
}

// isSubsequence reports whether the runes of text occur in s in order, the first at its start.
func isSubsequence(s, text string) bool {
	rest := []rune(text)
	for i, r := range []rune(s) {
		if i == 0 && r != rest[0] {
			return false
		}
		if len(rest) > 0 && r == rest[0] {
			rest = rest[1:]
		}
	}
	return len(rest) == 0
}
