package provider

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"agentctl/server/agent/llm/model"
)

// frames returns a stream of these events.
func frames(events ...string) bytesTransport {
	return bytesTransport("data: " + strings.Join(events, "\n\ndata: ") + "\n\n")
}

// Every value that an answer is made of is read from its field.
func TestEveryFieldOfAnAnswerIsRead(t *testing.T) {
	for _, c := range []struct{ api, model, want, raw string }{
		{Anthropic, "claude-sonnet-5-5", `reasoning "ab" text "cd" opaque "" call "" call_1 read {"path":"x"}` +
			` {Input:17 Cached:3 Written:4 Output:9 Reasoning:0} calls`, `"signature":"s1s2"`},
		{OpenAI, "gpt-5.5", "reasoning \"a\\n\\nb\" text \"cd\" reasoning \"e\\n\\nf\" reasoning \"g\" call \"\" call_1 read {\"path\":\"x\"}" +
			` {Input:10 Cached:3 Written:0 Output:9 Reasoning:5} calls`, `"encrypted_content":"s1"`},
	} {
		stream := map[string]bytesTransport{
			Anthropic: frames(
				`{"type":"message_start","message":{"usage":{"input_tokens":10,"cache_read_input_tokens":3,"cache_creation_input_tokens":4}}}`,
				`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"a","signature":"s1"}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"b"}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s2"}}`,
				`{"type":"content_block_stop","index":0}`,
				`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"c"}}`,
				`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"d"}}`,
				`{"type":"content_block_start","index":2,"content_block":{"type":"redacted_thinking","data":"s3"}}`,
				`{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"call_1","name":"read","input":{}}}`,
				`{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"path\":\"x\"}"}}`,
				`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}`,
				`{"type":"message_stop"}`,
			),
			OpenAI: frames(
				`{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"a"}`,
				`{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":1,"delta":"b"}`,
				`{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","encrypted_content":"s1"}}`,
				`{"type":"response.output_item.done","output_index":1,"item":{"type":"message","content":[{"text":"c"},{"refusal":"d"}]}}`,
				`{"type":"response.output_item.done","output_index":2,"item":{"type":"reasoning","summary":[{"text":"e\n\n"},{"text":"f"}]}}`,
				`{"type":"response.reasoning_text.delta","output_index":3,"delta":"g"}`,
				`{"type":"response.output_item.done","output_index":4,"item":{"type":"function_call","call_id":"call_1","name":"read","arguments":"{\"path\":\"x\"}"}}`,
				`{"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":10,"output_tokens":9,`+
					`"input_tokens_details":{"cached_tokens":3},"output_tokens_details":{"reasoning_tokens":5}}}}`,
			),
		}[c.api]
		r, err := openTest(t, c.api, c.model, stream).Stream(t.Context(), ask("x"), ignore)
		if err != nil {
			t.Fatalf("%s: %v", c.api, err)
		}
		var got strings.Builder
		for _, p := range r.Message.Parts {
			fmt.Fprintf(&got, "%s %q ", p.Type, p.Text)
			if p.Call != nil {
				fmt.Fprintf(&got, "%s %s %s ", p.Call.ID, p.Call.Name, p.Call.Input)
			}
		}
		fmt.Fprintf(&got, "%+v %s", r.Usage, r.Stop)
		if got.String() != c.want || !strings.Contains(string(r.Message.Parts[0].Raw), c.raw) {
			t.Errorf("%s: %s, sent back as %s", c.api, got.String(), r.Message.Parts[0].Raw)
		}
	}
}

func TestEveryStopOfAnAnswerIsRead(t *testing.T) {
	delta := `{"type":"message_delta","delta":{"stop_reason":%q}}`
	response := `{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":%q}}}`
	for _, c := range []struct {
		api, event, reason string
		want               model.Stop
	}{
		{Anthropic, delta, "end_turn", model.StopEnd},
		{Anthropic, delta, "max_tokens", model.StopLength},
		{Anthropic, delta, "pause_turn", model.StopPause},
		{Anthropic, delta, "refusal", model.StopRefusal},
		{Anthropic, delta, "model_context_window_exceeded", model.StopContext},
		{OpenAI, response, "max_output_tokens", model.StopLength},
		{OpenAI, response, "content_filter", model.StopRefusal},
	} {
		stream := frames(fmt.Sprintf(c.event, c.reason), `{"type":"message_stop"}`)
		r, err := openTest(t, c.api, "m", stream).Stream(t.Context(), ask("x"), ignore)
		if err != nil || r.Stop != c.want {
			t.Errorf("%s %s: %s, %v", c.api, c.reason, r.Stop, err)
		}
	}
	failed := frames(`{"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded","message":"slow down"}}}`)
	_, err := openTest(t, OpenAI, "m", failed).Stream(t.Context(), ask("x"), ignore)
	if e, ok := errors.AsType[*model.Error](err); !ok || e.Class != model.RateLimit || e.Message != "slow down" {
		t.Errorf("a failed response: %v", err)
	}
}
