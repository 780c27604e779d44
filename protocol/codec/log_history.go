package codec

import (
	"encoding/json"

	"agentctl/protocol"
)

// maxHistory bounds the finished turns that a Log keeps, in bytes.
const maxHistory = 8 << 20

// A finished turn is kept for history.
type finishedTurn struct {
	first, last uint64
	lines       []json.RawMessage
	bytes       int
}

// keepTurn adds the turn that just ended, and drops the oldest over the bound. first is the turn's
// first seq.
func (l *Log) keepTurn(first uint64) {
	if first <= l.droppedSeq || first > l.State.Seq { // it began before the log
		return
	}
	f := finishedTurn{first: first, last: l.State.Seq}
	for _, line := range l.lines[first-l.droppedSeq-1:] {
		f.lines = append(f.lines, line)
		f.bytes += len(line)
	}
	l.turns = append(l.turns, f)
	l.turnBytes += f.bytes
	for l.turnBytes > maxHistory {
		l.turnBytes -= l.turns[0].bytes
		l.turns = l.turns[1:]
	}
}

// TurnEvents returns the kept events of the current turn.
func (l *Log) TurnEvents() (events []protocol.Event) {
	if l.State.Turn == nil {
		return nil
	}
	first := max(l.State.Turn.First, l.droppedSeq+1)
	for _, line := range l.lines[first-l.droppedSeq-1:] {
		var e protocol.Event
		if json.Unmarshal(line, &e) == nil {
			events = append(events, e)
		}
	}
	return events
}

// DropHistory drops the finished turns, if a server has them.
func (l *Log) DropHistory() { l.turns, l.turnBytes = nil, 0 }

// History returns the answer to a history command: the finished turns that are kept.
func (l *Log) History(d protocol.HistoryData) protocol.HistoryResult {
	r := protocol.HistoryResult{Epoch: l.Epoch, Events: []json.RawMessage{}}
	limit := d.Limit
	if limit <= 0 {
		limit = 20
	}
	end := len(l.turns)
	for end > 0 && d.Before != 0 && l.turns[end-1].first >= d.Before {
		end--
	}
	begin, bytes := end, 0
	for begin > 0 && end-begin < min(limit, 100) && (begin == end || bytes+l.turns[begin-1].bytes <= 1<<20) {
		begin--
		bytes += l.turns[begin].bytes
	}
	if begin == end {
		return r
	}
	for _, f := range l.turns[begin:end] {
		r.Events = append(r.Events, f.lines...)
	}
	r.First, r.Last, r.More = l.turns[begin].first, l.turns[end-1].last, begin > 0
	return r
}
