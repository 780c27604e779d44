package openapi

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"agentctl/protocol"
)

const description = "../../../../docs/openapi.json"

// A judge is an HTTP transport that checks each request, its response and each server-sent event
// against docs/openapi.json. Its validators share nothing with the generator of the file. Objects
// have no field that the file does not list. Safe for concurrent use.
type judge struct {
	t      *testing.T
	router routers.Router
	schema func(pointer string) *jsonschema.Schema // of the file

	mu     sync.Mutex
	events map[string]*jsonschema.Schema // of the data of server-sent events, by path
	items  map[protocol.ItemKind]bool    // the kinds of items in answers
	codes  map[protocol.Code]bool        // the codes of errors in answers
	named  map[string]bool               // the names of server-sent events, and the types of those without
}

func newJudge(t *testing.T) *judge {
	t.Helper()
	openapi3filter.RegisterBodyDecoder("*/*", openapi3filter.PlainBodyDecoder) // documents and blobs
	text, err := os.ReadFile(description)
	must(t, err)
	text = closeObjects(t, text)
	doc, err := openapi3.NewLoader().LoadFromData(text)
	must(t, err)
	must(t, doc.Validate(t.Context()))
	doc.Servers = nil // the test's server has another address
	router, err := legacy.NewRouter(doc)
	must(t, err)
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	must(t, err)
	must(t, compiler.AddResource("openapi.json", v))
	return &judge{
		t: t, router: router,
		schema: func(pointer string) *jsonschema.Schema {
			s, err := compiler.Compile("openapi.json#" + pointer)
			must(t, err)
			return s
		},
		events: map[string]*jsonschema.Schema{}, items: map[protocol.ItemKind]bool{},
		codes: map[protocol.Code]bool{}, named: map[string]bool{},
	}
}

// closeObjects returns the description with objects that have no unknown fields. The file allows
// them, since a later server may send more.
func closeObjects(t *testing.T, text []byte) []byte {
	t.Helper()
	var doc map[string]any
	must(t, json.Unmarshal(text, &doc))
	for _, s := range doc["components"].(map[string]any)["schemas"].(map[string]any) {
		if s := s.(map[string]any); s["properties"] != nil && s["allOf"] == nil {
			s["additionalProperties"] = false
		}
	}
	closed, err := json.Marshal(doc)
	must(t, err)
	return closed
}

// RoundTrip implements http.RoundTripper. A violation fails the test; the response is returned.
func (j *judge) RoundTrip(r *http.Request) (*http.Response, error) {
	var sent []byte
	if r.Body != nil {
		var err error
		if sent, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(bytes.NewReader(sent))
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	route, params, err := j.router.FindRoute(r)
	if err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	r = r.Clone(context.WithoutCancel(r.Context()))
	r.Body = io.NopCloser(bytes.NewReader(sent))
	request := &openapi3filter.RequestValidationInput{
		Request: r, PathParams: params, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc},
	}
	if resp.StatusCode < http.StatusBadRequest {
		if err := openapi3filter.ValidateRequest(r.Context(), request); err != nil {
			j.t.Errorf("%s %s: the request: %v", r.Method, r.URL, err)
		}
	}
	response := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: request, Status: resp.StatusCode, Header: resp.Header,
		Options: &openapi3filter.Options{IncludeResponseStatus: true},
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		resp.Body = &eventReader{ReadCloser: resp.Body, judge: j, path: route.Path}
		return resp, nil
	}
	got, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil {
		return nil, err
	}
	if err := openapi3filter.ValidateResponse(r.Context(), response.SetBodyBytes(got)); err != nil {
		j.t.Errorf("%s %s: status %d: %v\n%.2000s", r.Method, r.URL, resp.StatusCode, err, got)
	}
	j.note(got)
	resp.Body = io.NopCloser(bytes.NewReader(got))
	return resp, nil
}

// note records the kinds of items and the code of an error in an answer.
func (j *judge) note(answer []byte) {
	var got struct {
		Messages []struct{ Items []protocol.Item }
		Error    *protocol.Error
	}
	if json.Unmarshal(answer, &got) != nil { // a document, a blob, or an answer with other messages
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for i := range got.Messages {
		for k := range got.Messages[i].Items {
			j.items[got.Messages[i].Items[k].Kind] = true
		}
	}
	if got.Error != nil {
		j.codes[got.Error.Code] = true
	}
}

// event checks a server-sent event of the stream at path.
func (j *judge) event(path string, text []byte) {
	var name string
	var data []byte
	for line := range bytes.Lines(text) {
		switch field, value, _ := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(": ")); string(field) {
		case "event":
			name = string(value)
		case "data":
			data = value
		}
	}
	if data == nil {
		return // a comment
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		j.t.Errorf("%s: %v in %s", path, err, data)
		return
	}
	if name == "" {
		object, _ := v.(map[string]any)
		name, _ = object["type"].(string)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.events[path] == nil {
		at := strings.ReplaceAll(path, "/", "~1")
		j.events[path] = j.schema("/paths/" + at + "/get/responses/200/content/text~1event-stream/schema")
	}
	if err := j.events[path].Validate(v); err != nil {
		j.t.Errorf("%s: event %s: %.300v\n%.2000s", path, name, err, data)
	}
	j.named[name] = true
}

// An eventReader is the body of a stream. Each event is checked when it has been read.
type eventReader struct {
	io.ReadCloser
	judge *judge
	path  string
	rest  []byte // of an event that has no end yet
}

func (e *eventReader) Read(p []byte) (int, error) {
	n, err := e.ReadCloser.Read(p)
	e.rest = append(e.rest, p[:n]...)
	for {
		event, rest, complete := bytes.Cut(e.rest, []byte("\n\n"))
		if !complete {
			return n, err
		}
		e.judge.event(e.path, append(event, '\n'))
		e.rest = rest
	}
}
