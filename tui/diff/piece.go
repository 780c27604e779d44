package diff

import (
	"fmt"
	"strconv"
	"strings"

	"agentctl/tui/highlight"
	"agentctl/tui/transcript"
)

// maxPieceLines bounds the lines of a piece.
const maxPieceLines = 200

// Piece is a part of a patch that is laid out independently: the header of a file, or lines of one
// of its hunks.
type Piece struct {
	File       *File
	IsHeader   bool // the piece is the header of the file
	StartsHunk bool // the piece is the first one of its hunk

	hunk     Hunk // with the lines of this piece only
	digits   int  // of the file's highest line number; 0 if unknown
	oneSided bool // one side of the file is empty
}

// Split splits a patch into pieces, so that callers lay out only the visible ones.
func Split(files []File) []Piece {
	var out []Piece
	for i := range files {
		f := &files[i]
		digits, oneSided := f.lineNumberDigits(), f.oneSided()
		out = append(out, Piece{File: f, IsHeader: true, digits: digits})
		for _, h := range f.Hunks {
			for first := true; first || len(h.Lines) > 0; first = false {
				part := h
				part.Lines = h.Lines[:min(len(h.Lines), maxPieceLines)]
				out = append(out, Piece{File: f, hunk: part, StartsHunk: first, digits: digits, oneSided: oneSided})
				h.Old, h.New = h.lineNumbersAfter(len(part.Lines))
				h.Lines = h.Lines[len(part.Lines):]
			}
		}
	}
	return out
}

// lineNumbersAfter returns the numbers of the lines after the first n lines; 0 if unknown.
func (h *Hunk) lineNumbersAfter(n int) (oldNumber, newNumber int) {
	oldNumber, newNumber = h.Old, h.New
	for _, l := range h.Lines[:n] {
		if oldNumber > 0 && (l.Op == Context || l.Op == Removed) {
			oldNumber++
		}
		if newNumber > 0 && (l.Op == Context || l.Op == Added) {
			newNumber++
		}
	}
	return oldNumber, newNumber
}

// oneSided reports whether one side of the file has no lines.
func (f *File) oneSided() bool {
	oldLines, newLines := 0, 0
	for i := range f.Hunks {
		for _, l := range f.Hunks[i].Lines {
			if l.Op == Context || l.Op == Removed {
				oldLines++
			}
			if l.Op == Context || l.Op == Added {
				newLines++
			}
		}
	}
	return oldLines == 0 || newLines == 0
}

// lineNumberDigits returns the number of digits of the highest line number, or 0 if unknown.
func (f *File) lineNumberDigits() int {
	highest := 0
	for i := range f.Hunks {
		h := &f.Hunks[i]
		oldEnd, newEnd := h.lineNumbersAfter(len(h.Lines))
		highest = max(highest, oldEnd-1, newEnd-1)
	}
	if highest == 0 {
		return 0
	}
	return len(strconv.Itoa(highest))
}

// Estimate returns the approximate number of lines of the piece at any width.
func (p *Piece) Estimate() int {
	if p.IsHeader {
		return 2 + len(p.File.Notes)
	}
	return 1 + len(p.hunk.Lines)
}

// SideBySideWidth is the least width in cells at which side by side is the better layout.
const SideBySideWidth = 110

// Lines lays out the piece at a width, in one column or side by side if there is room. The lines
// contain style marks for transcript.RenderStyles.
func (p *Piece) Lines(width int, sideBySide bool) []string {
	lines := p.Layout(width, sideBySide)
	out := make([]string, len(lines))
	for i := range lines {
		out[i] = lines[i].Text
	}
	return out
}

// Layout lays out the piece as Lines does.
func (p *Piece) Layout(width int, sideBySide bool) []LayoutLine {
	width = max(width, 1)
	if p.IsHeader {
		return headings(p.headerLines(width))
	}
	var out []LayoutLine
	h := &p.hunk
	if p.StartsHunk && (h.Old > 1 || h.New > 1 || h.Section != "" || h.Old == 0 && h.New == 0) {
		r := &transcript.StyledText{}
		r.Append(strings.TrimRight("⋯ "+expandTabs(h.Section), " "), transcript.Faint)
		out = headings(wrapMarked(r, width))
	}
	rows := p.rows()
	if sideBySide && !p.oneSided && width >= 2*(p.digits+8)+3 {
		return append(out, p.sideBySide(rows, width)...)
	}
	return append(out, p.unified(rows, width)...)
}

// headings returns lines that show no line of the piece.
func headings(lines []string) []LayoutLine {
	out := make([]LayoutLine, len(lines))
	for i, line := range lines {
		out[i] = LayoutLine{line, -1, -1}
	}
	return out
}

// Len returns the number of lines of the patch in the piece.
func (p *Piece) Len() int { return len(p.hunk.Lines) }

// Line returns line i of the piece and its numbers on each side; 0 if it has none.
func (p *Piece) Line(i int) (line Line, oldNumber, newNumber int) {
	line = p.hunk.Lines[i]
	oldNumber, newNumber = p.hunk.lineNumbersAfter(i)
	switch line.Op {
	case Added:
		oldNumber = 0
	case Removed:
		newNumber = 0
	case Note:
		oldNumber, newNumber = 0, 0
	}
	return line, oldNumber, newNumber
}

// headerLines renders the file's path, kind of change, stat and notes.
func (p *Piece) headerLines(width int) []string {
	f := p.File
	r := &transcript.StyledText{}
	if name := f.Path(); name != "" {
		switch {
		case f.Old == "":
			r.Append("new ", transcript.Green)
		case f.New == "":
			r.Append("deleted ", transcript.Red)
		case f.Old != f.New:
			r.Append("renamed ", transcript.Yellow)
			r.Append(expandTabs(f.Old)+" → ", 0)
		}
		r.Append(expandTabs(name), transcript.Strong)
		added, removed := f.Stat()
		r.Append(fmt.Sprintf(" +%d", added), transcript.Green)
		r.Append(fmt.Sprintf(" −%d", removed), transcript.Red)
	}
	out := wrapMarked(r, width)
	if f.Path() == "" {
		out = nil
	}
	for _, note := range f.Notes {
		r := &transcript.StyledText{}
		r.Append(expandTabs(note), transcript.Faint)
		out = append(out, wrapMarked(r, width)...)
	}
	return out
}

// wrapMarked wraps a text. It marks the lines after the first, so that none of them looks like the
// header of a file.
func wrapMarked(r *transcript.StyledText, width int) []string {
	const mark = "↪ "
	out := r.Lines(width)
	if len(out) < 2 || width <= len(mark) {
		return out
	}
	out = r.Lines(width - 2)
	for i := range out[1:] {
		out[i+1] = mark + out[i+1]
	}
	return out
}

// row is an analysed line.
type row struct {
	index    int // in the lines of the piece
	op       Op
	old, new int    // line numbers; 0 for none
	text     string // without tabs
	tokens   []highlight.Token
	changed  []span
	pairs    []pair // on the first row of a change, its aligned lines
}

// rows analyses the piece's lines: it numbers them, highlights them and aligns changed ones.
func (p *Piece) rows() []row {
	lang := highlight.ByFilename(p.File.Path())
	before, after := lang.NewScanner(), lang.NewScanner()
	oldNumber, newNumber := p.hunk.Old, p.hunk.New
	out := make([]row, len(p.hunk.Lines))
	for i, l := range p.hunk.Lines {
		r := row{index: i, op: l.Op, text: expandTabs(l.Text)}
		switch l.Op {
		case Removed:
			r.old, r.tokens = oldNumber, before.Scan(r.text, nil)
		case Added:
			r.new, r.tokens = newNumber, after.Scan(r.text, nil)
		case Context:
			r.old, r.new = oldNumber, newNumber
			before.Scan(r.text, nil)
			r.tokens = after.Scan(r.text, nil)
		}
		if r.old > 0 {
			oldNumber++
		}
		if r.new > 0 {
			newNumber++
		}
		out[i] = r
	}
	budget := maxAlignBytes
	for i := 0; i < len(out); i++ {
		if out[i].op == Removed {
			removed, added := countChange(out[i:])
			all := out[i : i+removed+added]
			all[0].pairs = align(all[:removed], all[removed:], &budget)
			i += len(all) - 1
		}
	}
	return out
}

// countChange returns the number of removed rows at the start of rows, and of added rows after
// them.
func countChange(rows []row) (removed, added int) {
	for removed < len(rows) && rows[removed].op == Removed {
		removed++
	}
	for removed+added < len(rows) && rows[removed+added].op == Added {
		added++
	}
	return removed, added
}

func expandTabs(s string) string { return strings.ReplaceAll(s, "\t", "    ") }
