package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"agentctl/protocol"
)

// An entry is an event that fits the log but has no place in it yet.
type entry struct {
	typ    protocol.Type
	task   string
	parent string
	by     *protocol.Actor
	data   json.RawMessage
	delta  protocol.Delta // when fold is set
	fold   bool
	part   string // that must have been started
	tool   string // that must have been started
	blobs  []Blob
}

// ofAgents are the types that an agent may emit, with the type of their data; the others are the session's own.
var ofAgents = map[protocol.Type]reflect.Type{}

func init() {
	for _, t := range protocol.EventTypes {
		switch kind, _, _ := strings.Cut(string(t.Type), "."); kind {
		case "session", "message", "turn", "fold", "approval", "queue", "client", "state":
		default:
			if !t.Ephemeral {
				ofAgents[t.Type] = reflect.TypeOf(t.New()).Elem()
			}
		}
	}
}

// fit makes what an agent says fit for the log: valid UTF-8, compact, at most protocol.MaxEvent, what is larger split or put
// into blobs. It needs nothing of the session and runs on the agent's goroutine. Its errors are faults of the agent's program:
// a type that is not an agent's, data of another type, a number that JSON has not.
func fit(e Event) ([]entry, error) {
	want := ofAgents[e.Type]
	if want == nil {
		return nil, protocol.Errorf(protocol.CodeUnsupported, "an agent cannot emit %.80q", string(e.Type))
	}
	if v := reflect.ValueOf(e.Data); v.Kind() == reflect.Pointer && !v.IsNil() {
		e.Data = v.Elem().Interface()
	}
	if e.Data != nil && reflect.TypeOf(e.Data) != want {
		return nil, protocol.Errorf(protocol.CodeUnsupported, "%s holds %s, not %T", e.Type, want, e.Data)
	}
	base := entry{typ: e.Type, task: fitID(e.Task), parent: fitID(e.Parent)}
	switch d := e.Data.(type) {
	case protocol.PartStartData:
		d.Part = fitID(d.Part)
		return whole(base, d)
	case protocol.PartEndData:
		d.Part = fitID(d.Part)
		return whole(base, d)
	case protocol.PartDeltaData:
		kind := protocol.KindText
		if e.Type == protocol.ReasoningDelta {
			kind = protocol.KindReasoning
		}
		return deltas(base, protocol.Delta{Part: d.Part, Kind: kind, Text: d.Text}), nil
	case protocol.ToolStartedData:
		d.Tool, d.Input = fitID(d.Tool), fitJSON(d.Input)
		base.tool = d.Tool
		return whole(base, d)
	case protocol.ToolInputData:
		if len(d.Input) == 0 {
			return deltas(base, protocol.Delta{Part: d.Tool, Kind: protocol.KindInput, Text: d.Text}), nil
		}
		d.Tool, d.Input = fitID(d.Tool), fitJSON(d.Input)
		base.tool = d.Tool
		return whole(base, d)
	case protocol.ToolOutputData:
		return outputs(base, d)
	case protocol.ToolEndedData:
		d.Tool, d.Output = fitID(d.Tool), fitJSON(d.Output)
		base.tool = d.Tool
		if len(d.Output) > protocol.MaxEvent/2 {
			b := newBlob("application/json", d.Output)
			base.blobs = append(base.blobs, b)
			d.Output = protocol.MustEncode(map[string]any{"blob": b.ID, "bytes": len(b.Data)})
		}
		return whole(base, d)
	case protocol.PlanTasksData:
		if d.Tasks == nil {
			d.Tasks = []protocol.Task{} // a list in JSON, not null
		}
		return whole(base, d)
	case protocol.RawData:
		d.Data = fitJSON(d.Data)
		if len(d.Data) > protocol.MaxEvent/2 {
			b := newBlob("application/json", d.Data)
			base.blobs = append(base.blobs, b)
			d.Data, d.Blob, d.Bytes = nil, b.ID, int64(len(b.Data))
		}
		return whole(base, d)
	}
	return whole(base, e.Data)
}

// outputs makes the entries of a tool's output. Where text and content are too much for one event, the text comes after.
func outputs(base entry, d protocol.ToolOutputData) ([]entry, error) {
	text := deltas(base, protocol.Delta{Part: d.Tool, Kind: protocol.KindOutput, Text: d.Text})
	if !d.Replace && len(d.Content) == 0 {
		return text, nil
	}
	d.Tool = fitID(d.Tool)
	base.tool = d.Tool
	d.Content = slices.Clone(d.Content)
	for i := range d.Content {
		base.blobs = append(base.blobs, fitContent(&d.Content[i])...)
	}
	if len(d.Text) <= protocol.MaxText/8 {
		return whole(base, d)
	}
	d.Text = ""
	first, err := whole(base, d)
	return append(first, text...), err
}

// deltas makes one entry for a delta, or several when its text is too long.
func deltas(base entry, d protocol.Delta) []entry {
	d.Part, d.Text = fitID(d.Part), protocol.ValidText(d.Text)
	field := "tool"
	if d.Kind == protocol.KindText || d.Kind == protocol.KindReasoning {
		field, base.part = "part", d.Part
	} else {
		base.tool = d.Part
	}
	pieces := protocol.SplitText(d.Text, protocol.MaxText)
	entries := make([]entry, len(pieces))
	for i, text := range pieces {
		b := make([]byte, 0, len(text)+len(d.Part)+24)
		b = append(append(append(b, '{', '"'), field...), `":`...)
		b = protocol.AppendString(b, d.Part)
		b = append(b, `,"text":`...)
		b = protocol.AppendString(b, text)
		base.data = append(b, '}')
		base.delta, base.fold = protocol.Delta{Part: d.Part, Kind: d.Kind, Text: text}, true
		entries[i] = base
	}
	return entries
}

// whole makes one entry of any data. What does not fit has its longest texts cut and kept as blobs; what still does not fit
// becomes a raw event with a blob.
func whole(base entry, data any) ([]entry, error) {
	raw, err := encode(data)
	if err != nil {
		return nil, err
	}
	if len(raw) > protocol.MaxEvent-envelope {
		var tree any
		numbers := json.NewDecoder(bytes.NewReader(raw))
		numbers.UseNumber()
		if err := numbers.Decode(&tree); err != nil {
			return nil, fmt.Errorf("read back %s: %w", base.typ, err)
		}
		short, blobs := shorten(tree)
		cut, err := encode(short)
		if err != nil {
			return nil, err
		}
		if len(cut) <= protocol.MaxEvent-envelope {
			raw, base.blobs = cut, append(base.blobs, blobs...)
		} else {
			b := newBlob("application/json", raw)
			base.blobs = append(base.blobs, b)
			raw = protocol.MustEncode(protocol.RawData{Source: "agent", Method: string(base.typ), Blob: b.ID, Bytes: int64(len(b.Data))})
			base.typ = protocol.Raw
		}
	}
	base.data = raw
	return []entry{base}, nil
}

// envelope is the room that an event's other fields may take.
const envelope = 4 << 10
