package fakemodel

import (
	"encoding/json"
	"fmt"
	"strings"
)

type gemini struct {
	numbered
	model string
	calls int
}

func decodeGemini(path string, body []byte) (Request, encoder, error) {
	type content struct {
		Role  string
		Parts []struct {
			Text             string
			Thought          bool
			FunctionCall     *struct{ Name string }
			FunctionResponse *struct{ Response json.RawMessage }
		}
	}
	var in struct {
		Contents          []content
		SystemInstruction content
		Tools             []struct {
			FunctionDeclarations []struct{ Name string }
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, nil, fmt.Errorf("decode gemini request: %w", err)
	}
	last := path[strings.LastIndex(path, "/")+1:]
	model, verb, _ := strings.Cut(last, ":")
	req := Request{API: Gemini, Model: model, Stream: verb == "streamGenerateContent"}
	for _, p := range in.SystemInstruction.Parts {
		req.System += p.Text
	}
	for _, t := range in.Tools {
		for _, f := range t.FunctionDeclarations {
			req.Tools = append(req.Tools, f.Name)
		}
	}
	for _, c := range in.Contents {
		role := User
		if c.Role == "model" {
			role = Assistant
		}
		for _, p := range c.Parts {
			switch {
			case p.FunctionCall != nil:
				req.add(Message{Role: Assistant, Call: p.FunctionCall.Name})
			case p.FunctionResponse != nil:
				req.add(Message{Role: Tool, Text: string(p.FunctionResponse.Response)})
			case !p.Thought:
				req.add(Message{Role: role, Text: p.Text})
			}
		}
	}
	return req, &gemini{model: model}, nil
}

func (g *gemini) response(parts []obj, finish string, u *usage) obj {
	candidate := obj{"index": 0, "content": obj{"role": "model", "parts": parts}}
	if finish != "" {
		candidate["finishReason"] = finish
	}
	r := obj{"candidates": []obj{candidate}, "modelVersion": g.model, "responseId": g.id("resp")}
	if u != nil {
		r["usageMetadata"] = obj{
			"promptTokenCount": u.input, "candidatesTokenCount": u.output, "totalTokenCount": u.input + u.output,
			"cachedContentTokenCount": u.cached,
		}
	}
	return r
}

// part encodes a part. The first call has a thought signature.
func (g *gemini) part(p part) obj {
	switch {
	case p.call != nil:
		out := obj{"functionCall": obj{"id": p.call.id, "name": p.call.name, "args": p.call.args}}
		if g.calls == 0 {
			out["thoughtSignature"] = "c2lnbmF0dXJl"
		}
		g.calls++
		return out
	case p.thought != "":
		return obj{"text": p.thought, "thought": true}
	}
	return obj{"text": p.text}
}

func (g *gemini) emit(s *stream, p part) {
	s.end = "\r\n" // as Google does
	s.event("", g.response([]obj{g.part(p)}, "", nil))
}

func (g *gemini) end(s *stream, stop Stop, u usage) {
	s.event("", g.response([]obj{{"text": ""}}, geminiStop(stop), &u))
}

func (g *gemini) complete(parts []part, stop Stop, u usage) any {
	out := []obj{}
	for _, p := range parts {
		out = append(out, g.part(p))
	}
	return g.response(out, geminiStop(stop), &u)
}

func (g *gemini) errorBody(status int, message string) any {
	kind := "INTERNAL"
	switch status {
	case 400:
		kind = "INVALID_ARGUMENT"
	case 401:
		kind = "UNAUTHENTICATED"
	case 429:
		kind = "RESOURCE_EXHAUSTED"
	case 503:
		kind = "UNAVAILABLE"
	}
	return obj{"error": obj{"code": status, "message": message, "status": kind}}
}

// geminiStop maps a stop reason. Gemini has no reason for a tool call and sends STOP.
func geminiStop(s Stop) string {
	return [...]string{
		StopEnd: "STOP", StopTool: "STOP", StopMaxTokens: "MAX_TOKENS", StopRefusal: "SAFETY",
		StopBadCall: "MALFORMED_FUNCTION_CALL",
	}[s]
}
