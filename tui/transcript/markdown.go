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

// The parsers are made on first use: most verbs of the program show no prose.
// Tables are found here and not by the library's extensions, which take long to
// initialise.
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

// maxNesting is how deep lists and quotes are indented; what lies deeper is not
// indented any more.
const maxNesting = 8

// markdown renders whole blocks of markdown as lines.
type markdown struct {
	source []byte
	depth  int // of lists and quotes around
	trim   int // bytes of the next text that show as something else
}

// renderMarkdown lays clean markdown out at a width.
func renderMarkdown(source string, width int) []string {
	m := &markdown{source: []byte(source)}
	return m.blocks(blockParser().Parse(text.NewReader(m.source)), width, false)
}

// blocks renders the children of a block, with a blank line between them unless
// they are tight.
func (m *markdown) blocks(parent ast.Node, width int, tight bool) []string {
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

func (m *markdown) block(n ast.Node, width int) []string {
	switch n := n.(type) {
	case *ast.Heading:
		return m.words(n, width, headings[min(n.Level, len(headings))-1])
	case *ast.Paragraph:
		if lines := m.table(n.Lines(), width); lines != nil {
			return lines
		}
		return m.words(n, width, 0)
	case *ast.TextBlock:
		return m.words(n, width, 0)
	case *ast.List:
		return m.list(n, width)
	case *ast.Blockquote:
		return m.quote(n, width)
	case *ast.ThematicBreak:
		return []string{marked(strings.Repeat("─", min(width, 24)), Faint)}
	case *ast.FencedCodeBlock:
		return m.code(m.values(n.Lines()), string(n.Language(m.source)), width)
	case *ast.CodeBlock:
		return m.code(m.values(n.Lines()), "", width)
	case *ast.HTMLBlock:
		lines := m.values(n.Lines())
		if n.HasClosure() {
			lines = append(lines, n.ClosureLine.Value(m.source))
		}
		return m.code(lines, "html", width)
	}
	return m.blocks(n, width, false)
}

// headings are the styles of the levels.
var headings = [...]Style{Heading | Strong | Underline, Heading | Strong, Heading}

// quote renders what is quoted behind a bar.
func (m *markdown) quote(n ast.Node, width int) []string {
	m.depth++
	defer func() { m.depth-- }()
	if m.depth > maxNesting || width < 4 {
		return m.blocks(n, width, false)
	}
	bar := marked("│ ", Faint)
	return prefix(m.blocks(n, width-2, false), bar, bar)
}

// list renders items behind their bullets, numbers or boxes.
func (m *markdown) list(l *ast.List, width int) []string {
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
		if box := m.box(item); box != "" {
			bullet, m.trim = box, len("[ ] ")
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
		out = append(out, prefix(lines, marked(bullet, Faint), strings.Repeat(" ", indent))...)
	}
	return out
}

// box is the box of a task, or empty.
func (m *markdown) box(item ast.Node) string {
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

func prefix(lines []string, first, rest string) []string {
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
func (m *markdown) code(lines [][]byte, language string, width int) []string {
	s, out := newSource(language), []string(nil)
	for _, line := range lines {
		out = append(out, s.lay(string(line), width)...)
	}
	return out
}

func (m *markdown) values(segments *text.Segments) [][]byte {
	out := make([][]byte, segments.Len())
	for i := range out {
		segment := segments.At(i)
		out[i] = segment.Value(m.source)
	}
	return out
}

// words renders the inline content of a block.
func (m *markdown) words(n ast.Node, width int, style Style) []string {
	r := &StyledText{style: style}
	m.inline(n, r)
	return r.flow(width, atWords)
}

// inline writes the children of a node. What a person wrote on a line of its
// own stays there.
func (m *markdown) inline(parent ast.Node, r *StyledText) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		outer := r.style
		switch n := n.(type) {
		case *ast.Text:
			m.literal(n, r)
		case *ast.String:
			r.write(plainText(n.Value))
		case *ast.CodeSpan:
			r.style |= Code
			for c := n.FirstChild(); c != nil; c = c.NextSibling() {
				if t, ok := c.(*ast.Text); ok {
					r.write(strings.ReplaceAll(tabless(string(t.Segment.Value(m.source))), "\n", " "))
				}
			}
		case *ast.Emphasis:
			r.style |= Emphasis
			if n.Level > 1 {
				r.style = outer | Strong
			}
			m.inline(n, r)
		case *struck:
			r.style |= Strikethrough
			m.inline(n, r)
		case *ast.Link:
			m.link(n, string(n.Destination), r)
		case *ast.Image:
			r.write("image: ")
			m.link(n, string(n.Destination), r)
		case *ast.AutoLink:
			r.style |= Link
			said := plainText(n.URL(m.source))
			if n.AutoLinkType == ast.AutoLinkEmail {
				r.lead("mailto:" + said)
			} else {
				r.lead(said)
			}
			r.write(said)
			r.link = ""
		case *ast.RawHTML:
			for i := range n.Segments.Len() {
				segment := n.Segments.At(i)
				r.write(tabless(string(segment.Value(m.source))))
			}
		default:
			m.inline(n, r)
		}
		r.style = outer
	}
}

func (m *markdown) literal(n *ast.Text, r *StyledText) {
	value := n.Segment.Value(m.source)
	drop := min(m.trim, len(value))
	value, m.trim = value[drop:], m.trim-drop
	if n.IsRaw() {
		r.write(tabless(string(value)))
	} else {
		r.write(plainText(value))
	}
	if n.SoftLineBreak() || n.HardLineBreak() {
		r.write("\n")
	}
}

// lead makes what is written next a link, if that is safe.
func (r *StyledText) lead(to string) {
	if r.link = ""; isSafeURL(to) {
		r.link = to
	}
}

// link shows where a link leads, unless its text says so. A text that says
// another address than it leads to is no link, only the address is.
func (m *markdown) link(n ast.Node, to string, r *StyledText) {
	outer, around := r.style, r.link
	to = plainText([]byte(to))
	r.style |= Link
	r.lead(to)
	from := r.text.Len()
	m.inline(n, r)
	said := r.text.String()[from:]
	if misleads(said, to) {
		for i := len(r.stretch) - 1; i >= 0 && r.stretch[i].from >= from; i-- {
			r.stretch[i].link = ""
		}
	}
	if to != "" && said != to && "mailto:"+said != to {
		r.style, r.link = outer|Faint, ""
		r.write(" (")
		r.lead(to)
		r.write(to)
		r.link = ""
		r.write(")")
	}
	r.link = around
}

// misleads tells that words look like an address, but are none of where they lead.
func misleads(said, to string) bool {
	return strings.ContainsAny(said, ".:@") && len(strings.Fields(said)) == 1 && !strings.Contains(to, strings.TrimSpace(said))
}

// plainText resolves escapes and entities. An entity can stand for any
// character, so what comes of it is cleaned again.
func plainText(b []byte) string {
	b = util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(b)))
	return tabless(Clean(string(b)))
}

func tabless(s string) string { return strings.ReplaceAll(s, "\t", "    ") }
