package transcript

import (
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// struck is inline content between ~~ and ~~.
type struck struct{ ast.BaseInline }

var kindStruck = ast.NewNodeKind("Struck")

func (s *struck) Kind() ast.NodeKind { return kindStruck }

func (s *struck) Dump(source []byte, level int) { ast.DumpHelper(s, source, level, nil, nil) }

// strikes parses what is struck.
type strikes struct{}

func (strikes) Trigger() []byte { return []byte{'~'} }

func (strikes) IsDelimiter(b byte) bool { return b == '~' }

func (strikes) CanOpenCloser(opener, closer *parser.Delimiter) bool {
	return opener.Char == closer.Char && opener.OriginalLength == closer.OriginalLength
}

func (strikes) OnMatch(int) ast.Node { return &struck{} }

func (s strikes) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	before := block.PrecendingCharacter()
	line, segment := block.PeekLine()
	d := parser.ScanDelimiter(line, before, 2, s)
	if d == nil || d.OriginalLength > 2 || before == '~' {
		return nil
	}
	d.Segment = segment.WithStop(segment.Start + d.OriginalLength)
	block.Advance(d.OriginalLength)
	pc.PushDelimiter(d)
	return d
}

// inlineParsers are those of plain markdown, and what is struck.
func inlineParsers() []util.PrioritizedValue {
	return append(parser.DefaultInlineParsers(), util.Prioritized(strikes{}, 500))
}
