package acp

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"agentctl/protocol"
)

// toolUpdates are updates in the form that agents send.
var toolUpdates = []string{
	`"sessionUpdate":"tool_call","toolCallId":"c1","title":"go test","kind":"execute","status":"pending",` +
		`"locations":[{"path":"/a","line":3}],"rawInput":{"command":"go \"test\"","n":[1,{"a":"}]"}]}`,
	`"_meta":{"claudeCode":{"toolName":"Bash","parentToolUseId":"p"}},"toolCallId":"c1","sessionUpdate":"tool_call",` +
		`"name":"Bash","rawInput":{},"status":null,"title":"","kind":7,"content":[]`,
	`"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed","rawOutput":{"exitCode":0},` +
		`"content":[{"type":"content","content":{"type":"text","text":"\u00fc\\"}}]`,
	`"sessionUpdate":"tool_call_update","toolCallId":"c\\1","content":null,"rawOutput":-1.5e3,"rawInput":true`,
	`"sessionUpdate":"tool_call_update","toolCallId":"c1","_meta":{"terminal_output_delta":{"data":"one\n"}}`,
	`"sessionUpdate":"plan","entries":[{"content":"a","priority":"high","status":"pending"},{"content":3}]`,
}

func TestAnUpdateOfAToolIsReadInOnePass(t *testing.T) {
	for _, text := range toolUpdates {
		line := fmt.Appendf(nil, chunkLine, text)
		if _, _, ok := parseUpdate(line); !ok {
			t.Errorf("%s is left to the decoder", line)
		}
		checkUpdate(t, line)
	}
}

// checkUpdate checks that an update read in one pass equals its decoded JSON.
func checkUpdate(t *testing.T, line []byte) {
	t.Helper()
	session, got, ok := parseUpdate(line)
	if !ok {
		return
	}
	var m struct {
		ID     json.RawMessage
		Method string
		Params updateParams
	}
	var want update
	if err := json.Unmarshal(line, &m); err != nil || m.ID != nil || m.Method != "session/update" {
		t.Fatalf("%s: not a notification: %v", line, err)
	}
	if !exactNames(m.Params.Update) || decode(m.Params.Update, &want) != nil || want.Kind == "" {
		t.Fatalf("%s: cannot be decoded", line)
	}
	if session != m.Params.Session || !reflect.DeepEqual(*got, want) {
		t.Errorf("%s: %s %+v, decoded %s %+v", line, session, *got, m.Params.Session, want)
	}
	for _, markdown := range []bool{false, true} {
		fast, ok := textContents(got.Content, markdown)
		if !ok {
			continue
		}
		var items []json.RawMessage
		if err := json.Unmarshal(got.Content, &items); err != nil {
			t.Fatalf("%s: %v", got.Content, err)
		}
		var slow []protocol.Content
		for _, item := range items {
			if c, ok := mapContent(item, markdown); ok {
				slow = append(slow, c)
			}
		}
		if !reflect.DeepEqual(fast, slow) {
			t.Errorf("%s: %+v, decoded %+v", got.Content, fast, slow)
		}
	}
}

func TestOtherFormsOfAnUpdateAreDecodedAsJSON(t *testing.T) {
	for _, text := range []string{
		`"sessionUpdate":"usage_update","used":1`,
		`"sessionUpdate":"tool_call","toolCallId":"c","toolCallId":"d"`,
		`"sessionUpdate":"tool_call","toolCallId":"c","ToolCallId":"d"`,
		`"sessionUpdate":"tool_call","toolCallId":"c","entries":[],"used":1`,
		`"sessionUpdate":"tool_call", "toolCallId":"c"`,
		`"sessionUpdate": "tool_call","toolCallId":"c"`,
		`"sessionUpdate":"tool_call","toolCallId":"c"}`,
		`"sessionUpdate":"tool_call","toolCallId":"c`,
		`"sessionUpdate":"tool_call","toolCallId":"` + "\xff" + `"`,
		`"sessionUpdate":"tool_call","\u0074itle":"c"`,
		`"sessionUpdate":"tool_call","rawInput":{"a":}`,
		``,
	} {
		if _, got, ok := parseUpdate(fmt.Appendf(nil, chunkLine, text)); ok {
			t.Errorf("%s is read as %+v", text, got)
		}
	}
	for _, line := range []string{
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":7}}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{}}}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"plan"}},"id":1}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":}}`,
	} {
		if _, got, ok := parseUpdate([]byte(line)); ok {
			t.Errorf("%s is read as %+v", line, got)
		}
	}
}

func TestAnUpdateWithoutATurnIsLeftToTheDecoder(t *testing.T) {
	c := newTestClient(&recorder{})
	if c.HandleLine(fmt.Appendf(nil, chunkLine, toolUpdates[0])) {
		t.Error("an update without a turn is handled")
	}
}

func FuzzToolUpdate(f *testing.F) {
	for _, text := range toolUpdates {
		f.Add(fmt.Appendf(nil, chunkLine, text))
	}
	f.Fuzz(checkUpdate)
}
