package transcript

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"
)

// writeInline appends the children of a node to r. It keeps soft line breaks.
func (m *markdownRenderer) writeInline(parent ast.Node, r *StyledText) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		outer := r.style
		switch n := n.(type) {
		case *ast.Text:
			m.writeText(n, r)
		case *ast.String:
			r.write(unescape(n.Value))
		case *ast.CodeSpan:
			r.style |= Code
			for c := n.FirstChild(); c != nil; c = c.NextSibling() {
				if t, ok := c.(*ast.Text); ok {
					r.write(strings.ReplaceAll(expandTabs(string(t.Segment.Value(m.source))), "\n", " "))
				}
			}
		case *ast.Emphasis:
			r.style |= Emphasis
			if n.Level > 1 {
				r.style = outer | Strong
			}
			m.writeInline(n, r)
		case *strikethrough:
			r.style |= Strikethrough
			m.writeInline(n, r)
		case *ast.Link:
			m.writeLink(n, string(n.Destination), r)
		case *ast.Image:
			r.write("image: ")
			m.writeLink(n, string(n.Destination), r)
		case *ast.AutoLink:
			r.style |= Link
			url := unescape(n.URL(m.source))
			if n.AutoLinkType == ast.AutoLinkEmail {
				r.setLink("mailto:" + url)
			} else {
				r.setLink(url)
			}
			r.write(url)
			r.link = ""
		case *ast.RawHTML:
			for i := range n.Segments.Len() {
				segment := n.Segments.At(i)
				r.write(expandTabs(string(segment.Value(m.source))))
			}
		default:
			m.writeInline(n, r)
		}
		r.style = outer
	}
}

func (m *markdownRenderer) writeText(n *ast.Text, r *StyledText) {
	value := n.Segment.Value(m.source)
	drop := min(m.trim, len(value))
	value, m.trim = value[drop:], m.trim-drop
	if n.IsRaw() {
		r.write(expandTabs(string(value)))
	} else {
		r.write(unescape(value))
	}
	if n.SoftLineBreak() || n.HardLineBreak() {
		r.write("\n")
	}
}

// writeLink appends a link, followed by its URL unless the link text is the URL. A link text that
// looks like another URL is not a link; only the URL after it is.
func (m *markdownRenderer) writeLink(n ast.Node, url string, r *StyledText) {
	outer, outerLink := r.style, r.link
	url = unescape([]byte(url))
	r.style |= Link
	r.setLink(url)
	from := r.text.Len()
	m.writeInline(n, r)
	label := r.text.String()[from:]
	if isMisleading(label, url) {
		for i := len(r.spans) - 1; i >= 0 && r.spans[i].from >= from; i-- {
			r.spans[i].link = ""
		}
	}
	if url != "" && label != url && "mailto:"+label != url {
		r.style, r.link = outer|Faint, ""
		r.write(" (")
		r.setLink(url)
		r.write(url)
		r.link = ""
		r.write(")")
	}
	r.link = outerLink
}

// isMisleading reports whether a link's label looks like a URL that is not part of its target.
func isMisleading(label, url string) bool {
	urlLike := strings.ContainsAny(label, ".:@") && len(strings.Fields(label)) == 1
	return urlLike && !strings.Contains(url, strings.TrimSpace(label))
}

// unescape resolves backslash escapes and entities. It cleans the result, because an entity can
// stand for any character.
func unescape(b []byte) string {
	b = util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(b)))
	return expandTabs(Clean(string(b)))
}

func expandTabs(s string) string { return strings.ReplaceAll(s, "\t", "    ") }
