package openai

import (
	"encoding/json"

	"agentctl/server/agent/llm/model"
	"agentctl/server/agent/llm/transport"
)

// An event is an event of the stream.
type event struct {
	Type         string          `json:"type"`
	OutputIndex  int64           `json:"output_index"`
	SummaryIndex int64           `json:"summary_index"`
	Delta        string          `json:"delta"`
	Item         json.RawMessage `json:"item"`
	Response     json.RawMessage `json:"response"`
}

// An item is an output item.
type item struct {
	Type      string `json:"type"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Content   []struct {
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	} `json:"content"`
	Summary []struct {
		Text string `json:"text"`
	} `json:"summary"`
}

// A response is the response of a terminal event.
type response struct {
	Status     string `json:"status"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Usage struct {
		Input  int64 `json:"input_tokens"`
		Output int64 `json:"output_tokens"`
		In     struct {
			Cached int64 `json:"cached_tokens"`
		} `json:"input_tokens_details"`
		Out struct {
			Reasoning int64 `json:"reasoning_tokens"`
		} `json:"output_tokens_details"`
	} `json:"usage"`
}

// A decoder decodes the events of one response.
type decoder struct {
	*model.Builder

	parts   map[int64]int // index of the part by index of the output item
	summary map[int64]int64
}

// Decode implements transport.Decoder. Unknown events are ignored.
func (d *decoder) Decode(data []byte) error {
	var e event
	if err := transport.Unmarshal(data, &e); err != nil {
		return err
	}
	switch e.Type {
	case "response.output_item.added", "response.output_item.done":
		return d.item(&e)
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
	case "response.completed", "response.incomplete":
		d.finish(e.Response)
	case "response.failed":
		return transport.DecodeEvent(e.Response)
	case "error":
		return transport.DecodeEvent(data)
	}
	return nil
}

// part returns the part of an output item, and starts it.
func (d *decoder) part(index int64, item *item) (int, error) {
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

// item starts an output item, or takes over a complete one. Text that no delta had is appended.
func (d *decoder) item(e *event) error {
	var item item
	_ = json.Unmarshal(e.Item, &item) // as far as possible
	i, err := d.part(e.OutputIndex, &item)
	if err != nil || e.Type == "response.output_item.added" {
		return err
	}
	d.SetRaw(i, e.Item)
	if d.Text(i) != "" {
		return nil
	}
	text := ""
	switch item.Type {
	case "function_call":
		text = item.Arguments
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
func (d *decoder) finish(raw json.RawMessage) {
	var r response
	_ = json.Unmarshal(raw, &r) // as far as possible
	d.End()
	d.Usage = model.Usage{
		Input: r.Usage.Input, Cached: r.Usage.In.Cached, Output: r.Usage.Output, Reasoning: r.Usage.Out.Reasoning,
	}
	switch {
	case r.Incomplete.Reason == "max_output_tokens":
		d.Stop = model.StopLength
	case r.Status == "incomplete":
		d.Stop, d.Detail = model.StopRefusal, "the answer was stopped: "+r.Incomplete.Reason
	case len(d.Result().Message.Calls()) > 0:
		d.Stop = model.StopCalls
	default:
		d.Stop = model.StopEnd
	}
}
