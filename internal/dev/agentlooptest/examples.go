package agentlooptest

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"strings"
	"testing"
)

//go:embed testdata/examples.json
var examplesJSON []byte

// Examples returns the JSON examples of AgentLoop's document, in order.
func Examples(t testing.TB) (list []json.RawMessage) {
	if err := json.Unmarshal(examplesJSON, &list); err != nil {
		t.Fatal(err)
	}
	for i := range list {
		var b bytes.Buffer
		if err := json.Compact(&b, list[i]); err != nil {
			t.Fatal(err)
		}
		list[i] = b.Bytes()
	}
	return list
}

// Seeds adds frames; a fuzzed input is frames, one a line.
func Seeds(f *testing.F) {
	var all [][]byte
	for _, e := range Examples(f) {
		f.Add([]byte(e))
		all = append(all, e)
	}
	f.Add(bytes.Join(all, []byte("\n")))
	f.Add([]byte(strings.Repeat("[", 5000)))
	f.Add([]byte(`{"id":"1","type":"response_item","payload":{"type":"reasoning","duration_ms":1e300}}`))
	f.Add([]byte(Loads(true) + "\n" + Request + "\n" + Request + "\n" + Loads(false)))
	f.Add([]byte("{\"id\":\"1\",\"type\":\"\xff\"}"))
	echo := Response(`{"type":"message","role":"user","content":"x"}`)
	says := Response(`{"id":"p","type":"message","role":"assistant","content":"hé"}`)
	call := Response(`{"type":"local_shell_call","id":"s","action":{"command":["ls"]}}`)
	f.Add([]byte(strings.Join([]string{
		Loads(true), echo, says, Request, call, says, Loads(true), echo, says, call,
		says, says, Request, Loads(true),
	}, "\n")))
	f.Add([]byte(strings.Join([]string{Loads(true), echo, Request, call, call, says, says, Request, Loads(false)},
		"\n")))
}
