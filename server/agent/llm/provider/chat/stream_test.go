package chat

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"agentctl/server/agent/llm/model"
	"agentctl/server/agent/llm/sse"
)

// Any stream is decoded or refused. The deltas are the texts of the answer, and the arguments of
// calls are objects.
func FuzzDecoder(f *testing.F) {
	f.Add([]byte(`data: {"choices":[{"delta":{"content":"<think>a</think>b"}}]}` + "\n\ndata: [DONE]\n\n"))
	f.Add([]byte(`data: {"choices":[{"delta":{"tool_calls":[{"function":{"name":"x","arguments":{}}}]}}]}` + "\n\n"))
	f.Add([]byte(`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"x"}},{"index":0}]}}]}` + "\n"))
	f.Add([]byte(`data: {"error":null,"choices":[{"finish_reason":"stop"}],"usage":{"total_tokens":3}}` + "\n\n"))
	f.Add([]byte(`data: {"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"a"}]}]}}]}` + "\n"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		var shown strings.Builder
		d := API.NewDecoder(model.NewBuilder("test/m", func(delta model.Delta) error {
			if delta.Type == model.Text {
				shown.WriteString(delta.Text)
			}
			return nil
		}))
		events := sse.NewReader(bytes.NewReader(stream))
		for {
			data, err := events.Next()
			if err == nil {
				err = d.Decode(data)
			}
			if err != nil {
				break
			}
		}
		message := d.Result().Message
		if shown.String() != message.Text() {
			t.Errorf("shown %q, recorded %q", shown.String(), message.Text())
		}
		for _, c := range message.Calls() {
			var object map[string]any
			if json.Unmarshal(c.Input, &object) != nil || object == nil {
				t.Errorf("arguments %s", c.Input)
			}
		}
		m := API.NewModel(nil, "https://x/", "m", "test/m")
		if _, err := json.Marshal(encode(m, &model.Request{Messages: []model.Message{message}})); err != nil {
			t.Errorf("sent back: %v", err)
		}
	})
}

// decodeAll decodes the data of events.
func decodeAll(t *testing.T, events ...string) *model.Response {
	t.Helper()
	d := API.NewDecoder(model.NewBuilder("test/m", func(model.Delta) error { return nil }))
	for _, e := range events {
		if err := d.Decode([]byte(e)); err != nil {
			t.Fatalf("%s: %v", e, err)
		}
	}
	return d.Result()
}

func chunkOf(fields string) string { return `{"choices":[{"delta":{` + fields + `}}]}` }

func finished(reason string) string {
	return `{"choices":[{"delta":{},"finish_reason":"` + reason + `"}]}`
}

// The deviations of compatible servers.
func TestDeviationsAreDecoded(t *testing.T) {
	const stop = `{"choices":[{"delta":{},"finish_reason":"stop"}]}`
	for name, c := range map[string]struct {
		events          []string
		text, reasoning string
		calls           string
	}{
		"calls in pieces by index": {events: []string{
			chunkOf(`"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}},{"index":1,"id":"b","function":{"name":"g","arguments":"{"}}]`),
			chunkOf(`"tool_calls":[{"index":1,"function":{"arguments":"\"x\":1}"}}]`),
			chunkOf(`"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]`), stop,
		}, calls: `a f {} b g {"x":1}`},
		"no index": {events: []string{
			chunkOf(`"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]`),
			chunkOf(`"tool_calls":[{"id":"b","function":{"name":"f","arguments":"{\"y\":2}"}}]`), stop,
		}, calls: `a f {} b f {"y":2}`},
		"index always 0": {events: []string{
			chunkOf(`"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]`),
			chunkOf(`"tool_calls":[{"index":0,"id":"b","function":{"name":"g","arguments":"{}"}}]`), stop,
		}, calls: `a f {} b g {}`},
		"neither id nor index": {events: []string{
			chunkOf(`"tool_calls":[{"function":{"name":"f","arguments":{"z":1}}}]`),
			chunkOf(`"tool_calls":[{"function":{"name":"g","arguments":"{}"}}]`), stop,
		}, calls: `call-0 f {"z":1} call-1 g {}`},
		"name repeated": {events: []string{
			chunkOf(`"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}]`),
			chunkOf(`"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":":1}"}}]`), stop,
		}, calls: `a f {"x":1}`},
		"one id, several indexes": {events: []string{
			chunkOf(`"tool_calls":[{"index":0,"id":"f","function":{"name":"f","arguments":"{\"x\""}}]`),
			chunkOf(`"tool_calls":[{"index":0,"id":"f","function":{"name":"f","arguments":":1}"}}]`),
			chunkOf(`"tool_calls":[{"index":1,"id":"f","function":{"name":"f","arguments":"{\"x\":2}"}}]`), stop,
		}, calls: `f f {"x":1} call-1 f {"x":2}`},
		"one id, one index": {events: []string{
			chunkOf(`"tool_calls":[{"index":0,"id":"f","function":{"name":"f","arguments":"{\"x\":1}"}}]`),
			chunkOf(`"tool_calls":[{"index":0,"id":"f","function":{"name":"f","arguments":""}}]`),
			chunkOf(`"tool_calls":[{"index":0,"id":"f","function":{"name":"f","arguments":"{\"x\":2}"}}]`), stop,
		}, calls: `f f {"x":1} call-1 f {"x":2}`},
		"another id with each piece": {events: []string{
			chunkOf(`"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}]`),
			chunkOf(`"tool_calls":[{"index":0,"id":"b","function":{"name":null,"arguments":":1}"}}]`), stop,
		}, calls: `a f {"x":1}`},
		"content of Mistral": {events: []string{
			chunkOf(`"content":[{"type":"thinking","thinking":[{"type":"text","text":"a b"}]}]`),
			chunkOf(`"content":[{"type":"text","text":"ans"},{"type":"reference","reference_ids":[1]}]`),
			chunkOf(`"content":"wer"`), stop,
		}, text: "answer", reasoning: "a b"},
		"think in the content": {events: []string{
			chunkOf(`"content":"\n<th"`), chunkOf(`"content":"ink>a b</t"`),
			chunkOf(`"content":"hink>\n\nans"`), chunkOf(`"content":"wer"`), stop,
		}, text: "answer", reasoning: "a b"},
		"no think": {events: []string{
			chunkOf(`"content":"<"`), chunkOf(`"content":"b> text"`), stop,
		}, text: "<b> text"},
		"reasoning of vLLM": {events: []string{
			chunkOf(`"reasoning":"r","content":null`), chunkOf(`"content":"t"`), stop,
		}, text: "t", reasoning: "r"},
		"finish twice, usage beside choices": {events: []string{
			`{"choices":[{"delta":{"content":"t"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}`, stop,
		}, text: "t"},
	} {
		r := decodeAll(t, c.events...)
		reasoning := ""
		for _, p := range r.Message.Parts {
			if p.Type == model.Reasoning {
				reasoning += p.Text
			}
		}
		var calls []string
		for _, x := range r.Message.Calls() {
			calls = append(calls, x.ID, x.Name, string(x.Input))
		}
		want := model.StopEnd
		if c.calls != "" {
			want = model.StopCalls
		}
		if r.Message.Text() != c.text || reasoning != c.reasoning || strings.Join(calls, " ") != c.calls ||
			r.Stop != want {
			t.Errorf("%s: text %q, reasoning %q, calls %q, stop %s", name, r.Message.Text(), reasoning, calls, r.Stop)
		}
	}
}

// A failure reported without the field error is still an error: the text before it is not a
// complete answer.
func TestFailuresOfCompatibleServersAreErrors(t *testing.T) {
	for text, want := range map[string]model.Class{
		`{"object":"error","message":"engine died","code":500}`:                        model.ServerFail,
		`{"object":"error","message":"maximum context length is 9 tokens","code":400}`: model.Context,
		finished("error"):                        model.ServerFail,
		finished("abort"):                        model.ServerFail,
		finished("insufficient_system_resource"): model.ServerFail,
	} {
		d := API.NewDecoder(model.NewBuilder("test/m", func(model.Delta) error { return nil }))
		if err := d.Decode([]byte(chunkOf(`"content":"begun"`))); err != nil {
			t.Fatal(err)
		}
		var e *model.Error
		if err := d.Decode([]byte(text)); !errors.As(err, &e) || e.Class != want {
			t.Errorf("%s: %v", text, err)
		}
		if got := d.Result().Message.Text(); got != "begun" {
			t.Errorf("%s: received %q", text, got)
		}
	}
}

func TestReasoningIsCountedOnceAsOutput(t *testing.T) {
	for text, want := range map[string]int64{
		`{"prompt_tokens":10,"completion_tokens":7,"total_tokens":17,"completion_tokens_details":{"reasoning_tokens":5}}`: 7,
		`{"prompt_tokens":10,"completion_tokens":7,"total_tokens":22,"completion_tokens_details":{"reasoning_tokens":5}}`: 12,
	} {
		r := decodeAll(t, `{"choices":[],"usage":`+text+`}`)
		if r.Usage.Output != want || r.Usage.Reasoning != 5 {
			t.Errorf("%s: %+v", text, r.Usage)
		}
	}
}

// OpenRouter wants its details back unmodified.
func TestReasoningDetailsReturn(t *testing.T) {
	const details = `{"type":"reasoning.encrypted","data":"x y","index":0}`
	r := decodeAll(t, chunkOf(`"reasoning":"r","reasoning_details":[`+details+`]`), chunkOf(`"content":"t"`))
	m := API.NewModel(nil, "https://x/", "m", "test/m")
	b, err := json.Marshal(encode(m, &model.Request{Messages: []model.Message{r.Message}}))
	if err != nil || !bytes.Contains(b, []byte(`"reasoning_details":[`+details+`]`)) {
		t.Errorf("%s, %v", b, err)
	}
}
