package commandline

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// literal are the characters, except letters and digits, that stand for themselves in every shell.
const literal = "_-./:@%+,^="

// redirections change only the target of output, and are left out of commands.
var redirections = []string{"2>&1", "2>/dev/null", ">/dev/null"}

// operators join the commands of a line. A semicolon is not an operator: it ends a statement.
var operators = []syntax.BinCmdOperator{syntax.AndStmt, syntax.OrStmt, syntax.Pipe}

// Literal returns the commands of a line for a shell, each as its words, assignments first. ok is
// false unless the line consists of simple commands of literal words and quoted texts, joined
// by operators and semicolons: everything else may run something that is not in it.
func Literal(line string) (commands [][]string, ok bool) {
	if !isPrintable(line) {
		return nil, false
	}
	parser := syntax.NewParser(syntax.Variant(syntax.LangPOSIX), syntax.KeepComments(true))
	file, err := parser.Parse(strings.NewReader(line), "")
	if err != nil || len(file.Stmts) == 0 || len(file.Last) > 0 {
		return nil, false
	}
	if file.Stmts[len(file.Stmts)-1].Semicolon.IsValid() {
		return nil, false
	}
	r := lineReader{line: line}
	for _, s := range file.Stmts {
		if !r.statement(s) {
			return nil, false
		}
	}
	return r.commands, true
}

// A lineReader collects the commands of a line. Its methods report whether a node is literal.
type lineReader struct {
	line     string
	commands [][]string
}

func (r *lineReader) statement(s *syntax.Stmt) bool {
	if s.Background || s.Coprocess || s.Disown || s.Negated || len(s.Comments) > 0 ||
		slices.ContainsFunc(s.Redirs, func(d *syntax.Redirect) bool { return !r.isHarmless(d) }) {
		return false
	}
	switch c := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		return slices.Contains(operators, c.Op) && r.statement(c.X) && r.statement(c.Y)
	case *syntax.CallExpr:
		return r.call(c)
	}
	return false
}

// isHarmless reports whether a redirection is one of redirections, between blanks or operators.
func (r *lineReader) isHarmless(d *syntax.Redirect) bool {
	before, rest := r.line[:d.Pos().Offset()], r.line[d.End().Offset():]
	return slices.Contains(redirections, r.line[len(before):len(r.line)-len(rest)]) &&
		(before == "" || strings.ContainsAny(before[len(before)-1:], " ;|&")) &&
		(rest == "" || strings.ContainsAny(rest[:1], " ;|&"))
}

func (r *lineReader) call(c *syntax.CallExpr) bool {
	var words []string
	for _, a := range c.Assigns {
		if a.Value == nil {
			words = append(words, r.line[a.Pos().Offset():a.End().Offset()])
			continue
		}
		value, ok := literalWord(a.Value)
		if !ok {
			return false
		}
		words = append(words, r.line[a.Pos().Offset():a.Value.Pos().Offset()]+value)
	}
	for _, w := range c.Args {
		word, ok := literalWord(w)
		if lit, _ := w.Parts[0].(*syntax.Lit); !ok || lit != nil && lit.Value[0] == '=' { // zsh expands =PROGRAM
			return false
		}
		words = append(words, word)
	}
	r.commands = append(r.commands, words)
	return len(words) > 0
}

// literalWord returns the text that a word stands for.
func literalWord(w *syntax.Word) (text string, ok bool) {
	return textOfWord(w, "$`\\!", func(_, lit string) bool {
		return !strings.ContainsFunc(lit, func(c rune) bool { return !isLiteral(byte(c)) })
	})
}

// textOfWord returns the text of a word of literals and quoted texts. ok is false for a word with another
// part, with one of the refused characters in double quotes, or with a literal outside of quotes that is
// not plain after the text before it.
func textOfWord(w *syntax.Word, refused string, plain func(before, lit string) bool) (text string, ok bool) {
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if !plain(text, p.Value) {
				return "", false
			}
			text += p.Value
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false
			}
			text += p.Value
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				lit, isLit := inner.(*syntax.Lit)
				if !isLit || p.Dollar || strings.ContainsAny(lit.Value, refused) {
					return "", false
				}
				text += lit.Value
			}
		default:
			return "", false
		}
	}
	return text, true
}

// isPrintable reports whether a line is printable ASCII in one line.
func isPrintable(line string) bool {
	return !strings.ContainsFunc(line, func(c rune) bool { return c < ' ' || c > '~' })
}

func isLiteral(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte(literal, c) >= 0
}
