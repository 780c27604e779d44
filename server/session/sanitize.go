package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/eventlog"
	"agentctl/server/session/item"
	"agentctl/server/session/record"
)

// An entry is an event that fits the log but has no seq yet.
type entry struct {
	typ     protocol.Type
	task    string
	parent  string
	time    time.Time // zero: when it is appended
	by      *protocol.Actor
	data    json.RawMessage
	delta   protocol.Delta // if isDelta
	isDelta bool
	part    string // that must have started
	tool    string // that must have started
	blobs   []eventlog.Blob
}

// logged returns the entry of a turn as the log takes it.
func (en *entry) logged(turn string) eventlog.Entry {
	logged := eventlog.Entry{
		Type: en.typ, Turn: turn, Task: en.task, Parent: en.parent, Time: en.time, By: en.by, Data: en.data,
		Blobs: en.blobs,
	}
	if en.isDelta {
		logged.Delta = &en.delta
	}
	return logged
}

// item returns the part or tool that the entry belongs to.
func (en *entry) item() item.Output {
	return item.Output{
		Type: en.typ, Task: en.task, Parent: en.parent, Part: en.part, Kind: en.delta.Kind, Tool: en.tool,
	}
}

// agentEventTypes are the types that an agent may emit, with the types of their data. Other types
// are the session's own.
var agentEventTypes = map[protocol.Type]reflect.Type{}

func init() {
	for _, t := range protocol.EventTypes {
		if t.AgentMay {
			agentEventTypes[t.Type] = reflect.TypeOf(t.New()).Elem()
		}
	}
}

// sanitizeEvent turns an agent's event into entries for the log: valid UTF-8, compact JSON, at most
// protocol.MaxEvent each; what is larger is split or moved to blobs. It uses no state of the
// session and runs on the agent's goroutine. Errors are bugs of the agent: a type that agents may
// not emit, data of another type, a number that JSON cannot encode.
func sanitizeEvent(e agent.Event) ([]entry, error) {
	want := agentEventTypes[e.Type]
	if want == nil {
		return nil, protocol.Errorf(protocol.CodeUnsupported, "an agent cannot emit %.80q", string(e.Type))
	}
	if v := reflect.ValueOf(e.Data); v.Kind() == reflect.Pointer && !v.IsNil() {
		e.Data = v.Elem().Interface()
	}
	if e.Data != nil && reflect.TypeOf(e.Data) != want {
		return nil, protocol.Errorf(protocol.CodeUnsupported, "%s holds %s, not %T", e.Type, want, e.Data)
	}
	base := eventEntry(&e)
	if d, ok := deltaOf(&e); ok {
		return splitDelta(base, d), nil
	}
	switch d := e.Data.(type) {
	case protocol.PartStartData:
		d.Part = sanitizeID(d.Part)
		return encodeEntry(base, d)
	case protocol.PartEndData:
		d.Part = sanitizeID(d.Part)
		return encodeEntry(base, d)
	case protocol.TextContentData:
		base.blobs = sanitizeMessageContent(&d.Content)
		return encodeEntry(base, d)
	case protocol.ToolStartedData:
		d.Tool, d.Input = sanitizeID(d.Tool), sanitizeJSON(d.Input)
		base.tool = d.Tool
		return encodeEntry(base, d)
	case protocol.ToolInputData:
		d.Tool, d.Input = sanitizeID(d.Tool), sanitizeJSON(d.Input)
		base.tool = d.Tool
		return encodeEntry(base, d)
	case protocol.ToolOutputData:
		return encodeToolOutput(base, d)
	case protocol.ToolEndedData:
		d.Tool, d.Output = sanitizeID(d.Tool), sanitizeJSON(d.Output)
		base.tool = d.Tool
		if len(d.Output) > protocol.MaxEvent/2 {
			b := newBlob("application/json", d.Output)
			base.blobs = append(base.blobs, b)
			d.Output = protocol.MustEncode(map[string]any{"blob": b.ID, "bytes": len(b.Data)})
		}
		return encodeEntry(base, d)
	case protocol.PlanTasksData:
		if d.Tasks == nil {
			d.Tasks = []protocol.Task{} // [] in JSON, not null
		}
		return encodeEntry(base, d)
	case protocol.RawData:
		d.Data = sanitizeJSON(d.Data)
		if len(d.Data) > protocol.MaxEvent/2 {
			b := newBlob("application/json", d.Data)
			base.blobs = append(base.blobs, b)
			d.Data, d.Blob, d.Bytes = nil, b.ID, int64(len(b.Data))
		}
		return encodeEntry(base, d)
	}
	return encodeEntry(base, e.Data)
}

// eventEntry returns the entry of an agent's event without its data.
func eventEntry(e *agent.Event) entry {
	return entry{typ: e.Type, task: sanitizeID(e.Task), parent: sanitizeID(e.Parent)}
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

// encodeToolOutput encodes a tool's output that has content or replaces the output before. Long
// text follows in entries of its own.
func encodeToolOutput(base entry, d protocol.ToolOutputData) ([]entry, error) {
	text := splitDelta(base, protocol.Delta{Part: d.Tool, Kind: protocol.KindOutput, Text: d.Text})
	d.Tool = sanitizeID(d.Tool)
	base.tool = d.Tool
	d.Content = slices.Clone(d.Content)
	base.blobs = sanitizeContents(d.Content)
	if len(d.Text) <= protocol.MaxText/8 {
		return encodeEntry(base, d)
	}
	d.Text = ""
	first, err := encodeEntry(base, d)
	return append(first, text...), err
}

// splitDelta encodes a delta as one entry, or as several when its text is longer than
// protocol.MaxText.
func splitDelta(base entry, d protocol.Delta) []entry {
	d = validDelta(d)
	pieces := protocol.SplitText(d.Text, protocol.MaxText)
	entries := make([]entry, len(pieces))
	for i, text := range pieces {
		d.Text = text
		entries[i] = deltaEntry(base, d, nil)
	}
	return entries
}

// validDelta returns a delta with valid texts.
func validDelta(d protocol.Delta) protocol.Delta {
	d.Part, d.Text = sanitizeID(d.Part), protocol.ValidText(d.Text)
	return d
}

// deltaEntry returns the entry of a valid delta whose text fits one. It appends the data to b.
func deltaEntry(base entry, d protocol.Delta, b []byte) entry {
	if d.Kind == protocol.KindText || d.Kind == protocol.KindReasoning {
		base.part = d.Part
	} else {
		base.tool = d.Part
	}
	base.data = d.AppendJSON(b)
	base.delta, base.isDelta = d, true
	return base
}

// encodeEntry encodes any data as one entry. Of data too large for an event the long texts are
// truncated and kept as blobs; if that is not enough, the entry becomes a raw event with a blob.
func encodeEntry(base entry, data any) ([]entry, error) {
	raw, err := record.Encode(data)
	if err != nil {
		return nil, err
	}
	if len(raw) > record.MaxData {
		var tree any
		numbers := json.NewDecoder(bytes.NewReader(raw))
		numbers.UseNumber()
		if err := numbers.Decode(&tree); err != nil {
			return nil, fmt.Errorf("decode %s: %w", base.typ, err)
		}
		short, blobs := truncateTexts(tree)
		truncated, err := record.Encode(short)
		if err != nil {
			return nil, err
		}
		if len(truncated) <= record.MaxData {
			raw, base.blobs = truncated, append(base.blobs, blobs...)
		} else {
			b := newBlob("application/json", raw)
			base.blobs = append(base.blobs, b)
			raw = protocol.MustEncode(
				protocol.RawData{Source: "agent", Method: string(base.typ), Blob: b.ID, Bytes: int64(len(b.Data))},
			)
			base.typ = protocol.Raw
		}
	}
	base.data = raw
	return []entry{base}, nil
}
