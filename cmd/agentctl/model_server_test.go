package main

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"agentctl/internal/dev/fakemodel"
)

// cmdModelServer starts a model provider and sets a variable to its URL: modelserver NAME. A
// message with "hang" is answered in part, one with "refuse" with an error that repeats the key.
func cmdModelServer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: modelserver NAME")
	}
	server := httptest.NewServer(fakemodel.New(func(ctx context.Context, r fakemodel.Request, out *fakemodel.Reply) {
		text := r.LastUser()
		if result, ok := r.ToolResult(); ok {
			out.Text("result: " + result)
			return
		}
		if call, ok := strings.CutPrefix(text, "call "); ok && !strings.Contains(text, "explain it") {
			name, input, _ := strings.Cut(call, " ")
			out.Call(name, json.RawMessage(input))
			return
		}
		switch {
		case strings.Contains(text, "hang"):
			out.Text("half an answer")
			out.Hang(ctx)
		case strings.Contains(text, "refuse"):
			out.Fail(401, "the key k-secret-0123456789 is wrong")
		default:
			out.Reasoning("thinking")
			out.Text(r.Model + " heard: " + text)
		}
	}))
	ts.Defer(func() {
		server.CloseClientConnections() // of an answer that hangs
		server.Close()
	})
	ts.Setenv(args[0], server.URL)
}
