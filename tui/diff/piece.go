package diff

import (
	"fmt"
	"strconv"
	"strings"

	"agentctl/tui/highlight"
	"agentctl/tui/transcript"
)

// pieceLines is how many lines of a hunk one piece has at most.
const pieceLines = 200

// Piece is a part of a patch that is laid out on its own: the head of a file, or
// lines of one of its hunks.
type Piece struct {
	file   *File
	head   bool
	hunk   Hunk // with its lines of this piece
	begins bool // of the hunk
	digits int  // of the file's highest line number
	single bool // one side of the file is empty
}

// Split cuts a patch, so that what does not show is not laid out.
func Split(files []File) []Piece {
	var out []Piece
	for i := range files {
		f := &files[i]
		digits, single := f.digits(), f.single()
		out = append(out, Piece{file: f, head: true, digits: digits})
		for _, h := range f.Hunks {
			for begins := true; begins || len(h.Lines) > 0; begins = false {
				part := h
				part.Lines = h.Lines[:min(len(h.Lines), pieceLines)]
				out = append(out, Piece{file: f, hunk: part, begins: begins, digits: digits, single: single})
				h.Old, h.New = h.after(len(part.Lines))
				h.Lines = h.Lines[len(part.Lines):]
			}
		}
	}
	return out
}

// after is the numbers of the lines behind the first n, where they are known.
func (h *Hunk) after(n int) (old, text int) {
	old, text = h.Old, h.New
	for _, l := range h.Lines[:n] {
		if old > 0 && (l.Op == Context || l.Op == Removed) {
			old++
		}
		if text > 0 && (l.Op == Context || l.Op == Added) {
			text++
		}
	}
	return old, text
}

// single tells that nothing was there before, or nothing is left.
func (f *File) single() bool {
	old, text := 0, 0
	for i := range f.Hunks {
		for _, l := range f.Hunks[i].Lines {
			if l.Op == Context || l.Op == Removed {
				old++
			}
			if l.Op == Context || l.Op == Added {
				text++
			}
		}
	}
	return old == 0 || text == 0
}

func (f *File) digits() int {
	highest := 0
	for i := range f.Hunks {
		h := &f.Hunks[i]
		old, text := h.after(len(h.Lines))
		highest = max(highest, old-1, text-1)
	}
	if highest == 0 {
		return 0
	}
	return len(strconv.Itoa(highest))
}

// Estimate is about how many lines the piece takes at any width.
func (p *Piece) Estimate() int {
	if p.head {
		return 2 + len(p.file.Notes)
	}
	return 1 + len(p.hunk.Lines)
}

// SideBySideWidth is the width from which on a patch is best read side by side.
const SideBySideWidth = 120

// Lines lays the piece out at a width, in one column or side by side. The lines
// carry their styles (transcript.Dressed).
func (p *Piece) Lines(width int, split bool) []string {
	width = max(width, 1)
	if p.head {
		return p.title(width)
	}
	var out []string
	if p.begins && (p.hunk.Old > 1 || p.hunk.New > 1 || p.hunk.Section != "" || p.hunk.Old == 0 && p.hunk.New == 0) {
		r := &transcript.StyledText{}
		r.Append(strings.TrimRight("⋯ "+tabless(p.hunk.Section), " "), transcript.Faint)
		out = append(out, r.Lines(width)...)
	}
	rows := p.rows()
	if split && !p.single && width >= 2*(p.digits+8)+3 {
		return append(out, p.sides(rows, width)...)
	}
	return append(out, p.column(rows, width)...)
}

// title is the file's name and what happens to it.
func (p *Piece) title(width int) []string {
	f := p.file
	r := &transcript.StyledText{}
	if name := f.Path(); name != "" {
		switch {
		case f.Old == "":
			r.Append("new ", transcript.Green)
		case f.New == "":
			r.Append("deleted ", transcript.Red)
		case f.Old != f.New:
			r.Append("renamed ", transcript.Yellow)
			r.Append(tabless(f.Old)+" → ", 0)
		}
		r.Append(tabless(name), transcript.Strong)
		added, removed := f.Stat()
		r.Append(fmt.Sprintf(" +%d", added), transcript.Green)
		r.Append(fmt.Sprintf(" −%d", removed), transcript.Red)
	}
	out := r.Lines(width)
	if f.Path() == "" {
		out = nil
	}
	for _, note := range f.Notes {
		r := &transcript.StyledText{}
		r.Append(tabless(note), transcript.Faint)
		out = append(out, r.Lines(width)...)
	}
	return out
}

// row is a line with what is known of it.
type row struct {
	op        Op
	old, new  int
	text      string // without tabs
	tokens    []highlight.Token
	different []stretch
	pairs     []pair // of the stretches that begin with this line
}

// rows are the piece's lines: numbered, cut into tokens, compared where one
// became another.
func (p *Piece) rows() []row {
	lang := highlight.ByFilename(p.file.Path())
	before, after := lang.NewScanner(), lang.NewScanner()
	old, text := p.hunk.Old, p.hunk.New
	out := make([]row, len(p.hunk.Lines))
	for i, l := range p.hunk.Lines {
		r := row{op: l.Op, text: tabless(l.Text)}
		switch l.Op {
		case Removed:
			r.old, r.tokens = old, before.Scan(r.text, nil)
		case Added:
			r.new, r.tokens = text, after.Scan(r.text, nil)
		case Context:
			r.old, r.new = old, text
			before.Scan(r.text, nil)
			r.tokens = after.Scan(r.text, nil)
		}
		if r.old > 0 {
			old++
		}
		if r.new > 0 {
			text++
		}
		out[i] = r
	}
	budget := alignBytes
	for i := 0; i < len(out); i++ {
		if out[i].op == Removed {
			removed, added := block(out[i:])
			all := out[i : i+removed+added]
			all[0].pairs = align(all[:removed], all[removed:], &budget)
			i += len(all) - 1
		}
	}
	return out
}

// block is how many lines are removed at the begin of rows, and then added.
func block(rows []row) (removed, added int) {
	for removed < len(rows) && rows[removed].op == Removed {
		removed++
	}
	for removed+added < len(rows) && rows[removed+added].op == Added {
		added++
	}
	return removed, added
}

func tabless(s string) string { return strings.ReplaceAll(s, "\t", "    ") }
