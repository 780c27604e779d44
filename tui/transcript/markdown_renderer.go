package transcript

import (
	"strconv"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// The parsers are created on first use, because most commands render no markdown. This package
// parses tables and strikethrough itself: goldmark's extensions are slow to initialize.
var (
	blockParser = sync.OnceValue(func() parser.Parser {
		return parser.NewParser(
			parser.WithBlockParsers(parser.DefaultBlockParsers()...),
			parser.WithInlineParsers(inlineParsers()...),
			parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
		)
	})
	inlineParser = sync.OnceValue(func() parser.Parser {
		return parser.NewParser(
			parser.WithBlockParsers(util.Prioritized(parser.NewParagraphParser(), 1000)),
			parser.WithInlineParsers(inlineParsers()...),
		)
	})
)

// maxNesting is the number of nested lists and quotes that are indented. Deeper ones are not.
const maxNesting = 8

// markdownRenderer renders complete blocks of markdown as lines.
type markdownRenderer struct {
	source []byte
	depth  int // of nested lists and quotes
	trim   int // bytes to drop from the next text: a checkbox shown as a bullet
}

// renderMarkdown lays out clean markdown at a width.
func renderMarkdown(source string, width int) []string {
	m := &markdownRenderer{source: []byte(source)}
	return m.blocks(blockParser().Parse(text.NewReader(m.source)), width, false)
}

// blocks renders the children of a block. Unless tight is set, it separates them by blank lines.
func (m *markdownRenderer) blocks(parent ast.Node, width int, tight bool) []string {
	var out []string
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		lines := m.block(n, max(width, 1))
		if len(lines) == 0 {
			continue
		}
		if len(out) > 0 && !tight {
			out = append(out, "")
		}
		out = append(out, lines...)
	}
	return out
}

func (m *markdownRenderer) block(n ast.Node, width int) []string {
	switch n := n.(type) {
	case *ast.Heading:
		return m.inlineLines(n, width, headingStyles[min(n.Level, len(headingStyles))-1])
	case *ast.Paragraph:
		if lines := m.table(n.Lines(), width); lines != nil {
			return lines
		}
		return m.inlineLines(n, width, 0)
	case *ast.TextBlock:
		return m.inlineLines(n, width, 0)
	case *ast.List:
		return m.list(n, width)
	case *ast.Blockquote:
		return m.quote(n, width)
	case *ast.ThematicBreak:
		return []string{withMark(strings.Repeat("─", min(width, 24)), Faint)}
	case *ast.FencedCodeBlock:
		language := firstWord(string(n.Language(m.source))) // the parser ends it at a space only
		named := appendLanguage(nil, language, width)
		return append(named, m.code(m.segmentLines(n.Lines()), language, width)...)
	case *ast.CodeBlock:
		return m.code(m.segmentLines(n.Lines()), "", width)
	case *ast.HTMLBlock:
		lines := m.segmentLines(n.Lines())
		if n.HasClosure() {
			lines = append(lines, n.ClosureLine.Value(m.source))
		}
		return m.code(lines, "html", width)
	}
	return m.blocks(n, width, false)
}

// headingStyles are the styles of heading levels. Deeper levels have the last one.
var headingStyles = [...]Style{Heading | Strong | Underline, Heading | Strong, Heading}

// quote renders a block quote behind a bar.
func (m *markdownRenderer) quote(n ast.Node, width int) []string {
	m.depth++
	defer func() { m.depth-- }()
	if m.depth > maxNesting || width < 4 {
		return m.blocks(n, width, false)
	}
	bar := withMark("│ ", Faint)
	return prefixLines(m.blocks(n, width-2, false), bar, bar)
}

// list renders list items behind bullets, numbers or checkboxes.
func (m *markdownRenderer) list(l *ast.List, width int) []string {
	m.depth++
	defer func() { m.depth-- }()
	var out []string
	number := l.Start
	for item := l.FirstChild(); item != nil; item = item.NextSibling() {
		bullet := "• "
		if l.IsOrdered() {
			bullet = strconv.Itoa(number) + ". "
			number++
		}
		if checkbox := m.checkbox(item); checkbox != "" {
			bullet, m.trim = checkbox, len("[ ] ")
		}
		if m.depth > maxNesting || len(bullet)+2 > width {
			bullet = ""
		}
		indent := len([]rune(bullet))
		lines := m.blocks(item, width-indent, l.IsTight)
		if len(lines) == 0 {
			lines = []string{""}
		}
		if len(out) > 0 && !l.IsTight {
			out = append(out, "")
		}
		out = append(out, prefixLines(lines, withMark(bullet, Faint), strings.Repeat(" ", indent))...)
	}
	return out
}

// checkbox returns the bullet of a task list item, or "".
func (m *markdownRenderer) checkbox(item ast.Node) string {
	first := item.FirstChild()
	if first == nil || first.Type() != ast.TypeBlock || first.Lines() == nil || first.Lines().Len() == 0 {
		return ""
	}
	segment := first.Lines().At(0)
	line := segment.Value(m.source)
	if len(line) < 4 || line[0] != '[' || line[2] != ']' || line[3] != ' ' {
		return ""
	}
	switch line[1] {
	case ' ':
		return "☐ "
	case 'x', 'X':
		return "☑ "
	}
	return ""
}

func prefixLines(lines []string, first, rest string) []string {
	for i := range lines {
		switch {
		case i == 0:
			lines[i] = first + lines[i]
		case lines[i] != "" || strings.TrimSpace(rest) != "":
			lines[i] = rest + lines[i]
		}
	}
	return lines
}

// code renders lines of code.
func (m *markdownRenderer) code(lines [][]byte, language string, width int) []string {
	var out []string
	layout := newCodeLayout(language)
	for _, line := range lines {
		out = append(out, layout.wrapIndented(string(line), width)...)
	}
	return out
}

func (m *markdownRenderer) segmentLines(segments *text.Segments) [][]byte {
	out := make([][]byte, segments.Len())
	for i := range out {
		segment := segments.At(i)
		out[i] = segment.Value(m.source)
	}
	return out
}

// MaxProse is the maximum width of prose. Longer lines are hard to read.
const MaxProse = 100

// inlineLines renders the inline content of a block as lines.
func (m *markdownRenderer) inlineLines(n ast.Node, width int, style Style) []string {
	r := &StyledText{style: style}
	m.writeInline(n, r)
	return r.wrap(min(width, MaxProse), breakAtWords)
}
