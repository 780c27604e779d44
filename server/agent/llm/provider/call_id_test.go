package provider

import (
	"encoding/json"
	"strings"
	"testing"

	"agentctl/internal/dev/fakemodel"
	"agentctl/server/agent/llm/model"
)

// The ids of calls that another server made may be of a form that an API refuses, and may repeat.
func TestCallsOfOtherServersGetIDsThatEveryAPITakes(t *testing.T) {
	long := "functions.read:0__thought__" + strings.Repeat("x", 80)
	assistant := func(origin, id string) model.Message {
		return model.Message{Role: model.Assistant, Origin: origin, Parts: []model.Part{
			{Type: model.Text, Text: "\n\n"},
			{Type: model.ToolCall, Call: &model.Call{ID: id, Name: "read", Input: json.RawMessage("{}")}},
		}}
	}
	result := func(id string) model.Message {
		return model.Message{Role: model.User, Parts: []model.Part{
			{Type: model.ToolResult, Result: &model.Result{ID: id, Name: "read", Text: "content"}},
		}}
	}
	for _, a := range apiModels[:2] { // of OpenAI and Anthropic
		r := ask("x")
		own := "test/" + a.model
		r.Messages = append(r.Messages, assistant("other/m", long), result(long))
		r.Messages = append(r.Messages, assistant("other/m", long), result(long), assistant(own, "own"), result("own"))
		fake := fakemodel.New(fakemodel.Say("ok"))
		if _, err := openTest(t, a.api, a.model, fake).Stream(t.Context(), r, collect(new([]string))); err != nil {
			t.Fatal(err)
		}
		body := string(fake.Requests()[0].Body)
		for text, want := range map[string]int{
			"functions.": 0, `"call-0"`: 2, `"call-1"`: 2, `"call-2"`: 0, `"own"`: 2,
		} {
			if got := strings.Count(body, text); got != want {
				t.Errorf("%s: %s comes %d times, want %d: %s", a.api, text, got, want, body)
			}
		}
		if a.api == Anthropic && strings.Contains(body, `"text":"\n\n"`) {
			t.Errorf("a text of spaces is sent: %s", body)
		}
		if r.Messages[1].Calls()[0].ID != long {
			t.Error("the conversation was changed")
		}
	}
}
