package review

import (
	"agentctl/protocol"
	"agentctl/tui/filechange"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// Gutters of the body. The text of a change follows the first one on every line.
const (
	gutter        = " ▏ "
	gutterWidth   = 3
	commentGutter = "   ┕ "
	minBodyWidth  = 20 // narrower bodies show nothing
)

// pieceItem is a piece of the changes as an item of a list, with the comments below its lines.
type pieceItem struct {
	styles   *ui.Styles
	changes  *filechange.Changes
	piece    int
	comments *Comments // may be nil

	key  rowsKey
	rows []bodyRow
}

// rowsKey identifies a layout of rows.
type rowsKey struct {
	width      int
	sideBySide bool
	comments   int // version
}

// bodyRow is a line of the body: a line of the layout of the changes, or of a comment below it.
type bodyRow struct {
	text    string
	line    int // of the layout; -1: none
	comment bool
}

// layout returns the rows at a width.
func (p *pieceItem) layout(width int) []bodyRow {
	key := rowsKey{width: width, sideBySide: p.styles.SideBySide(width)}
	if p.comments != nil {
		key.comments = p.comments.version
	}
	lines := p.changes.Layout(p.piece, max(1, width-gutterWidth), key.sideBySide)
	if p.rows != nil && p.key == key {
		return p.rows
	}
	p.key, p.rows = key, make([]bodyRow, 0, len(lines)+1)
	if p.piece > 0 && p.changes.Piece(p.piece).IsHeader {
		p.rows = append(p.rows, bodyRow{"", -1, false})
	}
	for i := range lines {
		p.rows = append(p.rows, bodyRow{gutter + lines[i].Text, i, false})
		if p.comments == nil || len(p.comments.list) == 0 {
			continue
		}
		for _, place := range p.places(i) {
			continues := i+1 < len(lines) && (lines[i+1].Old >= 0 && lines[i+1].Old == lines[i].Old ||
				lines[i+1].New >= 0 && lines[i+1].New == lines[i].New)
			if text := p.comments.At(place); text != "" && !continues {
				p.appendComment(text, i, width)
			}
		}
	}
	return p.rows
}

// appendComment adds the rows of a comment on a line of the layout.
func (p *pieceItem) appendComment(text string, line, width int) {
	for i, part := range ui.Wrap(text, max(1, width-5)) {
		start := commentGutter
		if i > 0 {
			start = "     "
		}
		styled := &transcript.StyledText{}
		styled.Append(start+part, transcript.Yellow)
		p.rows = append(p.rows, bodyRow{styled.Lines(max(1, width))[0], line, true})
	}
}

// places returns the lines of the patch that a line of the layout shows, that of the new side
// first. A heading and a line before a file have none.
func (p *pieceItem) places(line int) []Place {
	if line < 0 {
		return nil
	}
	l := p.changes.Layout(p.piece, max(1, p.key.width-gutterWidth), p.key.sideBySide)[line]
	piece := p.changes.Piece(p.piece)
	var out []Place
	for _, at := range []int{l.New, l.Old} {
		if at < 0 || len(out) > 0 && l.Old == l.New {
			continue
		}
		source, oldNumber, newNumber := piece.Line(at)
		place := Place{Path: piece.File.Path(), Line: newNumber, Text: source.Text}
		if newNumber == 0 && oldNumber > 0 {
			place.Line, place.Removed = oldNumber, true
		}
		out = append(out, place)
	}
	return out
}

// Estimate implements transcript.Item.
func (p *pieceItem) Estimate(int, bool) int { return p.changes.Piece(p.piece).Estimate() }

// MayMatch reports whether a line may match a query, without a layout.
func (p *pieceItem) MayMatch(q *protocol.Query) bool {
	piece := p.changes.Piece(p.piece)
	if piece.IsHeader || p.comments != nil && p.comments.Len() > 0 {
		return true
	}
	for i := range piece.Len() {
		if line, _, _ := piece.Line(i); q.Match(line.Text) {
			return true
		}
	}
	return false
}

// Block implements transcript.Item.
func (p *pieceItem) Block(width int, _ bool) transcript.Block {
	rows := p.layout(width)
	body := make([]string, len(rows))
	for i := range rows {
		body[i] = rows[i].text
	}
	return transcript.Block{Body: body, RenderLine: p.styles.RenderLine}
}

// markDrawn records that the rows [from, to) are on the screen.
func (p *pieceItem) markDrawn(width, from, to int) {
	if width < minBodyWidth {
		return
	}
	rows := p.layout(width)
	for i := from; i < min(to, len(rows)); i++ {
		if rows[i].line >= 0 && !rows[i].comment {
			p.changes.MarkDrawn(p.piece, rows[i].line, rows[i].line+1)
		}
	}
}
