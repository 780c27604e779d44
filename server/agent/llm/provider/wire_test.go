package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"agentctl/internal/dev/fakemodel"
	"agentctl/server/agent/llm/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testKey = "sk-test-0123456789abcdef"

// apiModels are the four APIs, each with a name of a model that reasons.
var apiModels = []struct{ api, model string }{
	{OpenAI, "gpt-5.5"}, {Anthropic, "claude-sonnet-5-5"}, {Google, "gemini-3-pro"}, {Chat, "qwen"},
}

// eachAPI runs a test in a bubble for each API, with a model that a script answers.
func eachAPI(
	t *testing.T, script fakemodel.Script, test func(t *testing.T, m model.Backend, fake *fakemodel.Handler),
) {
	for _, a := range apiModels {
		t.Run(a.api, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fake := fakemodel.New(script)
				test(t, openTest(t, a.api, a.model, fake), fake)
			})
		})
	}
}

func openTest(t *testing.T, api, name string, base http.RoundTripper) model.Backend {
	t.Helper()
	set := Set{"test": {API: api, BaseURL: "https://model.example/v1", KeyEnv: "KEY"}}
	keys := &Keys{Base: base, Env: func(string) string { return testKey }}
	m, err := set.Open(Reference{"test", name}, keys)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// collect returns a function that joins deltas by part.
func collect(texts *[]string) func(model.Delta) error {
	return func(d model.Delta) error {
		for len(*texts) <= d.Part {
			*texts = append(*texts, "")
		}
		if d.Call != "" {
			d.Text = d.Name + " " + d.Text
		}
		(*texts)[d.Part] += d.Text
		return nil
	}
}

func ask(text string) *model.Request {
	return &model.Request{
		System: "be brief", Messages: []model.Message{model.Texts(model.User, text)}, CacheKey: "session",
		Effort: "low",
		Tools:  []model.Tool{{Name: "read", About: "reads", Schema: json.RawMessage(`{"type":"object"}`)}},
	}
}

func TestATurnWithReasoningAndParallelCallsIsTheSameInEveryAPI(t *testing.T) {
	script := fakemodel.Turns(func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
		out.Cached(3)
		out.Reasoning("let me ")
		out.Reasoning("see")
		out.Text("I ")
		out.Text("look.")
		out.Call("read", map[string]string{"path": "a"})
		out.Call("read", map[string]string{"path": "b"})
	}, fakemodel.Say("done"))
	eachAPI(t, script, func(t *testing.T, m model.Backend, fake *fakemodel.Handler) {
		r := ask("look")
		var texts []string
		first, err := m.Stream(t.Context(), r, collect(&texts))
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"let me see", "I look.", `read {"path":"a"}`, `read {"path":"b"}`}
		if !slices.Equal(texts, want) {
			t.Errorf("deltas %q", texts)
		}
		calls := first.Message.Calls()
		if len(calls) != 2 || string(calls[1].Input) != `{"path":"b"}` || first.Stop != model.StopCalls {
			t.Fatalf("%+v, stop %s", calls, first.Stop)
		}
		if u := first.Usage; u.Cached != 3 || u.Input <= 3 || u.Output == 0 {
			t.Errorf("usage %+v", u)
		}

		results := model.Message{Role: model.User}
		for i, c := range calls {
			results.Parts = append(results.Parts, model.Part{
				Type: model.ToolResult, Result: &model.Result{ID: c.ID, Name: c.Name, Text: fmt.Sprint("content ", i)},
			})
		}
		results.Parts = append(results.Parts, model.Part{Type: model.FilePart, File: &model.File{
			Name: "p.png", MediaType: "image/png", Data: []byte("picture"),
		}})
		r.Messages = append(r.Messages, first.Message, results)
		second, err := m.Stream(t.Context(), r, collect(new([]string)))
		if err != nil || second.Message.Text() != "done" || second.Stop != model.StopEnd {
			t.Fatalf("%+v, %v", second, err)
		}
		sent := fake.Requests()[1]
		if !slices.Equal(sent.Tools, []string{"read"}) || sent.System != "be brief" || sent.Model == "" {
			t.Errorf("sent %+v", sent)
		}
		var roles []string
		for _, x := range sent.Messages {
			roles = append(roles, strings.TrimSpace(x.Role+" "+x.Call))
		}
		if !slices.Contains(roles, "assistant read") || !slices.Contains(roles, "tool") {
			t.Errorf("sent %q", roles)
		}
		returned := map[string]string{ // the reasoning in the form of each API
			"gpt-5.5": `"encrypted_content":"c2VhbGVk"`, "claude-sonnet-5-5": `"signature":"fake"`,
			"gemini-3-pro": `"thoughtSignature":"c2lnbmF0dXJl"`, "qwen": `"reasoning_content":"let me see"`,
		}[sent.Model]
		for _, text := range []string{returned, "content 0", "content 1", "cGljdHVyZQ=="} {
			if !bytes.Contains(sent.Body, []byte(text)) {
				t.Errorf("the request lacks %s: %s", text, sent.Body)
			}
		}
	})
}

// A conversation that another model began keeps its texts and calls and loses its signatures.
func TestAConversationMovesToAnotherModel(t *testing.T) {
	first := fakemodel.New(func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
		out.Reasoning("secret thought")
		out.Text("visible")
		out.Call("read", map[string]string{"path": "a"})
	})
	for _, from := range apiModels {
		response, err := openTest(t, from.api, from.model, first).Stream(t.Context(), ask("x"), collect(new([]string)))
		if err != nil {
			t.Fatal(err)
		}
		call := response.Message.Calls()[0]
		for _, to := range apiModels {
			second := fakemodel.New(fakemodel.Say("ok"))
			r := ask("x")
			r.Messages = append(r.Messages, response.Message, model.Message{Role: model.User, Parts: []model.Part{{
				Type: model.ToolResult, Result: &model.Result{ID: call.ID, Name: call.Name, Text: "result"},
			}}})
			r.Messages[1].Origin = "other/model"
			_, err := openTest(t, to.api, to.model, second).Stream(t.Context(), r, collect(new([]string)))
			if err != nil {
				t.Fatalf("%s to %s: %v", from.api, to.api, err)
			}
			body := string(second.Requests()[0].Body)
			for text, want := range map[string]bool{
				"visible": true, "result": true, "secret thought": false, "c2VhbGVk": false,
				`"signature"`: false, "c2lnbmF0dXJl": false,
				"skip_thought_signature_validator": to.api == Google,
			} {
				if strings.Contains(body, text) != want {
					t.Errorf("%s to %s: %s in the request is %v: %s", from.api, to.api, text, !want, body)
				}
			}
		}
	}
}

func TestFailuresHaveTheirClass(t *testing.T) {
	for name, c := range map[string]struct {
		script fakemodel.Script
		class  model.Class
		after  time.Duration
		text   string // received before
	}{
		"429": {func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
			out.Header("Retry-After", "7")
			out.Fail(429, "slow down, "+testKey)
		}, model.RateLimit, 7 * time.Second, ""},
		"500":  {fail(500, "oops"), model.ServerFail, 0, ""},
		"529":  {fail(529, "overloaded"), model.Overloaded, 0, ""},
		"401":  {fail(401, "bad key "+testKey), model.Auth, 0, ""},
		"404":  {fail(404, "no such model"), model.NoModel, 0, ""},
		"400":  {fail(400, "bad field"), model.Invalid, 0, ""},
		"full": {fail(400, "prompt is too long: 9 tokens"), model.Context, 0, ""},
		"cut": {func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
			out.Text("begun")
			out.Cut()
		}, model.Cut, 0, "begun"},
		"ended early": {func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
			out.Text("begun")
			out.Stop()
		}, model.Cut, 0, "begun"},
		"malformed": {func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
			out.Text("begun")
			out.Garbage()
		}, model.Malformed, 0, "begun"},
		"error in the stream": {func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
			out.Text("begun")
			out.Break(503, "failed with "+testKey)
		}, "", 0, "begun"},
		"hung at the start": {func(ctx context.Context, _ fakemodel.Request, _ *fakemodel.Reply) {
			<-ctx.Done()
		}, model.Timeout, 0, ""},
		"hung": {func(ctx context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
			out.Text("begun")
			out.Hang(ctx)
		}, model.Timeout, 0, "begun"},
	} {
		t.Run(name, func(t *testing.T) {
			eachAPI(t, c.script, func(t *testing.T, m model.Backend, _ *fakemodel.Handler) {
				response, err := m.Stream(t.Context(), ask("x"), collect(new([]string)))
				var e *model.Error
				if !errors.As(err, &e) {
					t.Fatalf("%v", err)
				}
				if e.Class != c.class && c.class != "" || e.After != c.after || !e.Temporary() && c.class == "" {
					t.Errorf("class %s after %s: %v", e.Class, e.After, e)
				}
				if strings.Contains(err.Error(), testKey) {
					t.Errorf("the error has the key: %v", err)
				}
				if got := response.Message.Text(); got != c.text {
					t.Errorf("received %q, want %q", got, c.text)
				}
			})
		})
	}
}

func fail(status int, message string) fakemodel.Script {
	return func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) { out.Fail(status, message) }
}

func TestACanceledRequestReturnsTheErrorOfItsContext(t *testing.T) {
	script := func(ctx context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
		out.Text("begun")
		out.Hang(ctx)
	}
	eachAPI(t, script, func(t *testing.T, m model.Backend, _ *fakemodel.Handler) {
		ctx, cancel := context.WithCancel(t.Context())
		response, err := m.Stream(ctx, ask("x"), func(model.Delta) error { cancel(); return nil })
		if !errors.Is(err, context.Canceled) || response.Message.Text() != "begun" {
			t.Errorf("%q, %v", response.Message.Text(), err)
		}
	})
}

func TestAnAnswerOfFiveMegabytesIsRead(t *testing.T) {
	long := strings.Repeat("0123456789abcdef", 5<<20/16)
	eachAPI(t, fakemodel.Say("begin ", long, " end"), func(t *testing.T, m model.Backend, _ *fakemodel.Handler) {
		response, err := m.Stream(t.Context(), ask("x"), func(model.Delta) error { return nil })
		if err != nil || response.Message.Text() != "begin "+long+" end" {
			t.Errorf("%d bytes, %v", len(response.Message.Text()), err)
		}
	})
}

func TestStopsAreTold(t *testing.T) {
	for stop, want := range map[fakemodel.Stop]model.Stop{
		fakemodel.StopMaxTokens: model.StopLength, fakemodel.StopEnd: model.StopEnd,
	} {
		script := func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
			out.Text("x")
			out.End(stop)
		}
		eachAPI(t, script, func(t *testing.T, m model.Backend, _ *fakemodel.Handler) {
			response, err := m.Stream(t.Context(), ask("x"), func(model.Delta) error { return nil })
			if err != nil || response.Stop != want {
				t.Errorf("%s, %v, want %s", response.Stop, err, want)
			}
		})
	}
}

// Servers that are compatible with the Messages API may send the arguments of a call at its start,
// and one reason for all stops.
func TestCallsAtTheStartOfABlockRun(t *testing.T) {
	stream := bytesTransport(`event: message_start
data: {"type":"message_start","message":{"type":"message","role":"assistant","content":[]}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"read","input":{"path":"x"}}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}

event: message_stop
data: {"type":"message_stop"}

`)
	m := openTest(t, Anthropic, "claude-sonnet-5-5", stream)
	var texts []string
	r, err := m.Stream(t.Context(), ask("x"), collect(&texts))
	if err != nil {
		t.Fatal(err)
	}
	calls := r.Message.Calls()
	if r.Stop != model.StopCalls || len(calls) != 1 || string(calls[0].Input) != `{"path":"x"}` ||
		len(texts) != 1 || texts[0] != `read {"path":"x"}` {
		t.Errorf("%s, %+v, %q", r.Stop, calls, texts)
	}
}

// streamOf is an answer of each API with the text "ok" and, but for the Gemini API, two calls with the same id.
var streamOf = map[string][]string{
	Anthropic: {
		`{"type":"message_start","message":{"type":"message","role":"assistant","content":[]}}`,
		`{"type":"ping"}`,
		`{"type":"unknown","index":"a","message":1,"content_block":2,"delta":["ok"],"usage":"none"}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"ok"}}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"a","name":"read","input":{}}}`,
		`{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"a","name":"list","input":{}}}`,
		`{"type":"message_delta","delta":{"stop_reason":"tool_use"}}`,
		`{"type":"message_stop"}`,
	},
	OpenAI: {
		`{"type":"unknown","output_index":"a","delta":{"text":"ok"},"item":1,"response":[]}`,
		`{"type":"response.output_text.delta","output_index":0,"delta":"ok"}`,
		`{"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","call_id":"a","name":"read","arguments":"{}"}}`,
		`{"type":"response.output_item.done","output_index":2,"item":{"type":"function_call","call_id":"a","name":"list","arguments":"{}"}}`,
		`{"type":"response.completed","response":{"status":"completed"}}`,
	},
	Chat: {
		`{"choices":[{"delta":{"content":"ok"}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}}]}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"a","function":{"name":"list","arguments":"{}"}}]}}]}`,
		`{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`,
	},
	Google: {`{"candidates":[{"content":{"parts":[{"text":"ok"}]},"finishReason":"STOP"}]}`},
}

// Compatible servers send streams without event lines, and lines that end with a carriage return. Fields of an
// unknown event may have other types. Ids of calls differ in what is sent back.
func TestStreamsOfCompatibleServersAreRead(t *testing.T) {
	for _, a := range apiModels {
		for _, end := range []string{"\n", "\r\n", "\r"} {
			text := ""
			for _, data := range streamOf[a.api] {
				text += "data: " + data + end + end
			}
			r, err := openTest(t, a.api, a.model, bytesTransport(text)).Stream(t.Context(), ask("x"), ignore)
			if err != nil || r.Message.Text() != "ok" {
				t.Errorf("%s %q: %+v, %v", a.api, end, r, err)
				continue
			}
			next := ask("x")
			next.Messages = append(next.Messages, r.Message)
			for _, c := range r.Message.Calls() {
				next.Messages = append(next.Messages, model.Message{Role: model.User, Parts: []model.Part{
					{Type: model.ToolResult, Result: &model.Result{ID: c.ID, Name: c.Name, Text: "content"}},
				}})
			}
			fake := fakemodel.New(fakemodel.Say("ok"))
			if _, err := openTest(t, a.api, a.model, fake).Stream(t.Context(), next, ignore); err != nil {
				t.Fatal(err)
			}
			ids := map[string]int{}
			for _, m := range callID.FindAllStringSubmatch(string(fake.Requests()[0].Body), -1) {
				ids[m[1]]++
			}
			for id, n := range ids {
				if n != 2 {
					t.Errorf("%s: the id %s comes %d times: %s", a.api, id, n, fake.Requests()[0].Body)
				}
			}
			if a.api != Google && len(ids) != 2 {
				t.Errorf("%s: ids %v", a.api, ids)
			}
		}
	}
}

// callID matches an id of a call in a request.
var callID = regexp.MustCompile(`"(?:id|call_id|tool_use_id|tool_call_id)":"([^"]*)"`)

// An answer without a stream says so, and is tried again.
func TestAnEmptyAnswerIsReported(t *testing.T) {
	for _, a := range apiModels {
		for _, status := range []int{200, 201, 204} {
			base := answerer(func(r *http.Request) *http.Response {
				return &http.Response{
					StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: http.NoBody, Request: r,
				}
			})
			_, err := openTest(t, a.api, a.model, base).Stream(t.Context(), ask("x"), ignore)
			var e *model.Error
			if !errors.As(err, &e) || !e.Temporary() || !strings.Contains(e.Message, fmt.Sprintf("HTTP %d and no stream", status)) {
				t.Errorf("%s %d: %v", a.api, status, err)
			}
		}
	}
}

// page answers every request with a page of a proxy.
type page struct{ status int }

func (p page) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: p.status, Header: http.Header{"Content-Type": {"text/html"}, "Location": {"https://other.example"}},
		Body: io.NopCloser(strings.NewReader("<html>Log in</html>")), Request: r,
	}, nil
}

func TestAPageInsteadOfAStreamIsRefused(t *testing.T) {
	for _, a := range apiModels {
		for status, want := range map[int]string{200: "text/html", 302: "redirects"} {
			m := openTest(t, a.api, a.model, page{status})
			_, err := m.Stream(t.Context(), ask("x"), func(model.Delta) error { return nil })
			var e *model.Error
			if !errors.As(err, &e) || e.Temporary() || !strings.Contains(e.Message, want) {
				t.Errorf("%s %d: %v", a.api, status, err)
			}
		}
	}
}

// Variables of the environment that SDKs read never reach a server.
func TestCredentialsOfTheEnvironmentAreNotSent(t *testing.T) {
	for _, name := range []string{
		"OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN",
		"GEMINI_API_KEY", "GOOGLE_API_KEY",
	} {
		t.Setenv(name, "leaked-"+name)
	}
	t.Setenv("OPENAI_BASE_URL", "https://leaked.example")
	t.Setenv("ANTHROPIC_BASE_URL", "https://leaked.example")
	for _, a := range apiModels {
		fake := fakemodel.New(fakemodel.Say("ok"))
		seen := &headerRecorder{base: fake}
		m := openTest(t, a.api, a.model, seen)
		if _, err := m.Stream(t.Context(), ask("x"), func(model.Delta) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(seen.text, testKey) || strings.Contains(seen.text, "leaked") ||
			!strings.Contains(seen.text, "model.example") {
			t.Errorf("%s: %s", a.api, seen.text)
		}
	}
}

type headerRecorder struct {
	base http.RoundTripper
	text string
}

func (h *headerRecorder) RoundTrip(r *http.Request) (*http.Response, error) {
	h.text = fmt.Sprint(r.URL, r.Header)
	return h.base.RoundTrip(r)
}
