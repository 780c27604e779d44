package google

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"agentctl/server/agent/llm/model"
	"agentctl/server/agent/llm/transport"
)

// madeID matches the ids of calls that came without one.
var madeID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^call-[0-9]+$`) })

// A chunk is an event of the stream.
type chunk struct {
	Candidates []struct {
		Content struct {
			Parts []json.RawMessage `json:"parts"`
		} `json:"content"`
		FinishReason  string `json:"finishReason"`
		FinishMessage string `json:"finishMessage"`
	} `json:"candidates"`
	PromptFeedback *struct {
		BlockReason string `json:"blockReason"`
	} `json:"promptFeedback"`
	Usage *struct {
		Prompt     int64 `json:"promptTokenCount"`
		Cached     int64 `json:"cachedContentTokenCount"`
		Candidates int64 `json:"candidatesTokenCount"`
		Thoughts   int64 `json:"thoughtsTokenCount"`
		ToolPrompt int64 `json:"toolUsePromptTokenCount"`
	} `json:"usageMetadata"`
	Error json.RawMessage `json:"error"`
}

// A part is a part of a content.
type part struct {
	Text      *string `json:"text"`
	Thought   bool    `json:"thought"`
	Signature string  `json:"thoughtSignature"`
	Call      *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
}

// A decoder decodes the chunks of one response.
type decoder struct {
	*model.Builder

	calls int
}

// Result implements transport.Decoder.
func (d *decoder) Result() *model.Response {
	r := d.Builder.Result()
	if r.Stop == model.StopEnd && d.calls > 0 {
		r.Stop = model.StopCalls
	}
	return r
}

// Decode applies a chunk. The usage of the last chunk counts.
func (d *decoder) Decode(data []byte) error {
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return model.Errorf(model.Malformed, "the answer cannot be read: %v", err)
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return transport.DecodeEvent(data)
	}
	if u := c.Usage; u != nil {
		d.Usage = model.Usage{
			Input: u.Prompt + u.ToolPrompt, Cached: u.Cached, Output: u.Candidates + u.Thoughts, Reasoning: u.Thoughts,
		}
	}
	if len(c.Candidates) == 0 {
		if f := c.PromptFeedback; f != nil && f.BlockReason != "" {
			d.Stop, d.Detail = model.StopRefusal, "the prompt was blocked: "+f.BlockReason
		}
		return nil
	}
	first := &c.Candidates[0]
	for _, raw := range first.Content.Parts {
		if err := d.part(raw); err != nil {
			return err
		}
	}
	if first.FinishReason != "" {
		d.finish(first.FinishReason, first.FinishMessage)
	}
	return nil
}

func (d *decoder) part(raw json.RawMessage) error {
	var p part
	if err := json.Unmarshal(raw, &p); err != nil {
		return model.Errorf(model.Malformed, "the answer cannot be read: %v", err)
	}
	switch {
	case p.Call != nil:
		return d.call(&p, raw)
	case p.Text == nil:
		i, err := d.Start(model.Part{Type: model.Opaque})
		if err == nil {
			d.SetRaw(i, raw)
		}
		return err
	case p.Thought:
		_, err := d.Continue(model.Reasoning, *p.Text)
		return err
	case p.Signature == "" && *p.Text == "":
		return nil
	}
	i, err := d.Continue(model.Text, *p.Text)
	if err != nil || p.Signature == "" {
		return err
	}
	signed, err := json.Marshal(object{"text": d.Text(i), "thoughtSignature": p.Signature})
	if err != nil {
		return fmt.Errorf("encode part: %w", err)
	}
	d.SetRaw(i, signed)
	return nil
}

// call adds a call, which comes whole. One without an id gets one.
func (d *decoder) call(p *part, raw json.RawMessage) error {
	id := p.Call.ID
	if id == "" {
		id = fmt.Sprintf("call-%d", d.calls)
	}
	d.calls++
	i, err := d.Start(model.Part{Type: model.ToolCall, Call: &model.Call{ID: id, Name: p.Call.Name}})
	if err != nil {
		return err
	}
	d.SetRaw(i, raw)
	return d.Append(i, string(p.Call.Args))
}

// finish applies the reason of the end.
func (d *decoder) finish(reason, message string) {
	switch reason {
	case "STOP":
		d.Stop = model.StopEnd
	case "MAX_TOKENS":
		d.Stop = model.StopLength
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MISSING_THOUGHT_SIGNATURE":
		d.Stop = model.StopInvalid
	default:
		d.Stop = model.StopRefusal
	}
	if d.Stop == model.StopRefusal || d.Stop == model.StopInvalid {
		d.Detail = strings.TrimSpace("the answer was stopped: " + reason + " " + message)
	}
}
