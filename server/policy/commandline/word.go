package commandline

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// Unknown stands for any text in a word: what a variable, a substitution or a glob becomes.
const Unknown = '\uE000'

const unknownText = string(Unknown)

// maxBraces bounds the words that the braces of one word become.
const maxBraces = 64

// A Word is a word of a command, as the program gets it.
type Word struct {
	Text   string // with Unknown for what only the shell knows
	Splits bool   // it may become several words, or none
}

// Known reports whether all of the word is known.
func (w Word) Known() bool { return !strings.ContainsRune(w.Text, Unknown) }

func known(texts ...string) []Word {
	words := make([]Word, len(texts))
	for i, t := range texts {
		words[i] = Word{Text: t, Splits: strings.ContainsRune(t, Unknown)}
	}
	return words
}

// join returns words as a line for a shell.
func join(words []Word) string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.Text
	}
	return strings.Join(texts, " ")
}

// words returns what a word of a line becomes, with its braces expanded.
func (r *reader) words(w *syntax.Word, s *state) []Word {
	split := &syntax.Word{Parts: slices.Clone(w.Parts)} // the parser's is walked again
	syntax.SplitBraces(split)
	list := r.parts(split.Parts, s)
	if len(list) > maxBraces {
		return []Word{{unknownText, true}}
	}
	return list
}

// parts returns the words that parts become: several if there are braces.
func (r *reader) parts(parts []syntax.WordPart, s *state) []Word {
	list := []Word{{}}
	for _, part := range parts {
		var next []Word
		switch b, ok := part.(*syntax.BraceExp); {
		case ok && b.Sequence:
			next = []Word{{unknownText, true}}
		case ok:
			for _, e := range b.Elems {
				next = append(next, r.parts(e.Parts, s)...)
			}
		default:
			next = []Word{r.part(part, s)}
		}
		var product []Word
		for _, a := range list {
			for _, b := range next {
				product = append(product, Word{a.Text + b.Text, a.Splits || b.Splits})
			}
		}
		if list = product; len(list) > maxBraces {
			return []Word{{unknownText, true}}
		}
	}
	return list
}

func (r *reader) part(part syntax.WordPart, s *state) Word {
	switch p := part.(type) {
	case *syntax.Lit:
		return literalText(p.Value)
	case *syntax.SglQuoted:
		if p.Dollar {
			text, err := expand.Literal(nil, &syntax.Word{Parts: []syntax.WordPart{p}})
			if err != nil {
				text = unknownText
			}
			return Word{Text: text}
		}
		return Word{Text: p.Value}
	case *syntax.DblQuoted:
		var w Word
		for _, inner := range p.Parts {
			if lit, ok := inner.(*syntax.Lit); ok {
				w.Text += unescape(lit.Value, "$`\"\\\n")
				continue
			}
			in := r.part(inner, s)
			w.Text += in.Text
			w.Splits = w.Splits || isList(inner)
		}
		return w
	case *syntax.ParamExp:
		if value, ok := s.vars[paramName(p)]; ok && !r.noVars {
			return Word{Text: value}
		}
		if p.Length || p.Param != nil && len(p.Param.Value) == 1 && strings.Contains("?#$!", p.Param.Value) {
			r.inner(part, s)
			return Word{Text: "0"}
		}
	case *syntax.ArithmExp:
		r.inner(part, s)
		return Word{Text: "0"}
	case *syntax.ProcSubst:
		r.inner(part, s)
		return Word{Text: "/dev/fd/63"}
	}
	r.inner(part, s)
	return Word{unknownText, true}
}

// paramName returns the name of a variable that is used without an operator; else "".
func paramName(p *syntax.ParamExp) string {
	if p.Param == nil || p.Flags != nil || p.Excl || p.Length || p.Width || p.IsSet || p.NestedParam != nil ||
		p.Index != nil || p.Modifiers != nil || p.Slice != nil || p.Repl != nil || p.Names != 0 || p.Exp != nil {
		return ""
	}
	return p.Param.Value
}

// isList reports whether a part in double quotes may become several words.
func isList(part syntax.WordPart) bool {
	p, ok := part.(*syntax.ParamExp)
	return ok && (p.Param == nil || p.Param.Value == "@" || p.Index != nil || p.Excl || p.Flags != nil)
}

// literalText returns the text of an unquoted literal: escapes resolved, globs unknown.
func literalText(lit string) Word {
	if !strings.ContainsAny(lit, "\\*?[") {
		return Word{lit, strings.ContainsRune(lit, Unknown)}
	}
	var b strings.Builder
	glob := false
	for i := 0; i < len(lit); i++ {
		switch c := lit[i]; {
		case c == '\\' && i+1 < len(lit):
			if i++; lit[i] != '\n' {
				b.WriteByte(lit[i])
			}
		case c == '*', c == '?', c == '[' && strings.Contains(lit[i:], "]"):
			glob = true
			b.WriteRune(Unknown)
			if c == '[' {
				i += strings.LastIndexByte(lit[i:], ']')
			}
		default:
			b.WriteByte(c)
		}
	}
	return Word{b.String(), glob || strings.ContainsRune(lit, Unknown)}
}

// unescape removes the backslashes before some characters, and an escaped line break.
func unescape(text, some string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && strings.IndexByte(some, text[i+1]) >= 0 {
			if i++; text[i] == '\n' {
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
