package codec

import (
	"encoding/json"

	"agentctl/protocol"
)

// maxPast bounds the finished turns that a Log keeps, in bytes.
const maxPast = 8 << 20

// A finished turn is kept for history.
type finished struct {
	first, last uint64
	lines       []json.RawMessage
	bytes       int
}

// keep remembers the turn that just ended, and forgets the oldest over the bound.
func (l *Log) keep(first uint64) {
	if first <= l.kept || first > l.State.Seq { // it began before what is known
		return
	}
	f := finished{first: first, last: l.State.Seq}
	for _, line := range l.lines[first-l.kept-1:] {
		f.lines = append(f.lines, line)
		f.bytes += len(line)
	}
	l.past = append(l.past, f)
	l.pastBytes += f.bytes
	for l.pastBytes > maxPast {
		l.pastBytes -= l.past[0].bytes
		l.past = l.past[1:]
	}
}

// TurnEvents returns the events of the turn under way, as far as they are kept.
func (l *Log) TurnEvents() (events []protocol.Event) {
	if l.State.Turn == nil {
		return nil
	}
	first := max(l.State.Turn.First, l.kept+1)
	for _, line := range l.lines[first-l.kept-1:] {
		var e protocol.Event
		if json.Unmarshal(line, &e) == nil {
			events = append(events, e)
		}
	}
	return events
}

// DropHistory drops the finished turns: somebody else has them.
func (l *Log) DropHistory() { l.past, l.pastBytes = nil, 0 }

// History answers history with the finished turns that the Log saw and still has.
func (l *Log) History(d protocol.HistoryData) protocol.HistoryResult {
	r := protocol.HistoryResult{Epoch: l.Epoch, Events: []json.RawMessage{}}
	limit := d.Limit
	if limit <= 0 {
		limit = 20
	}
	end := len(l.past)
	for end > 0 && d.Before != 0 && l.past[end-1].first >= d.Before {
		end--
	}
	begin, bytes := end, 0
	for begin > 0 && end-begin < min(limit, 100) && (begin == end || bytes+l.past[begin-1].bytes <= 1<<20) {
		begin--
		bytes += l.past[begin].bytes
	}
	if begin == end {
		return r
	}
	for _, f := range l.past[begin:end] {
		r.Events = append(r.Events, f.lines...)
	}
	r.First, r.Last, r.More = l.past[begin].first, l.past[end-1].last, begin > 0
	return r
}
