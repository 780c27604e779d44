package anthropic

import (
	"encoding/json"

	"agentctl/server/agent/llm/model"
	"agentctl/server/agent/llm/transport"
)

// An event is an event of the stream.
type event struct {
	Type    string `json:"type"`
	Index   int64  `json:"index"`
	Message struct {
		Usage usage `json:"usage"`
	} `json:"message"`
	ContentBlock json.RawMessage `json:"content_block"`
	Delta        struct {
		Type        string `json:"type"`
		Text        string `json:"text"`
		Thinking    string `json:"thinking"`
		PartialJSON string `json:"partial_json"`
		Signature   string `json:"signature"`
		StopReason  string `json:"stop_reason"`
	} `json:"delta"`
	Usage usage `json:"usage"`
}

type usage struct {
	Input   int64 `json:"input_tokens"`
	Output  int64 `json:"output_tokens"`
	Cached  int64 `json:"cache_read_input_tokens"`
	Written int64 `json:"cache_creation_input_tokens"`
}

// A decoder decodes the events of one response.
type decoder struct {
	*model.Builder

	blocks    map[int64]*block
	reason    model.Stop // of a response that may still lack its terminal event
	input     usage
	lastDelta usage
}

// A block is a content block being streamed. Its fields have the values of its start.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"` // and its deltas
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`

	part int
	raw  json.RawMessage
}

// Result implements transport.Decoder.
func (d *decoder) Result() *model.Response {
	r := d.Builder.Result()
	switch calls := len(r.Message.Calls()); { // some compatible servers end every response alike
	case calls > 0 && r.Stop == model.StopEnd:
		r.Stop = model.StopCalls
	case calls == 0 && r.Stop == model.StopCalls:
		r.Stop = model.StopEnd
	}
	u := &r.Usage
	in, last := &d.input, &d.lastDelta
	u.Cached, u.Written = max(in.Cached, last.Cached), max(in.Written, last.Written)
	u.Input = max(in.Input, last.Input) + u.Cached + u.Written
	u.Output = max(in.Output, last.Output)
	return r
}

// Decode implements transport.Decoder. Unknown events and blocks are ignored.
func (d *decoder) Decode(data []byte) error {
	var e event
	if err := transport.Unmarshal(data, &e); err != nil {
		return err
	}
	switch e.Type {
	case "error":
		return transport.DecodeEvent(data)
	case "message_start":
		d.input = e.Message.Usage
	case "content_block_start":
		return d.start(&e)
	case "content_block_delta":
		return d.delta(&e)
	case "content_block_stop":
		return d.stop(e.Index)
	case "message_delta":
		d.lastDelta = e.Usage
		d.reason = stopOf(e.Delta.StopReason)
		if d.reason == model.StopRefusal {
			d.Detail = "the model refused to answer"
		}
	case "message_stop":
		if d.reason == "" {
			return model.Errorf(model.Cut, "the answer has no stop reason")
		}
		d.Stop = d.reason
		d.End()
	}
	return nil
}

func (d *decoder) start(e *event) error {
	b := &block{raw: e.ContentBlock}
	_ = json.Unmarshal(b.raw, b) // as far as possible
	p := model.Part{Type: model.Opaque}
	switch b.Type {
	case "text":
		p.Type = model.Text
	case "thinking":
		p.Type = model.Reasoning
	case "tool_use":
		p.Type, p.Call = model.ToolCall, &model.Call{ID: b.ID, Name: b.Name}
	}
	i, err := d.Start(p)
	if err != nil {
		return err
	}
	b.part = i
	d.blocks[e.Index] = b
	switch b.Type {
	case "text":
		return d.Append(i, b.Text)
	case "thinking":
		return d.Append(i, b.Thinking)
	}
	return nil
}

func (d *decoder) delta(e *event) error {
	b := d.blocks[e.Index]
	if b == nil {
		return model.Errorf(model.Malformed, "the answer continues a block that did not start")
	}
	switch e.Delta.Type {
	case "text_delta":
		return d.Append(b.part, e.Delta.Text)
	case "thinking_delta":
		return d.Append(b.part, e.Delta.Thinking)
	case "input_json_delta":
		if b.Type == "tool_use" {
			return d.Append(b.part, e.Delta.PartialJSON)
		}
	case "signature_delta":
		b.Signature += e.Delta.Signature
	}
	return nil
}

// stop sets the form in which a finished block is sent back. Texts and calls are sent as decoded,
// thinking with its signature, and other blocks as received. A call without deltas has the
// arguments of its start.
func (d *decoder) stop(index int64) error {
	b := d.blocks[index]
	if b == nil {
		return nil
	}
	switch b.Type {
	case "text":
		return nil
	case "tool_use":
		if d.Text(b.part) != "" {
			return nil
		}
		return d.Append(b.part, string(b.Input))
	case "thinking":
		raw, err := json.Marshal(object{
			"type": "thinking", "thinking": d.Text(b.part), "signature": b.Signature,
		})
		if err == nil {
			b.raw = raw
		}
	}
	d.SetRaw(b.part, b.raw)
	return nil
}

func stopOf(reason string) model.Stop {
	switch reason {
	case "tool_use":
		return model.StopCalls
	case "max_tokens":
		return model.StopLength
	case "pause_turn":
		return model.StopPause
	case "refusal":
		return model.StopRefusal
	case "model_context_window_exceeded":
		return model.StopContext
	}
	return model.StopEnd
}
