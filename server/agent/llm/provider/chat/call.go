package chat

import (
	"encoding/json"
	"slices"
	"strings"

	"agentctl/server/agent/llm/model"
)

type callDelta struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// A call is a tool call being streamed.
type call struct {
	part  int
	index int // -1: none
	id    string
}

// call applies the delta of a call.
func (d *decoder) call(in *callDelta) error {
	c := d.find(in)
	if c == nil {
		if in.Function.Name == "" {
			return model.Errorf(model.Malformed, "the answer has a call without a name")
		}
		c = &call{index: -1, id: in.ID}
		if in.Index != nil {
			c.index = *in.Index
		}
		i, err := d.Start(model.Part{
			Type: model.ToolCall, Call: &model.Call{ID: in.ID, Name: in.Function.Name},
		})
		if err != nil {
			return err
		}
		c.part = i
		d.calls = append(d.calls, c)
	}
	return d.Append(c.part, arguments(in.Function.Arguments))
}

// find returns the call that a delta continues, or nil. Some servers send no index, or 0 for every
// call, and then whole calls: a new id with a name begins a new call, and so does a name after
// complete arguments. Some send the same id for several calls, or another id with each piece.
func (d *decoder) find(in *callDelta) *call {
	named := in.Function.Name != ""
	for _, c := range slices.Backward(d.calls) {
		if in.ID == "" || in.ID != c.id || in.Index != nil && c.index >= 0 && *in.Index != c.index {
			continue
		}
		if named && d.complete(c) && strings.TrimSpace(arguments(in.Function.Arguments)) != "" {
			return nil
		}
		return c
	}
	for _, c := range slices.Backward(d.calls) {
		switch {
		case in.Index != nil && *in.Index != c.index:
			continue
		case named && (in.ID != "" && c.id != "" || d.complete(c)):
			return nil
		}
		return c
	}
	return nil
}

// complete reports whether the arguments of a call are.
func (d *decoder) complete(c *call) bool { return json.Valid([]byte(d.Text(c.part))) }

// arguments returns a piece of arguments: a text, or as some servers send it an object.
func arguments(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}
