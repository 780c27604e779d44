package tool

import (
	"encoding/json"
	"strings"
	"testing"

	"agentctl/server/agent/llm"
)

// Every tool with arguments refuses unknown ones, names those that exist, and writes no Go text.
func TestEveryToolNamesItsFields(t *testing.T) {
	box := newRig(t, nil).Toolbox
	for _, tool := range box.Tools() {
		_, err := tool.Preview(t.Context(), &llm.ToolCall{Input: json.RawMessage(`{"no_such":1}`)})
		if err == nil || !strings.Contains(err.Error(), `the call has no field "no_such": it has the fields `) {
			t.Errorf("%s: %v", tool.Name, err)
		}
	}
}

// A command that comes as a list of words under another name is shown, judged and run as the same line.
func TestAListOfWordsIsShownAsItRuns(t *testing.T) {
	b := newRig(t, nil)
	c := &llm.ToolCall{Input: json.RawMessage(`{"cmd":["printf","%s|","a b","it's","$HOME","*",""],"timeout_ms":"5000"}`)}
	tool := b.shell()
	p, err := tool.Preview(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	const line = `printf '%s|' 'a b' 'it'\''s' '$HOME' '*' ''`
	if p.Title != line || p.Request.Command != line {
		t.Errorf("shown is %q, judged %q", p.Title, p.Request.Command)
	}
	var input map[string]any
	if err := json.Unmarshal(c.Input, &input); err != nil || input["command"] != line || input["timeout_ms"] != 5000.0 {
		t.Errorf("the arguments are %s", c.Input)
	}
	r, err := p.Run(t.Context(), func(string) {})
	if err != nil || r.Text != "a b|it's|$HOME|*||" {
		t.Errorf("%q, %v", r.Text, err)
	}
}
