package anthropic

import (
	"encoding/json"

	"github.com/anthropics/anthropic-sdk-go"

	"agentctl/server/agent/llm/model"
	"agentctl/server/agent/llm/transport"
)

// A decoder decodes the events of one response.
type decoder struct {
	*model.Builder

	blocks    map[int64]*block
	reason    model.Stop // of a response that may still lack its terminal event
	input     anthropic.Usage
	lastDelta anthropic.MessageDeltaUsage
}

// A block is a content block being streamed.
type block struct {
	part      int
	kind      string
	raw       json.RawMessage // as it started
	signature string
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
	u.Cached = max(in.CacheReadInputTokens, last.CacheReadInputTokens)
	u.Written = max(in.CacheCreationInputTokens, last.CacheCreationInputTokens)
	u.Input = max(in.InputTokens, last.InputTokens) + u.Cached + u.Written
	u.Output = max(in.OutputTokens, last.OutputTokens)
	return r
}

// Decode implements transport.Decoder. Unknown events and blocks are ignored.
func (d *decoder) Decode(data []byte) error {
	var e anthropic.MessageStreamEventUnion
	if err := json.Unmarshal(data, &e); err != nil {
		return model.Errorf(model.Malformed, "the answer cannot be read: %v", err)
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

func (d *decoder) start(e *anthropic.MessageStreamEventUnion) error {
	b := &block{kind: e.ContentBlock.Type, raw: json.RawMessage(e.ContentBlock.RawJSON())}
	p := model.Part{Type: model.Opaque}
	switch b.kind {
	case "text":
		p.Type = model.Text
	case "thinking":
		p.Type = model.Reasoning
		b.signature = e.ContentBlock.Signature
	case "tool_use":
		p.Type, p.Call = model.ToolCall, &model.Call{ID: e.ContentBlock.ID, Name: e.ContentBlock.Name}
	}
	i, err := d.Start(p)
	if err != nil {
		return err
	}
	b.part = i
	d.blocks[e.Index] = b
	switch b.kind {
	case "text":
		return d.Append(i, e.ContentBlock.Text)
	case "thinking":
		return d.Append(i, e.ContentBlock.Thinking)
	}
	return nil
}

func (d *decoder) delta(e *anthropic.MessageStreamEventUnion) error {
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
		if b.kind == "tool_use" {
			return d.Append(b.part, e.Delta.PartialJSON)
		}
	case "signature_delta":
		b.signature += e.Delta.Signature
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
	switch b.kind {
	case "text":
		return nil
	case "tool_use":
		var started struct{ Input json.RawMessage }
		if d.Text(b.part) != "" || json.Unmarshal(b.raw, &started) != nil {
			return nil
		}
		return d.Append(b.part, string(started.Input))
	case "thinking":
		raw, err := json.Marshal(object{
			"type": "thinking", "thinking": d.Text(b.part), "signature": b.signature,
		})
		if err == nil {
			b.raw = raw
		}
	}
	d.SetRaw(b.part, b.raw)
	return nil
}

func stopOf(reason anthropic.StopReason) model.Stop {
	switch reason {
	case anthropic.StopReasonToolUse:
		return model.StopCalls
	case anthropic.StopReasonMaxTokens:
		return model.StopLength
	case anthropic.StopReasonPauseTurn:
		return model.StopPause
	case anthropic.StopReasonRefusal:
		return model.StopRefusal
	case "model_context_window_exceeded":
		return model.StopContext
	}
	return model.StopEnd
}
