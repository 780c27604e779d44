package manpage

import (
	"fmt"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extensionast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// FromMarkdown returns the page of a document in Markdown. The first heading is its description.
// Each row of a table becomes a term with its explanation.
func FromMarkdown(h Header, name, section string, source []byte) []byte {
	root := goldmark.New(goldmark.WithExtensions(extension.Table)).Parser().Parse(text.NewReader(source))
	d := &document{source: source}
	first := root.FirstChild()
	title := name
	if heading, ok := first.(*ast.Heading); ok {
		title = plain(heading, source)
		first = first.NextSibling()
	}
	d.page = newPage(h, name, section, title)
	d.section("Description")
	d.blocks(first)
	return d.b.Bytes()
}

// A document is a page that is made from Markdown.
type document struct {
	*page
	source []byte
}

// block writes a node that is no part of a line.
func (d *document) block(n ast.Node) {
	switch n := n.(type) {
	case *ast.Heading:
		if n.Level <= 2 {
			d.section(plain(n, d.source))
		} else {
			d.subsection(plain(n, d.source))
		}
	case *ast.Paragraph, *ast.TextBlock:
		d.paragraph(d.inline(n))
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		d.literal(string(n.Lines().Value(d.source)))
	case *ast.List:
		if !d.isContents(n) {
			d.list(n)
		}
	case *ast.Blockquote:
		d.indent()
		d.blocks(n.FirstChild())
		d.unindent()
	case *extensionast.Table:
		d.table(n)
	}
}

// blocks writes a node and those after it.
func (d *document) blocks(n ast.Node) {
	for ; n != nil; n = n.NextSibling() {
		d.block(n)
	}
}

// list writes the items of a list. The first paragraph of an item stands beside its mark.
func (d *document) list(l *ast.List) {
	number := l.Start
	for item := l.FirstChild(); item != nil; item = item.NextSibling() {
		mark := `\(bu`
		if l.IsOrdered() {
			mark = fmt.Sprintf("%d.", number)
			number++
		}
		fmt.Fprintf(&d.b, ".IP %s 4\n", mark)
		first := item.FirstChild()
		if first == nil {
			continue
		}
		d.text(d.inline(first))
		if first.NextSibling() == nil {
			continue
		}
		d.indent()
		d.begins = false
		d.blocks(first.NextSibling())
		d.unindent()
	}
}

// isContents reports whether a list has nothing but links to other parts of the document, which a
// man page cannot follow.
func (d *document) isContents(l *ast.List) bool {
	rest := ""
	links := 0
	_ = ast.Walk(l, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			if strings.HasPrefix(string(n.Destination), "#") {
				links++
				return ast.WalkSkipChildren, nil
			}
		case *ast.Text:
			rest += string(n.Value(d.source))
		}
		return ast.WalkContinue, nil
	})
	return links > 0 && strings.Trim(rest, " ·") == ""
}

// table writes each row as a term. Of three columns and more, each explanation is named by the head
// of its column.
func (d *document) table(t *extensionast.Table) {
	var heads []string
	for row := t.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []string
		for c := row.FirstChild(); c != nil; c = c.NextSibling() {
			cells = append(cells, d.inline(c))
		}
		if row.Kind() == extensionast.KindTableHeader {
			heads = cells
			continue
		}
		var lines []string
		for i, cell := range cells[1:] {
			if head := heads[i+1]; head != "" && len(cells) > 2 {
				cell = `\fI` + head + `\fR: ` + cell
			}
			if cells[i+1] != "" {
				lines = append(lines, cell)
			}
		}
		d.row(cells[0], lines)
	}
}

// row writes a term, and each line of its explanation.
func (d *document) row(term string, lines []string) {
	if len(lines) == 0 {
		lines = []string{""}
	}
	d.term(term, lines[0])
	for _, line := range lines[1:] {
		d.b.WriteString(".br\n")
		d.text(line)
	}
}
