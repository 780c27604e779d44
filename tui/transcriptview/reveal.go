package transcriptview

import (
	"bytes"
	"math"

	"agentctl/protocol"
	"agentctl/tui/transcript"
)

// revealed is what a search shows of an expanded tool call beyond the usual limits. Of a long output
// it shows a part that has a match.
type revealed struct {
	active   bool
	from, to int // bytes of a long output; to is 0 for its end
}

// limit returns the limit of lines that holds: none if the call is revealed.
func (r *revealed) limit(usual int) int {
	if r.active {
		return math.MaxInt32
	}
	return usual
}

// bounds returns the part of a long output that is laid out. It begins and ends at lines.
func (r *revealed) bounds(data []byte) (from, to int) {
	if from, to = r.from, r.to; to == 0 {
		from, to = len(data)-outputEndBytes, len(data)
	}
	if i := bytes.IndexByte(data[from:to], '\n'); i >= 0 && from > 0 {
		from += i + 1
	}
	if i := bytes.LastIndexByte(data[from:to], '\n'); i >= 0 && to < len(data) {
		to = from + i + 1
	}
	return from, to
}

// show moves the part of a long output to the last match before it (by < 0), or to the first one
// after it. No other match is between the old part and that one. It returns false if there is none.
func (r *revealed) show(data []byte, query *protocol.Query, from, to, by int) bool {
	at := -1
	if by < 0 {
		for end := from; end > 0 && at < 0; {
			start := bytes.LastIndexByte(data[:end-1], '\n') + 1
			at, end = matchIn(data, start, end, query), start
		}
	} else {
		for start := to; start < len(data) && at < 0; {
			end := len(data)
			if i := bytes.IndexByte(data[start:], '\n'); i >= 0 {
				end = start + i + 1
			}
			at, start = matchIn(data, start, end, query), end
		}
	}
	if at < 0 {
		return false
	}
	if by < 0 {
		r.to = min(from, at+outputEndBytes/2)
		r.from = max(0, r.to-outputEndBytes)
	} else {
		r.from = max(to, at-outputEndBytes/2)
		r.to = min(len(data), r.from+outputEndBytes)
	}
	return true
}

// matchIn returns the place of a match in a line, or -1.
func matchIn(data []byte, from, to int, query *protocol.Query) int {
	line := string(data[from:to])
	if !query.Match(line) {
		return -1
	}
	return from + max(0, query.Index(line))
}

// Reveal shows the lines that an expanded tool call leaves out. Of a long output it shows those
// around the last match (by < 0) or the first. It returns false for other items, and for a call that
// is revealed.
func Reveal(list *transcript.List, id transcript.ID, query *protocol.Query, by int) bool {
	call, ok := list.Item(id).(*toolCall)
	if !ok || call.revealed.active && !call.isLong() {
		return false
	}
	call.revealed = revealed{active: true}
	if data := call.item.Text; call.isLong() {
		call.revealed.show(data, query, len(data), 0, by)
	}
	list.Invalidate(id)
	return true
}

// RevealNext shows the part of a long output that has the next match outside of the shown part. It
// returns false if there is none, or if the output is not revealed.
func RevealNext(list *transcript.List, id transcript.ID, query *protocol.Query, by int) bool {
	call, ok := list.Item(id).(*toolCall)
	if !ok || !call.revealed.active || !call.isLong() {
		return false
	}
	from, to := call.revealed.bounds(call.item.Text)
	if !call.revealed.show(call.item.Text, query, from, to, by) {
		return false
	}
	list.Invalidate(id)
	return true
}

// isLong reports whether only a part of the output is laid out.
func (t *toolCall) isLong() bool { return len(t.item.Text) > maxWholeOutput && !t.item.Open }
