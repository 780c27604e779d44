package fakemodel

import (
	"encoding/json"
	"fmt"
)

type responses struct {
	numbered
	model   string
	started bool
	seq     int
	open    *item
	done    []obj // items finished so far
	tools   map[string]responsesTool
}

// responsesTool is how a tool of the request is called.
type responsesTool struct {
	custom    bool   // its argument is a text
	namespace string // of the tool; "": none
}

// item is the open output item: a message or a reasoning summary.
type item struct {
	kind, id, text string
}

func decodeResponses(body []byte) (Request, encoder, error) {
	var in struct {
		Model        string
		Stream       bool
		Instructions string
		Input        json.RawMessage
		Tools        []struct {
			Type, Name string
			Tools      []struct{ Type, Name string } // of a namespace
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, nil, fmt.Errorf("decode responses request: %w", err)
	}
	req := Request{API: Responses, Model: in.Model, Stream: in.Stream, System: in.Instructions}
	tools := map[string]responsesTool{}
	for _, t := range in.Tools {
		if t.Type != "namespace" {
			req.Tools = append(req.Tools, t.Name)
			tools[t.Name] = responsesTool{custom: t.Type == "custom"}
		}
		for _, n := range t.Tools {
			req.Tools = append(req.Tools, n.Name)
			tools[n.Name] = responsesTool{n.Type == "custom", t.Name}
		}
	}
	var items []struct {
		Type, Role, Name string
		Content, Output  json.RawMessage
	}
	if json.Unmarshal(in.Input, &items) != nil {
		req.add(Message{Role: User, Text: texts(in.Input)})
	}
	for _, it := range items {
		switch {
		case it.Type == "function_call" || it.Type == "custom_tool_call":
			req.add(Message{Role: Assistant, Call: it.Name})
		case it.Type == "function_call_output" || it.Type == "custom_tool_call_output":
			req.add(Message{Role: Tool, Text: texts(it.Output)})
		case it.Type == "agent_message": // from another agent of the team
			req.add(Message{Role: User, Text: texts(it.Content)})
		case it.Role == "system" || it.Role == "developer":
			req.System += texts(it.Content)
		case it.Role != "":
			req.add(Message{Role: it.Role, Text: texts(it.Content)})
		}
	}
	return req, &responses{model: in.Model, tools: tools}, nil
}

func (r *responses) event(s *stream, kind string, fields obj) {
	fields["type"] = kind
	fields["sequence_number"] = r.seq
	r.seq++
	s.event(kind, fields)
}

func (r *responses) response(status string, output []obj, u *usage) obj {
	out := obj{
		"id": r.id("resp"), "object": "response", "created_at": 1, "model": r.model, "status": status,
		"output": output, "error": nil, "incomplete_details": nil, "parallel_tool_calls": true,
		"tool_choice": "auto", "tools": []obj{}, "metadata": obj{},
	}
	if status == "incomplete" {
		out["incomplete_details"] = obj{"reason": "max_output_tokens"}
	}
	if u != nil {
		out["usage"] = obj{
			"input_tokens": u.input, "output_tokens": u.output, "total_tokens": u.input + u.output,
			"input_tokens_details": obj{"cached_tokens": u.cached}, "output_tokens_details": obj{"reasoning_tokens": 0},
		}
	}
	return out
}

func (r *responses) begin(s *stream) {
	if !r.started {
		r.started = true
		r.event(s, "response.created", obj{"response": r.response("in_progress", []obj{}, nil)})
		r.event(s, "response.in_progress", obj{"response": r.response("in_progress", []obj{}, nil)})
	}
}

func (r *responses) itemID(kind string) string { return fmt.Sprintf("%s_%d", r.id(kind), len(r.done)) }

// openItem opens an item of the given kind unless one is open.
func (r *responses) openItem(s *stream, kind string) {
	if r.open != nil && r.open.kind == kind {
		return
	}
	r.closeItem(s)
	r.open = &item{kind: kind, id: r.itemID(kind)}
	r.event(s, "response.output_item.added", obj{"output_index": len(r.done), "item": r.open.object("in_progress")})
	r.event(s, r.open.partEvent("added"), r.locate(obj{"part": r.open.part()}))
}

func (r *responses) closeItem(s *stream) {
	if r.open == nil {
		return
	}
	r.event(s, r.open.textEvent("done"), r.locate(obj{"text": r.open.text}))
	r.event(s, r.open.partEvent("done"), r.locate(obj{"part": r.open.part()}))
	r.finish(s, r.open.object("completed"))
	r.open = nil
}

func (r *responses) finish(s *stream, it obj) {
	r.event(s, "response.output_item.done", obj{"output_index": len(r.done), "item": it})
	r.done = append(r.done, it)
}

// locate adds the position of the part of the open item.
func (r *responses) locate(fields obj) obj {
	fields["item_id"], fields["output_index"] = r.open.id, len(r.done)
	if r.open.kind == "reasoning" {
		fields["summary_index"] = 0
	} else {
		fields["content_index"] = 0
	}
	return fields
}

func (it *item) part() obj {
	if it.kind == "reasoning" {
		return obj{"type": "summary_text", "text": it.text}
	}
	return obj{"type": "output_text", "text": it.text, "annotations": []obj{}}
}

func (it *item) object(status string) obj {
	parts := []obj{}
	if it.text != "" {
		parts = append(parts, it.part())
	}
	if it.kind == "reasoning" {
		out := obj{"type": "reasoning", "id": it.id, "summary": parts}
		if status == "completed" {
			out["encrypted_content"] = "c2VhbGVk"
		}
		return out
	}
	return obj{"type": "message", "id": it.id, "role": "assistant", "status": status, "content": parts}
}

func (it *item) partEvent(step string) string {
	if it.kind == "reasoning" {
		return "response.reasoning_summary_part." + step
	}
	return "response.content_part." + step
}

func (it *item) textEvent(step string) string {
	if it.kind == "reasoning" {
		return "response.reasoning_summary_text." + step
	}
	return "response.output_text." + step
}

func (r *responses) emit(s *stream, p part) {
	r.begin(s)
	switch {
	case p.call != nil && r.tools[p.call.name].custom:
		r.closeItem(s)
		r.event(s, "response.output_item.added", obj{
			"output_index": len(r.done), "item": responsesCustomCall(r.itemID("ctc"), p.call),
		})
		r.finish(s, responsesCustomCall(r.itemID("ctc"), p.call))
	case p.call != nil:
		r.closeItem(s)
		it := r.call(p.call, "in_progress", "")
		r.event(s, "response.output_item.added", obj{"output_index": len(r.done), "item": it})
		at := obj{"item_id": it["id"], "output_index": len(r.done), "delta": string(p.call.args)}
		r.event(s, "response.function_call_arguments.delta", at)
		at = obj{
			"item_id": it["id"], "output_index": len(r.done), "arguments": string(p.call.args),
			"name": p.call.name,
		}
		r.event(s, "response.function_call_arguments.done", at)
		r.finish(s, r.call(p.call, "completed", string(p.call.args)))
	case p.thought != "":
		r.openItem(s, "reasoning")
		r.addText(s, p.thought)
	default:
		r.openItem(s, "message")
		r.addText(s, p.text)
	}
}

func (r *responses) addText(s *stream, text string) {
	r.open.text += text
	r.event(s, r.open.textEvent("delta"), r.locate(obj{"delta": text}))
}

func (r *responses) end(s *stream, stop Stop, u usage) {
	r.begin(s)
	r.closeItem(s)
	status := responsesStop(stop)
	r.event(s, "response."+status, obj{"response": r.response(status, append([]obj{}, r.done...), &u)})
}

func (r *responses) complete(parts []part, stop Stop, u usage) any {
	for _, p := range parts {
		it := &item{kind: "message", id: r.itemID("message"), text: p.text}
		switch {
		case p.call != nil && r.tools[p.call.name].custom:
			r.done = append(r.done, responsesCustomCall(r.itemID("ctc"), p.call))
			continue
		case p.call != nil:
			r.done = append(r.done, r.call(p.call, "completed", string(p.call.args)))
			continue
		case p.thought != "":
			it.kind, it.text = "reasoning", p.thought
		}
		r.done = append(r.done, it.object("completed"))
	}
	return r.response(responsesStop(stop), append([]obj{}, r.done...), &u)
}

func (r *responses) errorBody(status int, message string) any { return openAIError(status, message) }

func (r *responses) call(c *call, status, args string) obj {
	it := obj{
		"type": "function_call", "id": r.itemID("fc"), "call_id": c.id, "name": c.name, "arguments": args,
		"status": status,
	}
	if n := r.tools[c.name].namespace; n != "" {
		it["namespace"] = n
	}
	return it
}

// responsesCustomCall encodes the call of a tool whose argument is a text.
func responsesCustomCall(id string, c *call) obj {
	var input string
	if err := json.Unmarshal(c.args, &input); err != nil {
		panic(fmt.Sprintf("fakemodel: %s takes a text: %v", c.name, err))
	}
	return obj{
		"type": "custom_tool_call", "id": id, "call_id": c.id, "name": c.name, "input": input, "status": "completed",
	}
}

func responsesStop(s Stop) string {
	if s == StopMaxTokens {
		return "incomplete"
	}
	return "completed"
}
