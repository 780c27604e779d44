package protolog

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"agentctl/tui/transcript"
)

// Styles renders the parts of a row. Times are in Location.
type Styles struct {
	Sent, Received, Note, Error, Dim, Selected func(...string) string
	Location                                   *time.Location
}

// Rows renders up to height rows around the selected message, each of at most width cells.
func (l *List) Rows(width, height int, s *Styles) []string {
	top := max(0, min(l.selected-height/2, len(l.shown)-height))
	if l.follow {
		top = max(0, len(l.shown)-height)
	}
	var out []string
	for i := top; i < min(top+height, len(l.shown)); i++ {
		m := &l.messages[l.shown[i]-l.first]
		row := m.row(width, s)
		if i == l.selected {
			row = ansi.Truncate("▸"+strings.TrimPrefix(ansi.Strip(row), " "), width, "…")
			row = s.Selected(row + strings.Repeat(" ", max(0, width-ansi.StringWidth(row))))
		}
		out = append(out, row)
	}
	return out
}

// Widths of the columns, and minimum widths of a row that has the column, in cells.
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

// row renders a message: time, direction, size, sequence number, label, ID, latency and the start
// of its payload.
func (m *Message) row(width int, s *Styles) string {
	arrow, style := "←", s.Received
	switch {
	case m.Note:
		arrow, style = "·", s.Note
	case m.Sent:
		arrow, style = "→", s.Sent
	}
	if m.IsError {
		style = s.Error
	}
	when := m.Time.In(s.Location).Format("15:04:05.000")
	if m.Part > 0 { // same frame as the row above
		when = padCell("⋮", -len(when))
	}
	out := s.Dim(" "+when) + " " + style(arrow) + " "
	if m.Note {
		return ansi.Truncate(out+style(preview(m.Text, width)), width, "…")
	}
	if width >= minWidthSize {
		out += s.Dim(padCell(FormatSize(m.Size), -sizeWidth)) + " "
	}
	if width >= minWidthSeq {
		out += padCell(cleanLine(m.Seq), -seqWidth) + " "
	}
	latency := ""
	if m.Answered {
		latency = formatLatency(m.Latency)
	}
	if width < minWidthSize {
		return ansi.Truncate(out+style(cleanLine(m.Label))+" "+latency, width, "…")
	}
	out += style(padCell(cleanLine(m.Label), labelWidth)) + " "
	if width >= minWidthID {
		out += s.Dim(padCell(cleanLine(m.ID), idWidth)) + " "
	}
	out += padCell(latency, -latencyWidth)
	if width >= minWidthText {
		out += "  " + s.Dim(preview(m.payload(), width))
	}
	return ansi.Truncate(out, width, "…")
}

// padCell truncates or pads text to a width. With a negative width, it aligns the text right.
func padCell(s string, width int) string {
	room := max(width, -width)
	s = ansi.Truncate(s, room, "…")
	pad := strings.Repeat(" ", room-ansi.StringWidth(s))
	if width < 0 {
		return pad + s
	}
	return s + pad
}

// cleanLine returns the start of untrusted text as one line.
func cleanLine(s string) string {
	return strings.Join(strings.Fields(transcript.Clean(s[:min(len(s), 256)])), " ")
}

// payload returns the part of a message after the fields that have columns.
func (m *Message) payload() []byte {
	head := m.Text[:min(len(m.Text), 512)]
	for _, name := range []string{`"data":`, `"payload":`, `"result":`, `"error":`, `"values":`} {
		if i := bytes.Index(head, []byte(name)); i >= 0 {
			return bytes.TrimSuffix(m.Text[i+len(name):], []byte("}"))
		}
	}
	return m.Text
}

// preview returns the start of a text as one line.
func preview(b []byte, width int) string { return cleanLine(string(b[:min(len(b), 2*width)])) }

// FormatSize formats a number of bytes.
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

// formatLatency formats a duration with two or three significant digits.
func formatLatency(d time.Duration) string {
	switch {
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1fms", float64(d)/float64(time.Millisecond))
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1fs", d.Seconds())
}
