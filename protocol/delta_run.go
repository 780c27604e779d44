package protocol

import (
	"encoding/json"
	"slices"
	"sync"
	"time"
)

// A DeltaRun joins consecutive deltas of one turn, of any parts, into one event. Its text is at
// most MaxJoined bytes. The zero value is an empty run. Deltas outside of a run keep the size in
// which the agent sent them.
type DeltaRun struct {
	session, turn string
	first, last   uint64
	time          time.Time
	parts         []runPart
	bytes         int
}

type runPart struct {
	JoinedPart
	text *[]byte // of runTexts
}

// runTexts holds memory for the texts of runs. A run that ends gives it back.
var runTexts = sync.Pool{New: func() any { return new([]byte) }}

// A Delta is text appended to one part by one event.
type Delta struct {
	Part string
	Kind Kind
	Text string
}

// Type returns the type of an event with the delta. It is empty for an unknown kind.
func (d Delta) Type() Type {
	switch d.Kind {
	case KindText:
		return TextDelta
	case KindReasoning:
		return ReasoningDelta
	case KindInput:
		return ToolInput
	case KindOutput:
		return ToolOutput
	}
	return ""
}

// AppendJSON appends the data of an event with the delta as JSON, without the general encoder:
// agents emit more of these than of all others.
func (d Delta) AppendJSON(dst []byte) []byte {
	field := `{"tool":`
	if d.Kind == KindText || d.Kind == KindReasoning {
		field = `{"part":`
	}
	dst = slices.Grow(dst, len(field)+len(d.Part)+len(d.Text)+len(d.Text)/16+24) // with some escapes
	dst = append(AppendString(append(dst, field...), d.Part), `,"text":`...)
	return append(AppendString(dst, d.Text), '}')
}

// Delta returns the event's delta, if it is one: text and reasoning deltas, and input and output of
// tools that only append text.
func (e *Event) Delta() (d Delta, ok bool) {
	switch e.Type {
	case TextDelta, ReasoningDelta:
		var p PartDeltaData
		if json.Unmarshal(e.Data, &p) != nil {
			return d, false
		}
		d = Delta{p.Part, KindText, p.Text}
		if e.Type == ReasoningDelta {
			d.Kind = KindReasoning
		}
		return d, true
	case ToolOutput:
		var t ToolOutputData
		if json.Unmarshal(e.Data, &t) != nil || t.Replace || t.Content != nil {
			return d, false
		}
		return Delta{t.Tool, KindOutput, t.Text}, true
	case ToolInput:
		var t ToolInputData
		if json.Unmarshal(e.Data, &t) != nil || t.Input != nil {
			return d, false
		}
		return Delta{t.Tool, KindInput, t.Text}, true
	}
	return d, false
}

// mayJoin reports whether the event is a joined event or may become part of one.
func (e *Event) mayJoin() bool {
	switch e.Type {
	case TextDelta, ReasoningDelta, ToolOutput, ToolInput, JoinedDeltas:
		return true
	}
	return false
}

// Add appends a delta event to the run. It returns false and leaves the run unchanged if the event
// does not continue it or would make it too long. The caller then takes the run's Event, resets it
// and adds again.
func (r *DeltaRun) Add(e *Event, d Delta) bool {
	if r.last == 0 {
		*r = DeltaRun{session: e.Session, turn: e.Turn, first: e.Seq, time: e.Time, parts: r.parts[:0]}
	} else if e.Seq != r.last+1 || e.Turn != r.turn || e.Session != r.session || r.bytes+len(d.Text) > MaxJoined {
		return false
	}
	i := slices.IndexFunc(r.parts, func(p runPart) bool { return p.Part == d.Part && p.Kind == d.Kind })
	if i >= 0 && (r.parts[i].Task != e.Task || r.parts[i].Parent != e.Parent) {
		return false // the texts of a part join only in order, and here the part changed its task
	}
	if i < 0 {
		r.parts = append(
			r.parts, runPart{
				JoinedPart: JoinedPart{Part: d.Part, Kind: d.Kind, Task: e.Task, Parent: e.Parent},
				text:       runTexts.Get().(*[]byte),
			},
		)
		i = len(r.parts) - 1
	}
	text := r.parts[i].text
	*text = append(*text, d.Text...)
	r.last = e.Seq
	r.bytes += len(d.Text)
	return true
}

// Len returns the number of events in the run.
func (r *DeltaRun) Len() int {
	if r.last == 0 {
		return 0
	}
	return int(r.last - r.first + 1)
}

// Reset empties the run.
func (r *DeltaRun) Reset() {
	for i := range r.parts {
		text := r.parts[i].text
		r.parts[i] = runPart{}
		*text = (*text)[:0]
		runTexts.Put(text)
	}
	r.first, r.last, r.bytes, r.parts = 0, 0, 0, r.parts[:0]
}

// Event returns the joined event: of the part's own delta type if the run has one part, else of the
// type fold. The run must not be empty.
func (r *DeltaRun) Event() *Event {
	e := &Event{Session: r.session, Turn: r.turn, Seq: r.last, Time: r.time}
	if r.last > r.first {
		e.FirstSeq = r.first
	}
	if len(r.parts) == 1 {
		p := &r.parts[0]
		e.Task, e.Parent = p.Task, p.Parent
		d := Delta{p.Part, p.Kind, string(*p.text)}
		e.Type, e.Data = d.Type(), d.AppendJSON(nil)
		return e
	}
	var data JoinedData
	for i := range r.parts {
		p := r.parts[i].JoinedPart
		p.Text = string(*r.parts[i].text)
		data.Parts = append(data.Parts, p)
	}
	e.Type, e.Data = JoinedDeltas, MustEncode(data)
	return e
}

// JoinDeltas joins every run of deltas in a list of durable events. Tests compare stored runs to
// it.
func JoinDeltas(events []Event) []Event {
	var out []Event
	var run DeltaRun
	flush := func() {
		if run.Len() > 0 {
			out = append(out, *run.Event())
			run.Reset()
		}
	}
	for i := range events {
		e := &events[i]
		d, ok := e.Delta()
		if !ok || e.FirstSeq != 0 || len(d.Text) > MaxJoined {
			flush()
			out = append(out, *e)
			continue
		}
		if !run.Add(e, d) {
			flush()
			run.Add(e, d)
		}
	}
	flush()
	return out
}
