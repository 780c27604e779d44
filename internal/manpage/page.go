package manpage

import (
	"bytes"
	"fmt"
	"strings"
)

// A Header is what all pages of a release have in common.
type Header struct {
	Source string // the program and its version
	Date   string // of the release, as in 2026-03-01
}

// A page is a man page in the format of man(7).
type page struct {
	b      bytes.Buffer
	begins bool // a section, or what is indented: it needs no request for a paragraph
}

// newPage begins a page with its name and a short description.
func newPage(h Header, name, section, description string) *page {
	p := &page{}
	fmt.Fprintf(&p.b, ".TH %s %s %q %s \"agentctl manual\"\n", quote(strings.ToUpper(name)), section, h.Date,
		quote(h.Source))
	p.b.WriteString(".nh\n.ad l\n") // words whole, lines as in the help
	p.section("Name")
	p.text(escape(name) + ` \- ` + escape(description))
	return p
}

// section begins a section.
func (p *page) section(title string) {
	fmt.Fprintf(&p.b, ".SH %s\n", quote(strings.ToUpper(title)))
	p.begins = true
}

func (p *page) subsection(title string) {
	fmt.Fprintf(&p.b, ".SS %s\n", quote(title))
	p.begins = true
}

// indent begins lines that are indented, and unindent ends them.
func (p *page) indent() {
	p.b.WriteString(".RS 4\n")
	p.begins = true
}

func (p *page) unindent() { p.b.WriteString(".RE\n") }

// gap separates what follows from what was written before.
func (p *page) gap() {
	if !p.begins {
		p.b.WriteString(".PP\n")
	}
}

// paragraph writes a paragraph of escaped text.
func (p *page) paragraph(text string) {
	p.gap()
	p.text(text)
}

// term writes a term and its explanation, both of escaped text.
func (p *page) term(term, text string) {
	p.b.WriteString(".TP\n")
	p.text(term)
	p.text(text)
}

// text writes escaped text. A line that begins with a dot or an apostrophe would be a request.
func (p *page) text(text string) {
	p.begins = false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			p.b.WriteString(`\&`)
		}
		p.b.WriteString(line + "\n")
	}
}

// literal writes lines as they are, indented.
func (p *page) literal(lines string) {
	p.gap()
	p.b.WriteString(".RS 4\n.EX\n")
	for line := range strings.Lines(lines) {
		line = escape(strings.TrimRight(line, "\n"))
		if strings.HasPrefix(line, ".") {
			p.b.WriteString(`\&`)
		}
		p.b.WriteString(line + "\n")
	}
	p.b.WriteString(".EE\n.RE\n")
	p.begins = false
}

// escapes keep characters from being formatted, so that commands can be copied.
var escapes = strings.NewReplacer(
	`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, "\t", "    ",
)

func escape(text string) string { return escapes.Replace(text) }

func bold(text string) string { return `\fB` + escape(text) + `\fR` }

// quote returns an argument of a request.
func quote(text string) string { return `"` + strings.ReplaceAll(escape(text), `"`, `\(dq`) + `"` }
