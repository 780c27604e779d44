package transcript

import (
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// strikethrough is an inline node: content between ~~ and ~~.
type strikethrough struct{ ast.BaseInline }

var kindStrikethrough = ast.NewNodeKind("Strikethrough")

func (s *strikethrough) Kind() ast.NodeKind { return kindStrikethrough }

func (s *strikethrough) Dump(source []byte, level int) { ast.DumpHelper(s, source, level, nil, nil) }

// strikethroughParser is an inline parser. goldmark's own extension is slow to initialize.
type strikethroughParser struct{}

func (strikethroughParser) Trigger() []byte { return []byte{'~'} }

func (strikethroughParser) IsDelimiter(b byte) bool { return b == '~' }

func (strikethroughParser) CanOpenCloser(opener, closer *parser.Delimiter) bool {
	return opener.Char == closer.Char && opener.OriginalLength == closer.OriginalLength
}

func (strikethroughParser) OnMatch(int) ast.Node { return &strikethrough{} }

func (s strikethroughParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
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

// inlineParsers returns the parsers of CommonMark and strikethrough.
func inlineParsers() []util.PrioritizedValue {
	return append(parser.DefaultInlineParsers(), util.Prioritized(strikethroughParser{}, 500))
}
