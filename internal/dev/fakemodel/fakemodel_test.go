package fakemodel

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// apiForms has a request for each API, with a tool and the result of an earlier call at the end.
var apiForms = []struct {
	api          API
	path, body   string
	once         string // path of a request without streaming; "" if the body selects it
	text, reason string // fields of text and reasoning in the stream
	tool, finish string
}{
	{
		api: Chat, path: "/v1/chat/completions",
		body: `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[
			{"role":"system","content":"be brief"},{"role":"user","content":[{"type":"text","text":"hi"}]},
			{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"bash","arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"a","content":"done"}],"tools":[{"type":"function","function":{"name":"bash"}}]}`,
		text: `"content":"`, reason: `"reasoning_content":"why"`, tool: `"arguments":"{\"command\":\"ls\"}"`,
		finish: `"finish_reason":"tool_calls"`,
	},
	{
		api: Responses, path: "/v1/responses",
		body: `{"model":"m","stream":true,"instructions":"be brief","input":[{"role":"user","content":[{"type":"input_text","text":"hi"}]},
			{"type":"function_call","name":"bash","call_id":"a","arguments":"{}"},
			{"type":"function_call_output","call_id":"a","output":"done"}],"tools":[{"type":"function","name":"bash"}]}`,
		text: `"delta":"`, reason: `"delta":"why"`, tool: `"arguments":"{\"command\":\"ls\"}"`,
		finish: `"type":"response.completed"`,
	},
	{
		api: Messages, path: "/v1/messages",
		body: `{"model":"m","stream":true,"system":"be brief","messages":[{"role":"user","content":"hi"},
			{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"bash","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"done"}]}],"tools":[{"name":"bash"}]}`,
		text: `"text":"`, reason: `"thinking":"why"`, tool: `"partial_json":"{\"command\":\"ls\"}"`,
		finish: `"stop_reason":"tool_use"`,
	},
	{
		api: Gemini, path: "/v1beta/models/m:streamGenerateContent", once: "/v1beta/models/m:generateContent",
		body: `{"systemInstruction":{"parts":[{"text":"be brief"}]},"contents":[{"role":"user","parts":[{"text":"hi"}]},
			{"role":"model","parts":[{"functionCall":{"name":"bash","args":{}}}]},
			{"role":"user","parts":[{"functionResponse":{"name":"bash","response":{"output":"done"}}}]}],
			"tools":[{"functionDeclarations":[{"name":"bash"}]}]}`,
		text: `"text":"`, reason: `"thought":true`, tool: `"args":{"command":"ls"}`, finish: `"finishReason":"STOP"`,
	},
}

func serve(t *testing.T, s Script) (*Handler, string) {
	t.Helper()
	h := New(s)
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	return h, srv.URL
}

func post(t *testing.T, url, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

func replyWithAll(_ context.Context, _ Request, out *Reply) {
	out.Reasoning("why")
	out.Text("one ")
	out.Text("two")
	out.Call("bash", obj{"command": "ls"})
}

func TestEveryAPIDecodesTheRequestAndStreamsTheReply(t *testing.T) {
	for _, f := range apiForms {
		t.Run(string(f.api), func(t *testing.T) {
			h, url := serve(t, replyWithAll)
			_, body := post(t, url+f.path, f.body)
			for _, want := range []string{f.text + `one "`, f.text + `two"`, f.reason, f.tool, f.finish} {
				if !strings.Contains(body, want) {
					t.Errorf("%s missing in stream:\n%s", want, body)
				}
			}
			for line := range strings.Lines(body) {
				data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
				if ok && data != "[DONE]" && !json.Valid([]byte(data)) {
					t.Errorf("not JSON: %s", data)
				}
			}
			req := h.Requests()[0]
			result, ended := req.ToolResult()
			if req.API != f.api || req.Model != "m" || !req.Stream || req.System != "be brief" ||
				req.LastUser() != "hi" ||
				!req.Offers("bash") || req.Offers("edit") || !ended || !strings.Contains(result, "done") {
				t.Errorf("decoded request %+v", req)
			}
		})
	}
}

func TestACustomToolIsCalledWithAText(t *testing.T) {
	h, url := serve(t, func(_ context.Context, _ Request, out *Reply) { out.Call("patch", "*** Begin") })
	const body = `{"model":"m","stream":true,"input":[{"type":"custom_tool_call","name":"patch","call_id":"a","input":"x"},
		{"type":"custom_tool_call_output","call_id":"a","output":"done"}],"tools":[{"type":"custom","name":"patch"}]}`
	for _, request := range []string{body, strings.Replace(body, `"stream":true,`, "", 1)} {
		_, reply := post(t, url+"/v1/responses", request)
		if !strings.Contains(reply, `"custom_tool_call"`) || !strings.Contains(reply, `"input":"*** Begin"`) {
			t.Errorf("got %s", reply)
		}
	}
	if result, ended := h.Requests()[0].ToolResult(); !ended || result != "done" {
		t.Errorf("tool result %q, %v", result, ended)
	}
}

func TestAToolOfANamespaceIsCalledAndAgentsAreUsers(t *testing.T) {
	h, url := serve(t, func(_ context.Context, _ Request, out *Reply) { out.Call("spawn", struct{}{}) })
	const body = `{"model":"m","stream":true,"input":[{"type":"agent_message","content":[
		{"type":"input_text","text":"Task:"},{"type":"encrypted_content","encrypted_content":"count"}]}],
		"tools":[{"type":"namespace","name":"team","tools":[{"type":"function","name":"spawn"}]}]}`
	for _, request := range []string{body, strings.Replace(body, `"stream":true,`, "", 1)} {
		if _, reply := post(t, url+"/v1/responses", request); !strings.Contains(reply, `"namespace":"team"`) {
			t.Errorf("got %s", reply)
		}
	}
	if r := h.Requests()[0]; r.LastUser() != "Task:\ncount" || !r.Offers("spawn") || r.Offers("team") {
		t.Errorf("decoded %+v", r)
	}
}

func TestRequestsHaveTheTokensThatTheirAnswersReported(t *testing.T) {
	h, url := serve(t, Turns(replyWithAll, func(_ context.Context, _ Request, out *Reply) { out.Fail(400, "no") }))
	_, body := post(t, url+apiForms[0].path, apiForms[0].body)
	post(t, url+apiForms[0].path, apiForms[0].body)
	first, failed := h.Requests()[0], h.Requests()[1]
	want := fmt.Sprintf(`"completion_tokens":%d,"prompt_tokens":%d,`, first.Output, first.Input)
	if first.Input == 0 || first.Output == 0 || !strings.Contains(body, want) {
		t.Errorf("%s missing in %s", want, body)
	}
	if failed.Input != 0 || failed.Output != 0 {
		t.Errorf("a failure counted %d and %d tokens", failed.Input, failed.Output)
	}
}

func TestEveryAPIAnswersWithoutStreaming(t *testing.T) {
	for _, f := range apiForms {
		t.Run(string(f.api), func(t *testing.T) {
			_, url := serve(t, replyWithAll)
			path := f.path
			if f.once != "" {
				path = f.once
			}
			_, body := post(t, url+path, strings.Replace(f.body, `"stream":true,`, "", 1))
			if !json.Valid([]byte(body)) || !strings.Contains(body, "one two") || !strings.Contains(body, "why") ||
				!strings.Contains(body, "bash") {
				t.Errorf("got %s", body)
			}
		})
	}
}

func TestEveryAPIHasItsOwnErrorForm(t *testing.T) {
	for _, f := range apiForms {
		t.Run(string(f.api), func(t *testing.T) {
			_, url := serve(t, func(_ context.Context, _ Request, out *Reply) { out.Fail(429, "slow down") })
			status, body := post(t, url+f.path, f.body)
			if status != 429 || !strings.Contains(body, `"error"`) || !strings.Contains(body, "slow down") {
				t.Errorf("got %d %s", status, body)
			}
		})
	}
}

func TestIDsDifferBetweenReplies(t *testing.T) {
	id := regexp.MustCompile(`"(?:id|responseId)":"((?:chatcmpl|resp|msg)_fake_\d+)"`)
	for _, f := range apiForms {
		t.Run(string(f.api), func(t *testing.T) {
			_, url := serve(t, Say("one"))
			var ids []string
			for range 2 {
				_, body := post(t, url+f.path, f.body)
				found := id.FindStringSubmatch(body)
				if found == nil {
					t.Fatalf("no id in %s", body)
				}
				ids = append(ids, found[1])
			}
			if ids[0] == ids[1] {
				t.Errorf("both replies have the id %s", ids[0])
			}
		})
	}
}

func TestRemindersAreNoTextOfTheUser(t *testing.T) {
	const (
		before = `{"type":"text","text":"<system-reminder>\nbe\nkind\n</system-reminder>"}`
		after  = `{"type":"text","text":"<system-reminder>be brief</system-reminder>\n"}`
	)
	h, url := serve(t, Say("yes"))
	post(t, url+"/v1/chat/completions", `{"messages":[{"role":"user","content":[`+before+`,
		{"type":"text","text":"do it\n"},`+after+`]}]}`)
	post(t, url+"/v1/messages", `{"messages":[{"role":"user","content":"do it"},
		{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"bash","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"done"},`+after+`]},
		{"role":"system","content":"today is Monday"}]}`)
	first, second := h.Requests()[0], h.Requests()[1]
	if got := first.LastUser(); got != "do it" {
		t.Errorf("user text %q", got)
	}
	if got, ended := second.ToolResult(); !ended || got != "done" {
		t.Errorf("tool result %q, %v", got, ended)
	}
	if got := second.LastUser(); got != "do it" || second.System != "today is Monday" {
		t.Errorf("user text %q, system %q", got, second.System)
	}
}

func TestRepeatEndsWithTheRequest(t *testing.T) {
	ended := make(chan struct{})
	_, url := serve(t, func(ctx context.Context, _ Request, out *Reply) {
		out.Repeat(ctx, "drop ", time.Millisecond)
		close(ended)
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+apiForms[0].path,
		strings.NewReader(apiForms[0].body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for drops := 0; drops < 3 && lines.Scan(); {
		if strings.Contains(lines.Text(), "drop") {
			drops++
		}
	}
	cancel()
	<-ended
}

func TestTurnsRepeatsTheLastScript(t *testing.T) {
	_, url := serve(t, Turns(Say("first"), Say("last")))
	for _, want := range []string{"first", "last", "last"} {
		if _, body := post(t, url+apiForms[0].path, apiForms[0].body); !strings.Contains(body, want) {
			t.Errorf("want %s in %s", want, body)
		}
	}
}

func TestCutBreaksTheConnection(t *testing.T) {
	_, url := serve(t, func(_ context.Context, _ Request, out *Reply) {
		out.Text("half")
		out.Cut()
	})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+apiForms[0].path,
		strings.NewReader(apiForms[0].body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.ReadAll(resp.Body); err == nil {
		t.Error("no error after an aborted connection")
	}
}

func FuzzDecode(f *testing.F) {
	for _, form := range apiForms {
		f.Add(form.path, []byte(form.body))
	}
	f.Fuzz(func(t *testing.T, path string, body []byte) {
		req, enc, err := decode(path, body)
		if err == nil && enc != nil {
			req.ToolResult()
			req.LastUser()
		}
	})
}
