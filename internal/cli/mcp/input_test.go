package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"agentctl/internal/cli/verb"
	"agentctl/internal/output"
)

func TestALineThatIsNoMessageIsAnsweredAndTheNextIsRead(t *testing.T) {
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for name, c := range map[string]struct {
		in     string
		passed string
		code   int
		id     any
	}{
		"rubbish":     {"hello\n", "", jsonrpc.CodeParseError, nil},
		"half a line": {"{\"jsonrpc\":\n", "", jsonrpc.CodeParseError, nil},
		"two values":  {ping + ping + "\n", "", jsonrpc.CodeParseError, nil},
		"too long":    {strings.Repeat("x", maxMCPMessage+2) + "\n", "", jsonrpc.CodeParseError, nil},
		"too deep": {
			strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + "\n", "", jsonrpc.CodeParseError, nil,
		},
		"a number":      {"7\n", "", jsonrpc.CodeInvalidRequest, nil},
		"no version":    {`{"id":4,"method":"ping"}` + "\n", "", jsonrpc.CodeInvalidRequest, 4.0},
		"wrong id":      {`{"jsonrpc":"2.0","id":{},"method":"ping"}` + "\n", "", jsonrpc.CodeInvalidRequest, nil},
		"empty batch":   {"[]\n", "", jsonrpc.CodeInvalidRequest, nil},
		"wrong batch":   {"[" + ping + ",2]\n", ping + "\n", jsonrpc.CodeInvalidRequest, nil},
		"batch":         {"[" + ping + "," + ping + "]\n", ping + "\n" + ping + "\n", 0, nil},
		"empty lines":   {"\r\n\n", "", 0, nil},
		"a long string": {`{"jsonrpc":"2.0","method":"` + strings.Repeat("x", 1<<17) + `"}` + "\r\n", "", 0, nil},
	} {
		if name == "a long string" {
			c.passed = strings.TrimSpace(c.in) + "\n"
		}
		var out bytes.Buffer
		got, err := io.ReadAll(newMCPInput(iotest.OneByteReader(strings.NewReader(c.in+ping)), &out))
		if err != nil || string(got) != c.passed+ping+"\n" {
			t.Errorf("%s: passes %.200q, %v", name, got, err)
		}
		var answer struct {
			ID    any
			Error struct{ Code int }
		}
		if out.Len() > 0 {
			if err := json.Unmarshal(out.Bytes(), &answer); err != nil {
				t.Errorf("%s: answers %.200q: %v", name, out.String(), err)
			}
		}
		if answer.Error.Code != c.code || answer.ID != c.id {
			t.Errorf("%s: answers %.200q", name, out.String())
		}
	}
}

func TestTheMCPServerGoesOnAfterALineThatIsNoMessage(t *testing.T) {
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := runMCP(t.Context(), &mcpOptions{verb.Options{CLI: &verb.Context{Stdin: in, Out: output.Printer{Stdout: out, Stderr: io.Discard}}}})
		_ = out.CloseWithError(err)
		done <- err
	}()
	lines := bufio.NewScanner(fromServer)
	for _, step := range []struct{ send, want string }{
		{"this is no message", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,`},
		{
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
				`"capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`,
			`"serverInfo":{"name":"agentctl"`,
		},
		{`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" + `{"id":`, `"code":-32700,`},
		{`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, `"name":"send"`},
	} {
		if _, err := io.WriteString(toServer, step.send+"\n"); err != nil {
			t.Fatal(err)
		}
		if !lines.Scan() || !strings.Contains(lines.Text(), step.want) {
			t.Fatalf("%s: %s, %v", step.send, lines.Text(), lines.Err())
		}
	}
	if err := toServer.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}
