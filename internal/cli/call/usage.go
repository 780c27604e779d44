package call

import (
	"slices"
	"strings"
	"unicode"
)

// A usage is what the Use of a row says.
type usage struct {
	path  []string // of the verb
	names []string // of the arguments
}

func (r *Row) usage() usage {
	words := strings.Fields(r.Use)
	i := slices.IndexFunc(words, func(w string) bool { return strings.ContainsFunc(w, unicode.IsUpper) })
	return usage{words[:i], words[i:]}
}

// count returns how many arguments a verb takes at least and at most; atMost < 0: no limit.
func (u usage) count() (atLeast, atMost int) {
	for _, name := range u.names {
		if !strings.HasPrefix(name, "[") {
			atLeast++
		}
	}
	if u.repeats() {
		return atLeast, -1
	}
	return atLeast, len(u.names)
}

// repeats reports whether there is a command for each value of the last argument.
func (u usage) repeats() bool { return strings.HasSuffix(u.names[len(u.names)-1], "…") }

// readsText reports whether the last argument may be read from stdin.
func (u usage) readsText() bool { return u.names[len(u.names)-1] == "[TEXT|-]" }

// last returns the values of the last argument.
func (u usage) last(in *Input) []string { return in.Args[min(len(u.names)-2, len(in.Args)):] }

// withLast returns the command line with one value of the last argument.
func (u usage) withLast(in *Input, value string) *Input {
	return &Input{append(slices.Clone(in.Args[:len(u.names)-2]), value), in.Flags}
}
