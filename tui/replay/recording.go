package replay

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"agentctl/protocol"
)

// Limits of a recording.
const (
	MaxBytes  = 256 << 20 // of the data and ids of all events
	MaxEvents = 1_000_000
	maxLine   = 4 * protocol.MaxEvent
)

// A Recording holds the events of one session in order. It is complete when Add is no longer
// called; then it may be shared.
type Recording struct {
	events []protocol.Event
	turns  []int // indexes of the events that start a turn
	bytes  int

	// The reducers check that the events can be shown.
	state      protocol.State
	transcript protocol.Transcript
}

// Read reads a recording from JSON lines, as "agentctl events" and "agentctl export --format jsonl"
// write them. Its errors have the number of the line.
func Read(r io.Reader) (*Recording, error) {
	rec := new(Recording)
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	n := 1
	for ; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		if err := rec.addLine(line); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("line %d: longer than %d bytes", n, maxLine)
	case err != nil:
		return nil, fmt.Errorf("line %d: %w", n, err)
	case len(rec.events) == 0:
		return nil, errors.New("it has no events")
	}
	return rec, nil
}

// addLine adds the event of a line.
func (r *Recording) addLine(line []byte) error {
	var e protocol.Event
	if err := json.Unmarshal(line, &e); err != nil {
		return fmt.Errorf(`not an event: %w: want the output of "agentctl export --format jsonl"`, err)
	}
	if e.Type == "" || !e.Durable() {
		return errors.New(`not an event of a log: want the output of "agentctl export --format jsonl"`)
	}
	return r.Add(&e)
}

// Add adds the next event. It must follow the one before and be of the same session. Add keeps a
// copy of e, which shares its data.
func (r *Recording) Add(e *protocol.Event) error {
	r.bytes += len(e.Data) + len(e.Session) + len(e.Turn) + len(e.Task) + len(e.Parent) + len(e.Type)
	switch {
	case len(r.events) == MaxEvents:
		return fmt.Errorf("more than %d events", MaxEvents)
	case r.bytes > MaxBytes:
		return fmt.Errorf("more than %d MiB of events", MaxBytes>>20)
	case len(r.events) == 0:
		r.state.Seq = e.First() - 1
	case e.Session != r.events[0].Session:
		return fmt.Errorf("it is of session %.40q, the lines before of %.40q", e.Session, r.events[0].Session)
	}
	if err := r.state.Apply(e); err != nil {
		return err
	}
	if _, err := r.transcript.Apply(e); err != nil {
		return err
	}
	if n := len(r.transcript.Turns); n > 1 { // only the newest is needed
		r.transcript.Turns = slices.Clone(r.transcript.Turns[n-1:])
	}
	if e.Type == protocol.MessageUser {
		r.turns = append(r.turns, len(r.events))
	}
	r.events = append(r.events, *e)
	return nil
}

// Len returns the number of events.
func (r *Recording) Len() int { return len(r.events) }

// start returns a new state as of before the first event.
func (r *Recording) start() *protocol.State {
	return &protocol.State{Session: r.events[0].Session, Seq: r.events[0].First() - 1}
}

// offsets returns the time of each event from the start. Pauses are shortened to idle, unless that
// is 0.
func (r *Recording) offsets(idle time.Duration) []time.Duration {
	out := make([]time.Duration, len(r.events))
	for i := 1; i < len(out); i++ {
		pause := max(0, r.events[i].Time.Sub(r.events[i-1].Time))
		if idle > 0 {
			pause = min(pause, idle)
		}
		out[i] = out[i-1] + min(pause, math.MaxInt64-out[i-1])
	}
	return out
}
