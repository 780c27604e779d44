package eventlog

import (
	"bytes"
	"fmt"
	"slices"
	"sort"
	"strconv"
)

// A segment holds the lines of consecutive events. buf is never reallocated, so that slices of it
// stay valid.
type segment struct {
	first    uint64
	lasts    []uint64 // lasts[i] is the seq of the last event in line i; nil: each line is one event
	lineEnds []uint32 // lineEnds[i] is the end of line i in buf
	buf      []byte
}

func (g *segment) last() uint64 { return g.lastOf(len(g.lineEnds) - 1) }

// lastOf returns the seq of the last event in a line, or first-1 for the line -1.
func (g *segment) lastOf(line int) uint64 {
	if g.lasts == nil || line < 0 {
		return g.first + uint64(line)
	}
	return g.lasts[line]
}

// line returns the index of the line with an event of the segment.
func (g *segment) line(seq uint64) int {
	if g.lasts == nil {
		return int(seq - g.first)
	}
	i, _ := slices.BinarySearch(g.lasts, seq)
	return i
}

// lines returns the segment's lines in (after, through]: at most most bytes, but at least one line.
// A line must begin at after+1.
func (g *segment) lines(after, through uint64, most int) ([]byte, uint64) {
	from, start := g.line(after+1), 0
	if from > 0 {
		start = int(g.lineEnds[from-1])
	}
	upto := len(g.lineEnds)
	if through < g.last() {
		upto = g.line(through + 1)
	}
	n := sort.Search(upto-from, func(i int) bool { return int(g.lineEnds[from+i])-start > most })
	if n == 0 {
		n = 1
	}
	end := g.lineEnds[from+n-1]
	return g.buf[start:end:end], g.lastOf(from + n - 1)
}

// size returns the memory of a segment.
func (g *segment) size() int { return cap(g.buf) + 4*cap(g.lineEnds) + 8*cap(g.lasts) }

// newSegment returns a segment with a copy of lines. Each line is one event.
func newSegment(first uint64, lines []byte) *segment {
	g := &segment{first: first, buf: slices.Clone(lines)}
	g.lineEnds = make([]uint32, 0, bytes.Count(lines, newline))
	for end := 0; end < len(lines); {
		end += bytes.IndexByte(lines[end:], '\n') + 1
		g.lineEnds = append(g.lineEnds, uint32(end))
	}
	return g
}

// setLasts reads the seq of each line. The last line must end at last.
func (g *segment) setLasts(last uint64) error {
	lasts, before, start := make([]uint64, 0, len(g.lineEnds)), g.first-1, uint32(0)
	var digits []byte
	var at int
	for _, end := range g.lineEnds {
		digits, at = SeqOf(g.buf[start:end], at)
		seq, err := strconv.ParseUint(string(digits), 10, 64)
		if err != nil || seq <= before {
			return fmt.Errorf("%w: the line after event %d is of event %d", ErrCorrupt, before, seq)
		}
		lasts, before, start = append(lasts, seq), seq, end
	}
	if before != last {
		return fmt.Errorf("%w: the last line is of event %d, not %d", ErrCorrupt, before, last)
	}
	g.lasts = lasts
	return nil
}

var (
	newline  = []byte{'\n'}
	seqField = []byte(`"seq":`)
)

// SeqOf returns the digits of the seq in the line of a stored event, and their offset. It is the
// second field, after a string, in which the name of a field cannot stand unescaped. The offset in
// another line of the same session, or 0, saves the search.
func SeqOf(line []byte, offset int) (seq []byte, at int) {
	if at = offset; at == 0 || at > len(line) || !bytes.HasSuffix(line[:at], seqField) {
		start := bytes.Index(line, seqField)
		if start < 0 {
			return nil, 0
		}
		at = start + len(seqField)
	}
	end := at
	for end < len(line) && line[end] != ',' {
		end++
	}
	return line[at:end], at
}
