package layout

import (
	"go/ast"
	"go/token"
	"strings"
	"unicode/utf8"
)

const (
	maxCommentColumns = 100
	maxCodeColumns    = 120
	tabColumns        = 4
	maxFixtureColumns = 80 // in a test, a line with a longer string literal has no limit
)

// longLines returns the numbers of the comment lines and of the code lines that are too wide. A
// line that begins with code is a code line, a trailing comment included. Compiler directives and
// the lines of a multi-line string literal have no limit; neither have lines of a test with a long
// string literal.
func longLines(src []byte, fset *token.FileSet, parsed *ast.File, test bool) (comments, code []int) {
	line := func(p token.Pos) int { return fset.PositionFor(p, false).Line }
	exempt := map[int]bool{}
	ast.Inspect(parsed, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return true
		}
		first, last := line(lit.Pos()), line(lit.End())
		if first < last || test && utf8.RuneCountInString(lit.Value) > maxFixtureColumns {
			for i := first; i <= last; i++ {
				exempt[i] = true
			}
		}
		return true
	})
	inComment := map[int]bool{}
	for _, group := range parsed.Comments {
		for _, c := range group.List {
			for i := line(c.Pos()) + 1; i <= line(c.End()); i++ {
				inComment[i] = true
			}
		}
	}
	i := 0
	for text := range strings.Lines(string(src)) {
		i++
		text = strings.TrimRight(text, "\r\n")
		columns := utf8.RuneCountInString(text) + strings.Count(text, "\t")*(tabColumns-1)
		trimmed := strings.TrimSpace(text)
		comment := inComment[i] || strings.HasPrefix(trimmed, "//") || strings.HasPrefix(trimmed, "/*")
		switch {
		case exempt[i] || strings.HasPrefix(trimmed, "//go:"):
		case comment && columns > maxCommentColumns:
			comments = append(comments, i)
		case !comment && columns > maxCodeColumns:
			code = append(code, i)
		}
	}
	return comments, code
}
