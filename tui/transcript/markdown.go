package transcript

import "strings"

// Markdown is untrusted markdown that can grow. It is laid out block by block: each draw lays out
// only the open block at the end, and closed blocks again after a change of width. A blank line
// closes a block if the next line is not indented. Fenced code is laid out line by line.
type Markdown struct {
	cleaner Cleaner
	src     strings.Builder
	open    bool
	layout  *markdownLayout
}

// NewMarkdown returns an open, empty markdown text.
func NewMarkdown() *Markdown { return &Markdown{open: true} }

// Append cleans and appends s. A rune must not be cut between two calls.
func (m *Markdown) Append(s string) {
	s = m.cleaner.Clean(s)
	m.src.WriteString(s)
}

// Close frees the layout. Append still works afterwards.
func (m *Markdown) Close() { m.open, m.layout = false, nil }

// String returns the clean text.
func (m *Markdown) String() string { return m.src.String() }

// Lines returns the lines of the text at a width of at least one cell, and their approximate size
// in bytes. The slice is valid until the next call and must not be changed.
func (m *Markdown) Lines(width int) ([]string, int) {
	width = max(width, 1)
	l := m.layout
	if l == nil || l.width != width {
		l = &markdownLayout{width: width}
	}
	if m.open {
		m.layout = l
	}
	return l.layout(m.src.String(), !m.open)
}
