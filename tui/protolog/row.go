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
	top := max(0, min(p.selected-height/2, len(p.shown)-height))
	if p.follow {
		top = max(0, len(p.shown)-height)
	}
	var out []string
	for i := top; i < min(top+height, len(p.shown)); i++ {
		m := &p.messages[p.shown[i]-p.first]
		row := m.row(width, d)
		if i == p.selected {
			row = ansi.Truncate("▸"+strings.TrimPrefix(ansi.Strip(row), " "), width, "…")
			row = d.Selected(row + strings.Repeat(" ", max(0, width-ansi.StringWidth(row))))
		}
		out = append(out, row)
	}
	return out
}

// Widths of the columns, in cells, and from which width of a row on there is one.
const (
	labelWidth   = 22
	sizeWidth    = 6
	seqWidth     = 9
	idWidth      = 8
	latencyWidth = 8

	minWidthSize = 60
	minWidthSeq  = 70
	minWidthText = 90
	minWidthID   = 120
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
		when = padCell("⋮", -len(when))
	}
	out := d.Dim(" "+when) + " " + dress(arrow) + " "
	if m.Note {
		return ansi.Truncate(out+dress(preview(m.Text, width)), width, "…")
	}
	if width >= minWidthSize {
		out += d.Dim(padCell(FormatSize(m.Size), -sizeWidth)) + " "
	}
	if width >= minWidthSeq {
		out += padCell(cleanLine(m.Seq), -seqWidth) + " "
	}
	late := ""
	if m.Answered {
		late = formatLatency(m.Latency)
	}
	if width < minWidthSize {
		return ansi.Truncate(out+dress(cleanLine(m.Label))+" "+late, width, "…")
	}
	out += dress(padCell(cleanLine(m.Label), labelWidth)) + " "
	if width >= minWidthID {
		out += d.Dim(padCell(cleanLine(m.ID), idWidth)) + " "
	}
	out += padCell(late, -latencyWidth)
	if width >= minWidthText {
		out += "  " + d.Dim(preview(m.payload(), width))
	}
	return ansi.Truncate(out, width, "…")
}

// padCell is text in so many cells; fewer than none: at the right end of them.
func padCell(s string, cells int) string {
	room := max(cells, -cells)
	s = ansi.Truncate(s, room, "…")
	pad := strings.Repeat(" ", room-ansi.StringWidth(s))
	if cells < 0 {
		return pad + s
	}
	return s + pad
}

func cleanLine(s string) string {
	return strings.Join(strings.Fields(transcript.Clean(s[:min(len(s), 256)])), " ")
}

// payload is what a message carries: what comes before it, the row tells already.
func (m *Message) payload() []byte {
	head := m.Text[:min(len(m.Text), 512)]
	for _, name := range []string{`"data":`, `"payload":`, `"result":`, `"error":`, `"values":`} {
		if i := bytes.Index(head, []byte(name)); i >= 0 {
			return bytes.TrimSuffix(m.Text[i+len(name):], []byte("}"))
		}
	}
	return m.Text
}

// preview is how a text begins, on one line.
func preview(b []byte, width int) string { return cleanLine(string(b[:min(len(b), 2*width)])) }

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

// formatLatency is a latency for people.
func formatLatency(d time.Duration) string {
	switch {
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1fms", float64(d)/float64(time.Millisecond))
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1fs", d.Seconds())
}
