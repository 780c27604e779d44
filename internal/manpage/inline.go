package manpage

import (
	"strings"

	"github.com/yuin/goldmark/ast"
)

// inline returns the content of a node as escaped text.
func (d *document) inline(n ast.Node) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			b.WriteString(escape(string(c.Value(d.source))))
			if c.SoftLineBreak() || c.HardLineBreak() {
				b.WriteByte('\n')
			}
		case *ast.String:
			b.WriteString(escape(string(c.Value)))
		case *ast.CodeSpan:
			b.WriteString(bold(plain(c, d.source)))
		case *ast.Emphasis:
			font := `\fI`
			if c.Level > 1 {
				font = `\fB`
			}
			b.WriteString(font + strings.ReplaceAll(d.inline(c), `\fR`, `\fR`+font) + `\fR`)
		case *ast.Link:
			b.WriteString(d.inline(c))
			if to := string(c.Destination); !strings.HasPrefix(to, "#") && to != plain(c, d.source) {
				b.WriteString(escape(" (" + to + ")"))
			}
		case *ast.AutoLink:
			b.WriteString(escape(string(c.Label(d.source))))
		default:
			b.WriteString(d.inline(c))
		}
	}
	return b.String()
}

// plain returns the text of a node without its marks.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(t.Value(source))
			if t.SoftLineBreak() {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}
