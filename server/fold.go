package server

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"agentctl/protocol"
	"agentctl/server/eventlog"
)

// maxFold is the largest interval in which live deltas are joined.
const maxFold = time.Second

// A fold joins the live deltas of a subscription: deltas that follow others within the interval
// stay in the log until it ends, and are then written as one event. So a fold holds no events, and
// a subscription with one is a position in the log like any other. The zero value joins nothing.
// Owned by the writer.
type fold struct {
	interval time.Duration // constant
	due      time.Time     // when deltas may be written again
	timer    *time.Timer   // wakes the writer at due; nil: never used
	armed    bool          // timer was started for due
}

// newFold returns the fold that a subscribe command requests.
func newFold(d *protocol.SubscribeData) (f fold) {
	if !d.Raw {
		f.interval = min(time.Duration(min(d.FoldMS, maxFold.Milliseconds()))*time.Millisecond, maxFold)
	}
	return f
}

// holds reports whether the events after a seq wait for the end of the interval: all of them are
// deltas. It calls wake then.
func (f *fold) holds(log *eventlog.Log, after uint64, wake func()) bool {
	if f.interval <= 0 || f.due.IsZero() || !log.OnlyDeltas(after) {
		return false
	}
	wait := time.Until(f.due)
	if wait <= 0 {
		return false
	}
	switch {
	case f.armed:
	case f.timer == nil:
		f.timer = time.AfterFunc(wait, wake)
	default:
		f.timer.Reset(wait)
	}
	f.armed = true
	return true
}

// smallRead is the size below which lines that are followed by others are copied together with
// them: a copy costs less than a write.
const smallRead = maxWrite / 4

// read reads the log through a seq. The memory of the log has segments, which are small at its
// start: lines that are few, or that join live deltas, are copied together up to most bytes.
func (s *subscription) read(after, through uint64, folded bool, most int, buf []byte) ([]byte, uint64, error) {
	ctx := context.Background()
	lines, last, err := s.log.Read(ctx, after, folded, most)
	enough := s.fold.interval <= 0 && (len(lines) >= smallRead || last >= through)
	if enough || folded || err != nil || last == after {
		return lines, last, err
	}
	lines = append(buf[:0], lines...)
	for len(lines) < most {
		more, upto, err := s.log.Read(ctx, last, false, most-len(lines))
		if err != nil || upto == last || len(lines)+len(more) > most {
			break // the next write reads it
		}
		lines, last = append(lines, more...), upto
	}
	return lines, last, nil
}

// join returns the lines with each run of deltas as one line, and whether the last one is a delta.
// It does not change lines, which may be its result.
func (f *fold) join(lines []byte) (joined []byte, open bool) {
	if f.interval <= 0 || len(lines) == 0 {
		return lines, false
	}
	j := joiner{in: lines}
	for line := range bytes.Lines(lines) {
		j.add(line)
	}
	open = j.run.Len() > 0
	return j.finish(), open
}

// wrote notes a write. The interval starts if the lines end with a delta, the last one of the log:
// a lagging client gets everything without waiting.
func (f *fold) wrote(open, atEnd bool) {
	if f.interval <= 0 {
		return
	}
	f.due, f.armed = time.Time{}, false
	if open && atEnd {
		f.due = time.Now().Add(f.interval)
	}
}

// waits reports whether a client lacks, or has not acknowledged, only deltas that come with the
// interval. That does not count as lag. It requires outbox.mu.
func (f *fold) waits(s *subscription) bool {
	return f.interval > 0 && len(s.marks) <= 2 && s.log.OnlyDeltas(s.acked)
}

// A joiner joins runs of deltas in encoded lines. Lines that do not join are copied as they are.
type joiner struct {
	in       []byte
	at       int // offset of the next line
	runStart int // offset of the first line of the run
	copied   int // offset up to which the lines are in out
	out      []byte
	run      protocol.DeltaRun
}

// add reads the next line.
func (j *joiner) add(line []byte) {
	start := j.at
	j.at += len(line)
	var e protocol.Event
	joins := json.Unmarshal(line, &e) == nil && e.FirstSeq == 0
	var d protocol.Delta
	if joins {
		d, joins = e.Delta()
	}
	joins = joins && len(d.Text) <= protocol.MaxJoined
	if joins && j.run.Len() > 0 && j.run.Add(&e, d) {
		return
	}
	j.flush(start)
	if joins {
		j.runStart = start
		j.run.Add(&e, d)
	}
}

// flush ends the run, whose lines end at an offset.
func (j *joiner) flush(end int) {
	if j.run.Len() > 1 {
		j.out = append(j.out, j.in[j.copied:j.runStart]...)
		j.out = append(j.run.Event().AppendJSON(j.out), '\n')
		j.copied = end
	}
	j.run.Reset()
}

// finish returns the lines.
func (j *joiner) finish() []byte {
	j.flush(j.at)
	if j.copied == 0 {
		return j.in
	}
	return append(j.out, j.in[j.copied:]...)
}
