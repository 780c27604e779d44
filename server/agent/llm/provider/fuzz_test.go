package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"agentctl/internal/dev/fakemodel"
	"agentctl/server/agent/llm/model"
)

// bytesTransport answers every request with a stream of these bytes.
type bytesTransport []byte

func (b bytesTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: io.NopCloser(bytes.NewReader(b)), Request: r,
	}, nil
}

// seeds are streams of each API.
func seeds(f *testing.F) {
	f.Helper()
	script := func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
		out.Reasoning("hm")
		out.Text("text")
		out.Call("read", map[string]string{"path": "a"})
		out.Call("read", map[string]string{"path": "b"})
	}
	for i, a := range apiModels {
		record := &streamRecorder{base: fakemodel.New(script)}
		if _, err := openFuzz(a.api, a.model, record).Stream(f.Context(), ask("x"), ignore); err != nil {
			f.Fatal(err)
		}
		f.Add(i, record.body.Bytes())
		f.Add(i, bytes.ReplaceAll(record.body.Bytes(), []byte(`"path`), []byte(`path`)))
	}
	for _, text := range []string{
		`data: {"choices":[{"delta":{"content":"<think>a</think>b","tool_calls":[{"function":{"name":"x","arguments":{}}}]}}]}`,
		`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"x"}},{"index":0,"id":"b"}]}}]}`,
		`data: {"error":null,"choices":[{"finish_reason":"stop"}],"usage":{"total_tokens":3}}`,
	} {
		f.Add(3, []byte(text+"\n\ndata: [DONE]\n\n"))
	}
	f.Add(2, []byte(`data: {"promptFeedback":{"blockReason":"SAFETY"}}`+"\r\n\r\n"))
	f.Add(0, []byte(`data: {"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded"}}}`+"\n\n"))
	f.Add(1, []byte("event: error\ndata: {\"error\":{\"type\":\"overloaded_error\"}}\n\n"))
}

func ignore(model.Delta) error { return nil }

func openFuzz(api, name string, base http.RoundTripper) model.Backend {
	set := Set{"test": {API: api, BaseURL: "https://model.example/v1", KeyEnv: "KEY"}}
	m, err := set.Open(Reference{"test", name}, &Keys{Base: base, Env: func(string) string { return testKey }})
	if err != nil {
		panic(err)
	}
	return m
}

// streamRecorder keeps the body of an answer.
type streamRecorder struct {
	base http.RoundTripper
	body bytes.Buffer
}

func (s *streamRecorder) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := s.base.RoundTrip(r)
	if err == nil {
		res.Body = struct {
			io.Reader
			io.Closer
		}{io.TeeReader(res.Body, &s.body), res.Body}
	}
	return res, err
}

// Any stream is an answer or an error. The deltas are the texts of the answer, calls have objects
// as arguments, and the answer can be sent back.
func FuzzStream(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, api int, stream []byte) {
		a := apiModels[uint(api)%uint(len(apiModels))]
		m := openFuzz(a.api, a.model, bytesTransport(stream))
		var texts []string
		kinds := map[int]model.PartType{}
		response, err := m.Stream(t.Context(), ask("x"), func(d model.Delta) error {
			kinds[d.Part] = d.Type
			for len(texts) <= d.Part {
				texts = append(texts, "")
			}
			texts[d.Part] += d.Text
			return nil
		})
		if err == nil && response.Stop == "" {
			t.Error("an answer without a stop reason")
		}
		var shown strings.Builder
		for i, text := range texts {
			if kinds[i] == model.Text {
				shown.WriteString(text)
			}
		}
		if shown.String() != response.Message.Text() {
			t.Errorf("shown %q, recorded %q", shown.String(), response.Message.Text())
		}
		for _, c := range response.Message.Calls() {
			var object map[string]any
			if json.Unmarshal(c.Input, &object) != nil || object == nil {
				t.Errorf("arguments %s", c.Input)
			}
		}
		if err != nil {
			return
		}
		again := openFuzz(a.api, a.model, fakemodel.New(fakemodel.Say("ok")))
		r := ask("x")
		r.Messages = append(r.Messages, response.Message, model.Texts(model.User, "y"))
		if _, err := again.Stream(t.Context(), r, ignore); err != nil {
			t.Errorf("sent back: %v", err)
		}
	})
}
