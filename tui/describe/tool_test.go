package describe

import (
	"encoding/json"
	"strings"
	"testing"

	"agentctl/protocol"
)

func TestToolTitle(t *testing.T) {
	list := `{"list":["` + strings.Repeat("x", 200) + `"],"n":1}`
	for _, c := range []struct{ name, title, input, want string }{
		{"Bash", "", `{"command":"go test"}`, "Bash go test"},
		{"Bash", "Bash", `{"command":"ls"}`, "Bash ls"},
		{"shell", "go test ./...", `{"command":"go test ./..."}`, "shell go test ./..."},
		{"read", "Read main.go", `{"path":"main.go"}`, "Read main.go"},
		{"exec", "Run", `{"command":["ls","-l"]}`, "exec Run ls -l"},
		{"weather", "", `{"city":"Ulm","days":2}`, "weather city: Ulm days: 2"},
		{"ask", "", `{"questions":[{"text":"?"}],"tags":["a"]}`, `ask questions: … tags: ["a"]`},
		{"ask", "", list, "ask list: … n: 1"},
		{"plan", "", `{"plan":"# The plan\n1. look"}`, "plan plan: # The plan …"},
		{"a\x1b[2J", "b\nc", "", "a b c"},
		{"", "", "", "tool fetch"},
	} {
		call := &protocol.ToolItem{Name: c.name, Title: c.title, Kind: "fetch", Input: json.RawMessage(c.input)}
		if got := NewToolTitle(call).String(); got != c.want {
			t.Errorf("%+v: got %q, want %q", c, got, c.want)
		}
	}
}

func TestToolTitleWhileArgumentsArrive(t *testing.T) {
	for input, want := range map[string]string{
		`{"command":"go te`:     "sh",
		`{"command":"go test"}`: "sh go test",
		`{"list":["a"]`:         "sh",
		"ls -l":                 "sh ls -l",
	} {
		call := &protocol.ToolItem{Name: "sh", InputText: protocol.Text(input)}
		if got := NewToolTitle(call).String(); got != want {
			t.Errorf("%s: got %q, want %q", input, got, want)
		}
	}
}
