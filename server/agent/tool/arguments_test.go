package tool

import (
	"encoding/json"
	"testing"

	"agentctl/server/agent/llm"
)

func TestArgumentsAreReadInOneWay(t *testing.T) {
	for input, want := range map[string]string{
		`{"path":"a"}`:              "",
		`{"path":"a","paht":"b"}`:   `invalid arguments: unknown field "paht"`,
		`{"Path":"a"}`:              `invalid arguments: unknown field "Path"`,
		`{"path":"a","path":"b"}`:   `invalid arguments: duplicate field "path"`,
		`{"path":7}`:                "invalid arguments: path: number is not a string",
		`{"path":"a"} {"path":"b"}`: "invalid arguments: more than one JSON value on a line",
	} {
		got := ""
		in, err := arguments[struct {
			Path string `json:"path"`
		}](&llm.ToolCall{Input: json.RawMessage(input)})
		if err != nil {
			got = err.Error()
		}
		if got != want || err == nil && in.Path != "a" {
			t.Errorf("%s: %q, want %q", input, got, want)
		}
	}
}
