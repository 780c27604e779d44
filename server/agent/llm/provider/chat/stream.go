package chat

import (
	"bytes"
	"cmp"
	"encoding/json"

	"agentctl/server/agent/llm/model"
	"agentctl/server/agent/llm/transport"
)

// A chunk is an event of the stream.
type chunk struct {
	Choices []struct {
		Delta        delta  `json:"delta"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage  *usage          `json:"usage"`
	Error  json.RawMessage `json:"error"`
	Object string          `json:"object"` // "error": the chunk is one, as of vLLM
}

type delta struct {
	Content          content         `json:"content"`
	Refusal          string          `json:"refusal"`
	ReasoningContent string          `json:"reasoning_content"` // DeepSeek, llama.cpp, GLM
	Reasoning        string          `json:"reasoning"`         // vLLM, OpenRouter
	Details          json.RawMessage `json:"reasoning_details"` // OpenRouter
	Calls            []callDelta     `json:"tool_calls"`
}

type usage struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	Total      int64 `json:"total_tokens"`
	In         struct {
		Cached int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	Out struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	CacheHit int64 `json:"prompt_cache_hit_tokens"` // DeepSeek
}

// A decoder decodes the chunks of one response.
type decoder struct {
	*model.Builder

	think   thinkSplitter
	calls   []*call
	details []json.RawMessage
	field   string // in which reasoning comes
}

// Result implements transport.Decoder. Reasoning returns in the field in which it came.
func (d *decoder) Result() *model.Response {
	r := d.Builder.Result()
	reasoning := ""
	for _, p := range r.Message.Parts {
		if p.Type == model.Reasoning {
			reasoning += p.Text
		}
	}
	fields := object{}
	if d.field != "" && reasoning != "" {
		fields[d.field] = reasoning
	}
	if d.details != nil {
		fields["reasoning_details"] = d.details
	}
	if raw, err := json.Marshal(fields); err == nil && len(fields) > 0 {
		r.Message.Parts = append(r.Message.Parts, model.Part{Type: model.Opaque, Raw: raw})
	}
	if len(d.calls) > 0 && r.Stop == model.StopEnd {
		r.Stop = model.StopCalls // some servers finish with stop
	}
	return r
}

// Decode applies an event.
func (d *decoder) Decode(data []byte) error {
	data = bytes.TrimSpace(data)
	if bytes.Equal(data, []byte("[DONE]")) {
		d.Stop = cmp.Or(d.Stop, model.StopEnd)
		d.End()
		return d.add(d.think.flush())
	}
	if len(data) == 0 {
		return nil
	}
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return model.Errorf(model.Malformed, "the answer cannot be read: %v", err)
	}
	if len(c.Error) > 0 && string(c.Error) != "null" || c.Object == "error" {
		return transport.DecodeEvent(data)
	}
	if c.Usage != nil {
		d.Usage = c.Usage.decode()
	}
	if len(c.Choices) == 0 {
		return nil
	}
	if err := d.delta(&c.Choices[0].Delta); err != nil {
		return err
	}
	if reason := c.Choices[0].FinishReason; reason != "" && d.Stop == "" {
		if err := d.add(d.think.flush()); err != nil {
			return err
		}
		return d.finish(reason)
	}
	return nil
}

// decode returns the tokens. Some servers count reasoning separately from the completion, as the
// total shows.
func (u *usage) decode() model.Usage {
	out := u.Completion
	if u.Out.Reasoning > 0 && u.Total == u.Prompt+u.Completion+u.Out.Reasoning {
		out += u.Out.Reasoning
	}
	return model.Usage{
		Input: u.Prompt, Cached: max(u.In.Cached, u.CacheHit), Output: out, Reasoning: u.Out.Reasoning,
	}
}

func (d *decoder) delta(in *delta) error {
	reasoning := in.Reasoning
	switch {
	case in.ReasoningContent != "":
		reasoning, d.field = in.ReasoningContent, "reasoning_content"
	case in.Reasoning != "" && in.Details == nil:
		d.field = "reasoning"
	}
	if details := []json.RawMessage(nil); json.Unmarshal(in.Details, &details) == nil {
		d.details = append(d.details, details...)
	}
	pieces := addPiece(nil, model.Reasoning, reasoning)
	for _, p := range in.Content {
		if p.kind == model.Text {
			pieces = append(pieces, d.think.split(p.text)...)
		} else {
			pieces = append(pieces, p)
		}
	}
	if err := d.add(append(pieces, d.think.split(in.Refusal)...)); err != nil {
		return err
	}
	for _, c := range in.Calls {
		if err := d.call(&c); err != nil {
			return err
		}
	}
	return nil
}

// add appends pieces of text and reasoning.
func (d *decoder) add(pieces []piece) error {
	for _, p := range pieces {
		if _, err := d.Continue(p.kind, p.text); err != nil {
			return err
		}
	}
	return nil
}

// finish applies the finish reason. Some servers report a failure with it.
func (d *decoder) finish(reason string) error {
	switch reason {
	case "error", "abort", "insufficient_system_resource":
		return model.Errorf(model.ServerFail, "the provider stopped the answer: %s", reason)
	case "length", "model_length":
		d.Stop = model.StopLength
	case "content_filter", "refusal":
		d.Stop, d.Detail = model.StopRefusal, "the answer was stopped by a filter of the provider"
	case "tool_calls", "function_call":
		d.Stop = model.StopCalls
	default:
		d.Stop = model.StopEnd
	}
	if d.Stop == model.StopCalls && len(d.calls) == 0 {
		d.Stop = model.StopEnd
	}
	return nil
}
