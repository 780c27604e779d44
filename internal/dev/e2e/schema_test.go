package e2e

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"agentctl/protocol"
	"agentctl/wsclient"
)

// compileSchema compiles a schema of the documents.
func compileSchema(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(name, doc); err != nil {
		t.Fatal(err)
	}
	return c.MustCompile(name)
}

// Every line that a client and the server exchange is valid in the schema. The lines come from
// every command, and the events that follow.
func TestEveryLineIsValidInTheSchema(t *testing.T) {
	schema := compileSchema(t, "protocol.schema.json")
	var mu sync.Mutex
	var lines [][]byte
	record := func(o *wsclient.Options) {
		o.OnFrame = func(f wsclient.Frame) {
			mu.Lock()
			defer mu.Unlock()
			for line := range bytes.Lines(f.Data) {
				lines = append(lines, bytes.TrimSpace(line))
			}
		}
	}
	synctest.Test(t, func(t *testing.T) {
		w := newTestServer(t, commandFixtureScript...)
		s := w.newCommandFixture(t, w.create(w.client("ann")))
		s.c = w.client("bob", record)
		follower := w.client("eve", record)
		ctx, stop := context.WithCancel(t.Context())
		followed := async(func() *observer {
			return observe(ctx, follower, s.session, wsclient.SubscribeOptions{Since: logStart()},
				func(*protocol.Event) bool { return false })
		})
		list := slices.Clone(protocol.Commands)
		slices.SortStableFunc(list, func(a, b protocol.CommandType) int { // close ends the session
			return boolCompare(a.Verb == protocol.DoClose, b.Verb == protocol.DoClose)
		})
		for i := range list {
			switch list[i].Verb {
			case protocol.DoHello, protocol.DoAck, protocol.DoUnsubscribe: // sent by the client itself
				continue
			}
			cmd := s.accessCommand(&list[i])
			_ = s.c.Do(t.Context(), cmd, nil) // errors are answers too
			synctest.Wait()
		}
		stop()
		<-followed
	})
	seen := map[string]int{}
	for _, line := range lines {
		if len(line) == 0 {
			continue
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		m := v.(map[string]any)
		for _, kind := range []string{"type", "command", "result", "error"} {
			if _, ok := m[kind]; ok {
				seen[kind]++
			}
		}
		if err := schema.Validate(v); err != nil {
			t.Errorf("the schema refuses %.300s: %v", line, err)
		}
	}
	if seen["type"] < 40 || seen["command"] < 30 || seen["result"] < 20 || seen["error"] == 0 {
		t.Errorf("lines by kind: %v", seen)
	}
}

// boolCompare orders false before true.
func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
