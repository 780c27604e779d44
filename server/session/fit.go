package session

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
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

// ofAgents are the types that an agent may emit; the others are the session's own.
var ofAgents = map[protocol.Type]bool{}

func init() {
	for _, t := range protocol.EventTypes {
		switch kind, _, _ := strings.Cut(string(t.Type), "."); kind {
		case "session", "message", "turn", "fold", "approval", "queue", "client", "state":
		default:
			ofAgents[t.Type] = !t.Ephemeral
		}
	}
}

// fit makes what an agent says fit for the log: valid UTF-8, compact, at most protocol.MaxEvent, what is larger split or put
// into blobs. It needs nothing of the session and runs on the agent's goroutine.
func fit(e Event) ([]entry, error) {
	if !ofAgents[e.Type] {
		return nil, protocol.Errorf(protocol.CodeUnsupported, "an agent cannot emit %.80q", string(e.Type))
	}
	base := entry{typ: e.Type, task: protocol.ValidText(e.Task), parent: protocol.ValidText(e.Parent)}
	switch d := e.Data.(type) {
	case protocol.PartDeltaData:
		kind := protocol.KindText
		if e.Type == protocol.ReasoningDelta {
			kind = protocol.KindReasoning
		}
		return deltas(base, "part", protocol.Delta{Part: d.Part, Kind: kind, Text: d.Text}), nil
	case protocol.ToolOutputData:
		if !d.Replace && d.Content == nil {
			return deltas(base, "tool", protocol.Delta{Part: d.Tool, Kind: protocol.KindOutput, Text: d.Text}), nil
		}
		base.tool = protocol.ValidText(d.Tool)
		d.Content = slices.Clone(d.Content)
		for i := range d.Content {
			base.blobs = append(base.blobs, fitContent(&d.Content[i])...)
		}
		if len(d.Text) > protocol.MaxText {
			rest := protocol.ToolOutputData{Tool: d.Tool, Text: d.Text[len(protocol.SplitText(d.Text, protocol.MaxText)[0]):]}
			d.Text = d.Text[:len(d.Text)-len(rest.Text)]
			first, err := whole(base, d)
			if err != nil {
				return nil, err
			}
			more, err := fit(Event{Type: e.Type, Task: e.Task, Parent: e.Parent, Data: rest})
			return append(first, more...), err
		}
		return whole(base, d)
	case protocol.ToolInputData:
		if d.Input == nil {
			return deltas(base, "tool", protocol.Delta{Part: d.Tool, Kind: protocol.KindInput, Text: d.Text}), nil
		}
		base.tool = protocol.ValidText(d.Tool)
		return whole(base, d)
	case protocol.ToolEndedData:
		base.tool = protocol.ValidText(d.Tool)
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
		if len(d.Data) > protocol.MaxEvent/2 {
			b := newBlob("application/json", d.Data)
			base.blobs = append(base.blobs, b)
			d.Data, d.Blob, d.Bytes = nil, b.ID, int64(len(b.Data))
		}
		return whole(base, d)
	}
	return whole(base, e.Data)
}

// deltas makes one entry for a delta, or several when its text is too long. field names the part in the data.
func deltas(base entry, field string, d protocol.Delta) []entry {
	d.Part, d.Text = protocol.ValidText(d.Part), protocol.ValidText(d.Text)
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
		if field == "part" {
			base.part = d.Part
		} else {
			base.tool = d.Part
		}
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
		if err := json.Unmarshal(raw, &tree); err != nil {
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

// encode is protocol.Encode, made compact and valid UTF-8 also where the value holds foreign JSON.
func encode(v any) (json.RawMessage, error) {
	if v == nil {
		return nil, nil
	}
	raw, err := protocol.Encode(v)
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	raw, ok := protocol.Compact(raw)
	if !ok {
		return nil, fmt.Errorf("encode %T: not JSON", v)
	}
	return raw, nil
}

const (
	longText  = 8 << 10
	shortText = 2 << 10
)

// shorten cuts every long text in a JSON tree and returns the whole texts as blobs.
func shorten(v any) (any, []Blob) {
	var blobs []Blob
	switch v := v.(type) {
	case string:
		if len(v) <= longText {
			return v, nil
		}
		b := newBlob("text/plain; charset=utf-8", []byte(v))
		return fmt.Sprintf("%s… (%d bytes, blob %s)", protocol.SplitText(v, shortText)[0], len(v), b.ID), []Blob{b}
	case []any:
		for i := range v {
			var more []Blob
			v[i], more = shorten(v[i])
			blobs = append(blobs, more...)
		}
	case map[string]any:
		for k := range v {
			var more []Blob
			v[k], more = shorten(v[k])
			blobs = append(blobs, more...)
		}
	}
	return v, blobs
}

func fitContent(c *protocol.Content) []Blob {
	if len(c.Data) <= protocol.MaxEvent/8 {
		return nil
	}
	b := newBlob("application/json", c.Data)
	if c.MediaType != "" {
		b.MediaType = c.MediaType
	}
	c.Data, c.Blob, c.Bytes = nil, b.ID, int64(len(b.Data))
	return []Blob{b}
}

// newBlob names a payload by what it holds, so that the same one is kept once.
func newBlob(mediaType string, data []byte) Blob {
	sum := sha256.Sum256(data)
	return Blob{ID: "b_" + hex.EncodeToString(sum[:12]), MediaType: mediaType, Data: data}
}
