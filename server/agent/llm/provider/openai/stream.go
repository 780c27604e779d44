package openai

import (
	"encoding/json"

	"github.com/openai/openai-go/v3/responses"

	"agentctl/server/agent/llm/model"
	"agentctl/server/agent/llm/transport"
)

// A decoder decodes the events of one response.
type decoder struct {
	*model.Builder

	parts   map[int64]int // index of the part by index of the output item
	summary map[int64]int64
}

// Decode implements transport.Decoder. Unknown events are ignored.
func (d *decoder) Decode(data []byte) error {
	var e responses.ResponseStreamEventUnion
	if err := json.Unmarshal(data, &e); err != nil {
		return model.Errorf(model.Malformed, "the answer cannot be read: %v", err)
	}
	switch e.Type {
	case "response.output_item.added":
		_, err := d.part(e.OutputIndex, &e.Item)
		return err
	case "response.output_text.delta", "response.refusal.delta":
		return d.appendTo(e.OutputIndex, model.Text, e.Delta)
	case "response.reasoning_summary_text.delta":
		text := e.Delta
		if last, ok := d.summary[e.OutputIndex]; ok && last != e.SummaryIndex {
			text = "\n\n" + text
		}
		d.summary[e.OutputIndex] = e.SummaryIndex
		return d.appendTo(e.OutputIndex, model.Reasoning, text)
	case "response.reasoning_text.delta":
		return d.appendTo(e.OutputIndex, model.Reasoning, e.Delta)
	case "response.function_call_arguments.delta":
		return d.appendTo(e.OutputIndex, model.ToolCall, e.Delta)
	case "response.output_item.done":
		return d.finishItem(e.OutputIndex, &e.Item)
	case "response.completed", "response.incomplete":
		d.finish(&e.Response)
		return nil
	case "response.failed":
		return transport.DecodeEvent([]byte(e.Response.RawJSON()))
	case "error":
		return transport.DecodeEvent([]byte(e.RawJSON()))
	}
	return nil
}

// part returns the part of an output item, and starts it.
func (d *decoder) part(index int64, item *responses.ResponseOutputItemUnion) (int, error) {
	if i, ok := d.parts[index]; ok {
		return i, nil
	}
	p := model.Part{Type: model.Opaque}
	switch item.Type {
	case "message":
		p.Type = model.Text
	case "reasoning":
		p.Type = model.Reasoning
	case "function_call":
		p.Type, p.Call = model.ToolCall, &model.Call{ID: item.CallID, Name: item.Name}
	}
	i, err := d.Start(p)
	d.parts[index] = i
	return i, err
}

// appendTo appends text to the part of an output item. An item that was not announced begins with
// its first text, unless it is a call, whose name is then unknown.
func (d *decoder) appendTo(index int64, t model.PartType, text string) error {
	i, ok := d.parts[index]
	if !ok {
		if t == model.ToolCall {
			return model.Errorf(model.Malformed, "the answer has arguments without a call")
		}
		var err error
		if i, err = d.Start(model.Part{Type: t}); err != nil {
			return err
		}
		d.parts[index] = i
	}
	return d.Append(i, text)
}

// finishItem takes over a complete item. Text that no delta had is appended.
func (d *decoder) finishItem(index int64, item *responses.ResponseOutputItemUnion) error {
	i, err := d.part(index, item)
	if err != nil {
		return err
	}
	if raw := json.RawMessage(item.RawJSON()); json.Valid(raw) {
		d.SetRaw(i, raw)
	}
	if d.Text(i) != "" {
		return nil
	}
	text := ""
	switch item.Type {
	case "function_call":
		text = item.Arguments.OfString
	case "message":
		for _, c := range item.Content {
			text += c.Text + c.Refusal
		}
	case "reasoning":
		for _, s := range item.Summary {
			text += s.Text
		}
	}
	return d.Append(i, text)
}

// finish applies the terminal event.
func (d *decoder) finish(r *responses.Response) {
	d.End()
	d.Usage = model.Usage{
		Input: r.Usage.InputTokens, Cached: r.Usage.InputTokensDetails.CachedTokens,
		Output: r.Usage.OutputTokens, Reasoning: r.Usage.OutputTokensDetails.ReasoningTokens,
	}
	switch {
	case r.IncompleteDetails.Reason == "max_output_tokens":
		d.Stop = model.StopLength
	case r.Status == responses.ResponseStatusIncomplete:
		d.Stop, d.Detail = model.StopRefusal, "the answer was stopped: "+string(r.IncompleteDetails.Reason)
	case len(d.Result().Message.Calls()) > 0:
		d.Stop = model.StopCalls
	default:
		d.Stop = model.StopEnd
	}
}
