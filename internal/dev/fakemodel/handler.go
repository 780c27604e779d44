package fakemodel

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// maxBody is the maximum size of a request body, in bytes.
const maxBody = 64 << 20

// obj is a JSON object.
type obj = map[string]any

// Handler is the endpoint. It serves any base path: only the end of the path selects the API. It is
// safe for concurrent use, so a Script may run for several requests concurrently.
type Handler struct {
	script Script
	window int // tokens of a request; 0: no limit

	mu       sync.Mutex
	requests []Request
}

// New returns a Handler that answers every model request with script.
func New(script Script) *Handler { return &Handler{script: script} }

// Limited returns a Handler that refuses requests of more than window tokens, as the providers do.
func Limited(window int, script Script) *Handler { return &Handler{script: script, window: window} }

// Requests returns the model requests received so far, in order.
func (h *Handler) Requests() []Request {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]Request(nil), h.requests...)
}

// Forget forgets the requests received so far.
func (h *Handler) Forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.requests = nil
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, "read body", http.StatusBadRequest)
		return
	}
	path := r.URL.Path
	switch {
	case strings.HasSuffix(path, "/models"):
		writeJSON(w, http.StatusOK, obj{"object": "list", "data": []obj{{"id": "fake-model", "object": "model"}}})
	case strings.HasSuffix(path, ":countTokens"):
		writeJSON(w, http.StatusOK, obj{"totalTokens": 1 + len(body)/4})
	case strings.HasSuffix(path, "/count_tokens"):
		writeJSON(w, http.StatusOK, obj{"input_tokens": 1 + len(body)/4})
	default:
		h.answer(w, r, body)
	}
}

func (h *Handler) answer(w http.ResponseWriter, r *http.Request, body []byte) {
	req, enc, err := decode(r.URL.Path, body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if enc == nil {
		http.NotFound(w, r)
		return
	}
	req.Body = body
	h.mu.Lock()
	req.N = len(h.requests)
	h.requests = append(h.requests, req)
	h.mu.Unlock()

	enc.number(req.N)
	out := &Reply{enc: enc, usage: usage{input: 1 + len(body)/4}, prefix: fmt.Sprint(req.N)}
	if req.Stream {
		out.stream = &stream{w: w}
	}
	if tokens := out.usage.input; h.window > 0 && tokens > h.window {
		out.Fail(http.StatusBadRequest, fmt.Sprintf("prompt is too long: %d tokens > %d maximum", tokens, h.window))
	} else {
		h.script(r.Context(), req, out)
	}
	h.countUsage(req.N, out)
	for name, values := range out.header {
		w.Header()[name] = values
	}
	switch {
	case out.body != nil:
		writeJSON(w, out.status, out.body)
	case out.status != 0:
		writeJSON(w, out.status, enc.errorBody(out.status, out.message))
	case out.broken:
	case req.Stream:
		enc.end(out.stream, out.stop, out.usage)
		out.stream.flush()
	default:
		writeJSON(w, http.StatusOK, enc.complete(out.parts, out.stop, out.usage))
	}
}

// countUsage notes the tokens that the answer to the n-th request reports: none if it failed.
func (h *Handler) countUsage(n int, out *Reply) {
	if out.status != 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.requests[n].Input, h.requests[n].Output = out.usage.input, out.usage.output
}

// decode decodes a request of the API that the path selects. The encoder is nil for an unknown
// path.
func decode(path string, body []byte) (Request, encoder, error) {
	switch {
	case strings.HasSuffix(path, "/chat/completions"):
		return decodeChat(body)
	case strings.HasSuffix(path, "/responses"):
		return decodeResponses(body)
	case strings.HasSuffix(path, "/messages"):
		return decodeMessages(body)
	case strings.HasSuffix(path, "enerateContent"):
		return decodeGemini(path, body)
	}
	return Request{}, nil, nil
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// texts returns the text of a content: a string, or a list of parts with text, one part a line.
func texts(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var parts []struct {
		Text      string `json:"text"`
		Encrypted string `json:"encrypted_content"` // of a message between agents; tests encrypt nothing
	}
	if json.Unmarshal(raw, &parts) != nil {
		return ""
	}
	var lines []string
	for _, p := range parts {
		if text := p.Text + p.Encrypted; text != "" {
			lines = append(lines, text)
		}
	}
	return strings.Join(lines, "\n")
}
