package protolog

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"agentctl/tui/transcript"
)

// Styles is how the parts of a row look.
type Styles struct {
	Sent, Received, Note, Error, Dim, Selected func(...string) string
	Location                                   *time.Location
}

// Rows are height rows around the chosen message, each of at most width cells.
func (p *List) Rows(width, height int, d *Styles) []string {
	top := max(0, min(p.at-height/2, len(p.shown)-height))
	if p.follow {
		top = max(0, len(p.shown)-height)
	}
	var out []string
	for i := top; i < min(top+height, len(p.shown)); i++ {
		m := &p.messages[p.shown[i]-p.first]
		row := m.row(width, d)
		if i == p.at {
			row = ansi.Truncate("▸"+strings.TrimPrefix(ansi.Strip(row), " "), width, "…")
			row = d.Selected(row + strings.Repeat(" ", max(0, width-ansi.StringWidth(row))))
		}
		out = append(out, row)
	}
	return out
}

// Widths of the columns, in cells, and from which width of a row on there is one.
const (
	kindCells = 22
	sizeCells = 6
	seqCells  = 9
	idCells   = 8
	lateCells = 8

	withSize = 60
	withSeq  = 70
	withText = 90
	withID   = 120
)

// row is a message on one line: when, which way, how large, its place, what it
// is, its id, how long the answer took, and how it begins.
func (m *Message) row(width int, d *Styles) string {
	arrow, dress := "←", d.Received
	switch {
	case m.Note:
		arrow, dress = "·", d.Note
	case m.Sent:
		arrow, dress = "→", d.Sent
	}
	if m.IsError {
		dress = d.Error
	}
	when := m.Time.In(d.Location).Format("15:04:05.000")
	if m.Part > 0 { // of the frame above
		when = cell("⋮", -len(when))
	}
	out := d.Dim(" "+when) + " " + dress(arrow) + " "
	if m.Note {
		return ansi.Truncate(out+dress(plain(m.Text, width)), width, "…")
	}
	if width >= withSize {
		out += d.Dim(cell(FormatSize(m.Size), -sizeCells)) + " "
	}
	if width >= withSeq {
		out += cell(clean(m.Seq), -seqCells) + " "
	}
	late := ""
	if m.Answered {
		late = took(m.Latency)
	}
	if width < withSize {
		return ansi.Truncate(out+dress(clean(m.Label))+" "+late, width, "…")
	}
	out += dress(cell(clean(m.Label), kindCells)) + " "
	if width >= withID {
		out += d.Dim(cell(clean(m.ID), idCells)) + " "
	}
	out += cell(late, -lateCells)
	if width >= withText {
		out += "  " + d.Dim(plain(m.body(), width))
	}
	return ansi.Truncate(out, width, "…")
}

// cell is text in so many cells; fewer than none: at the right end of them.
func cell(s string, cells int) string {
	room := max(cells, -cells)
	s = ansi.Truncate(s, room, "…")
	pad := strings.Repeat(" ", room-ansi.StringWidth(s))
	if cells < 0 {
		return pad + s
	}
	return s + pad
}

func clean(s string) string {
	return strings.Join(strings.Fields(transcript.Clean(s[:min(len(s), 256)])), " ")
}

// body is what a message carries: what comes before it, the row tells already.
func (m *Message) body() []byte {
	head := m.Text[:min(len(m.Text), 512)]
	for _, name := range []string{`"data":`, `"payload":`, `"result":`, `"error":`, `"values":`} {
		if i := bytes.Index(head, []byte(name)); i >= 0 {
			return bytes.TrimSuffix(m.Text[i+len(name):], []byte("}"))
		}
	}
	return m.Text
}

// plain is how a text begins, on one line.
func plain(b []byte, width int) string { return clean(string(b[:min(len(b), 2*width)])) }

// FormatSize is a number of bytes for people.
func FormatSize(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n, " B")
	case n < 100_000:
		return fmt.Sprintf("%.1f k", float64(n)/1000)
	case n < 1_000_000:
		return fmt.Sprintf("%d k", n/1000)
	}
	return fmt.Sprintf("%.1f M", float64(n)/1e6)
}

// took is a latency for people.
func took(d time.Duration) string {
	switch {
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1fms", float64(d)/float64(time.Millisecond))
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1fs", d.Seconds())
}
