package output

import (
	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/eventlog"
)

// An Event is an event of an agent as the log takes it: usually one entry, several for a long text.
type Event struct {
	Entries []eventlog.Entry
	Part    string // of text or reasoning, which must have started; empty: none
	Tool    string // that must have started; empty: none
}

// Size returns the bytes of data in the event.
func (ev *Event) Size() (n int) {
	for i := range ev.Entries {
		en := &ev.Entries[i]
		n += len(en.Data) + len(en.Delta.Text)
		for j := range en.Blobs {
			n += len(en.Blobs[j].Data)
		}
	}
	return n
}

// SetDelta sets an event to the delta of an agent's event, without memory allocated for its entry and
// data if an earlier delta left some. It returns false, and changes nothing, for other events and for
// a delta that takes several entries.
func (ev *Event) SetDelta(e *agent.Event) bool {
	d, ok := deltaOf(e)
	if !ok || len(d.Text) > protocol.MaxText/3 { // an invalid byte becomes three
		return false
	}
	if ev.Entries == nil {
		ev.Entries = make([]eventlog.Entry, 1)
	}
	d = validDelta(d)
	ev.Entries[0] = deltaEntry(entryOf(e), d, ev.Entries[0].Data[:0])
	ev.Part, ev.Tool = itemOf(d)
	return true
}

// Reset makes an event of SetDelta empty. It returns false if the memory of its data is too large to
// be kept for the next delta.
func (ev *Event) Reset() bool {
	const most = 4 << 10 // bytes worth keeping
	data := ev.Entries[0].Data
	ev.Entries[0] = eventlog.Entry{Data: data}
	return cap(data) <= most
}

// deltaOf returns the delta of an agent's event, if it is one.
func deltaOf(e *agent.Event) (d protocol.Delta, ok bool) {
	switch data := e.Data.(type) {
	case protocol.PartDeltaData:
		switch e.Type {
		case protocol.TextDelta:
			return protocol.Delta{Part: data.Part, Kind: protocol.KindText, Text: data.Text}, true
		case protocol.ReasoningDelta:
			return protocol.Delta{Part: data.Part, Kind: protocol.KindReasoning, Text: data.Text}, true
		}
	case protocol.ToolInputData:
		d = protocol.Delta{Part: data.Tool, Kind: protocol.KindInput, Text: data.Text}
		return d, e.Type == protocol.ToolInput && len(data.Input) == 0
	case protocol.ToolOutputData:
		d = protocol.Delta{Part: data.Tool, Kind: protocol.KindOutput, Text: data.Text}
		return d, e.Type == protocol.ToolOutput && !data.Replace && len(data.Content) == 0
	}
	return d, false
}

// itemOf returns the part or the tool that a delta belongs to.
func itemOf(d protocol.Delta) (part, tool string) {
	if d.Kind == protocol.KindText || d.Kind == protocol.KindReasoning {
		return d.Part, ""
	}
	return "", d.Part
}

// Split encodes a delta as one entry, or as several if its text is longer than protocol.MaxText.
func Split(base eventlog.Entry, d protocol.Delta) []eventlog.Entry {
	return splitValid(base, validDelta(d))
}

// splitValid is Split for a valid delta.
func splitValid(base eventlog.Entry, d protocol.Delta) []eventlog.Entry {
	pieces := protocol.SplitText(d.Text, protocol.MaxText)
	entries := make([]eventlog.Entry, len(pieces))
	for i, text := range pieces {
		d.Text = text
		entries[i] = deltaEntry(base, d, nil)
	}
	return entries
}

// validDelta returns a delta with valid texts.
func validDelta(d protocol.Delta) protocol.Delta {
	d.Part, d.Text = ID(d.Part), protocol.ValidText(d.Text)
	return d
}

// deltaEntry returns the entry of a valid delta whose text fits one. It appends the data to b.
func deltaEntry(base eventlog.Entry, d protocol.Delta, b []byte) eventlog.Entry {
	base.Data, base.Delta = d.AppendJSON(b), d
	return base
}
