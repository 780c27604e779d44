package output

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/eventlog"
	"agentctl/server/session/record"
)

// eventData are the types that an agent may emit, with the types of their data. Other types are the
// session's own.
var eventData = sync.OnceValue(func() map[protocol.Type]reflect.Type {
	types := map[protocol.Type]reflect.Type{}
	for _, t := range protocol.EventTypes {
		if t.AgentMay {
			types[t.Type] = reflect.TypeOf(t.New()).Elem()
		}
	}
	return types
})

// Sanitize turns an agent's event into entries for the log: valid UTF-8, compact JSON, at most
// protocol.MaxEvent each; larger data is split or moved to blobs. It may be called from any
// goroutine. Errors are bugs of the agent: a type that agents may not emit, data of another type, a
// number that JSON cannot encode.
func Sanitize(e agent.Event) (Event, error) {
	want := eventData()[e.Type]
	if want == nil {
		return Event{}, protocol.Errorf(protocol.CodeUnsupported, "an agent cannot emit %.80q", string(e.Type))
	}
	if v := reflect.ValueOf(e.Data); v.Kind() == reflect.Pointer && !v.IsNil() {
		e.Data = v.Elem().Interface()
	}
	if e.Data != nil && reflect.TypeOf(e.Data) != want {
		return Event{}, protocol.Errorf(protocol.CodeUnsupported, "%s holds %s, not %T", e.Type, want, e.Data)
	}
	base := entryOf(&e)
	if d, ok := deltaOf(&e); ok {
		d = validDelta(d)
		ev := Event{Entries: splitValid(base, d)}
		ev.Part, ev.Tool = itemOf(d)
		return ev, nil
	}
	var ev Event
	data := e.Data
	switch d := e.Data.(type) {
	case protocol.PartStartData:
		d.Part = ID(d.Part)
		data = d
	case protocol.PartEndData:
		d.Part = ID(d.Part)
		data = d
	case protocol.TextContentData:
		base.Blobs = sanitizeMessageContent(&d.Content)
		data = d
	case protocol.ToolStartedData:
		d.Tool, d.Input = ID(d.Tool), sanitizeJSON(d.Input)
		ev.Tool, data = d.Tool, d
	case protocol.ToolInputData:
		d.Tool, d.Input = ID(d.Tool), sanitizeJSON(d.Input)
		ev.Tool, data = d.Tool, d
	case protocol.ToolOutputData:
		return toolOutput(base, d)
	case protocol.ToolEndedData:
		d.Tool, d.Output = ID(d.Tool), sanitizeJSON(d.Output)
		if len(d.Output) > protocol.MaxEvent/2 {
			b := agent.NewBlob("application/json", d.Output)
			base.Blobs = append(base.Blobs, b)
			d.Output = protocol.MustEncode(map[string]any{"blob": b.ID, "bytes": len(b.Data)})
		}
		ev.Tool, data = d.Tool, d
	case protocol.PlanTasksData:
		if d.Tasks == nil {
			d.Tasks = []protocol.Task{} // [] in JSON, not null
		}
		data = d
	case protocol.RawData:
		d.Data = sanitizeJSON(d.Data)
		if len(d.Data) > protocol.MaxEvent/2 {
			b := agent.NewBlob("application/json", d.Data)
			base.Blobs = append(base.Blobs, b)
			d.Data, d.Blob, d.Bytes = nil, b.ID, int64(len(b.Data))
		}
		data = d
	}
	en, err := Encode(base, data)
	if err != nil {
		return Event{}, err
	}
	ev.Entries = []eventlog.Entry{en}
	return ev, nil
}

// entryOf returns the entry of an agent's event without its data.
func entryOf(e *agent.Event) eventlog.Entry {
	return eventlog.Entry{Type: e.Type, Task: ID(e.Task), Parent: ID(e.Parent)}
}

// toolOutput returns a tool's output that has content or replaces the output before. Long text
// follows in separate entries.
func toolOutput(base eventlog.Entry, d protocol.ToolOutputData) (Event, error) {
	text := Split(base, protocol.Delta{Part: d.Tool, Kind: protocol.KindOutput, Text: d.Text})
	d.Tool = ID(d.Tool)
	d.Content = slices.Clone(d.Content)
	base.Blobs = Contents(d.Content)
	if len(d.Text) <= protocol.MaxText/8 {
		text = nil
	} else {
		d.Text = ""
	}
	first, err := Encode(base, d)
	if err != nil {
		return Event{}, err
	}
	return Event{Entries: append([]eventlog.Entry{first}, text...), Tool: d.Tool}, nil
}

// Encode encodes any data as an entry. Of data too large for an event the long texts are truncated
// and kept as blobs; if that is not enough, the entry becomes a raw event with a blob.
func Encode(base eventlog.Entry, data any) (eventlog.Entry, error) {
	raw, err := record.Encode(data)
	if err != nil {
		return base, err
	}
	if len(raw) > record.MaxData {
		var tree any
		numbers := json.NewDecoder(bytes.NewReader(raw))
		numbers.UseNumber()
		if err := numbers.Decode(&tree); err != nil {
			return base, fmt.Errorf("decode %s: %w", base.Type, err)
		}
		short, blobs := truncateTexts(tree)
		truncated, err := record.Encode(short)
		if err != nil {
			return base, err
		}
		if len(truncated) <= record.MaxData {
			raw, base.Blobs = truncated, append(base.Blobs, blobs...)
		} else {
			b := agent.NewBlob("application/json", raw)
			base.Blobs = append(base.Blobs, b)
			raw = protocol.MustEncode(
				protocol.RawData{Source: "agent", Method: string(base.Type), Blob: b.ID, Bytes: int64(len(b.Data))},
			)
			base.Type = protocol.Raw
		}
	}
	base.Data = raw
	return base, nil
}

// Request returns a request that the log can take, and its blobs.
func Request(a protocol.Approval) (protocol.Approval, []eventlog.Blob) {
	a.Request, a.Tool, a.Task = ID(a.Request), ID(a.Tool), ID(a.Task)
	a.Input = sanitizeJSON(a.Input)
	a.Content = slices.Clone(a.Content)
	return a, Contents(a.Content)
}

// ID makes an agent's id valid UTF-8 of at most MaxID bytes. A longer id becomes its prefix
// and a hash of all of it, so that equal ids stay equal.
func ID(id string) string {
	id = protocol.ValidText(id)
	if len(id) <= MaxID {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return protocol.SplitText(id, MaxID-25)[0] + "#" + hex.EncodeToString(sum[:12])
}

// sanitizeJSON compacts foreign JSON. Invalid JSON, and JSON nested deeper than maxNesting, becomes
// a JSON string.
func sanitizeJSON(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	if compact, ok := protocol.Compact(raw); ok && nesting(compact) <= maxNesting {
		return compact
	}
	return protocol.AppendString(nil, protocol.ValidText(string(raw)))
}

// nesting returns the nesting depth of valid JSON.
func nesting(raw []byte) int {
	depth, deepest := 0, 0
	quoted := false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}
