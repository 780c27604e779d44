package multiagenttest

import (
	"encoding/json"

	"agentctl/internal/dev/codectest"
	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/multiagent/wire"
)

// ErrorMessage returns an error about the conversation "uuid".
func ErrorMessage(code string) string {
	return string(wire.NewError("uuid", code, "because").Encode().Data)
}

// AnswerTo returns the answer of agentctl's server to a message with a key.
func AnswerTo(key, payload string) string {
	return `{"type":"agentctl_answer","conversationId":"uuid","requestId":"` + key + `","payload":` + payload + `}`
}

// checkedFrames returns the frames of an output, each of which must be a text of JSON.
func checkedFrames(t codectest.T, out codec.Output) (list [][]byte) {
	t.Helper()
	if out.Close != nil {
		t.Fatalf("the codec closed the connection: %v", out.Close)
	}
	for _, f := range out.Foreign {
		if !json.Valid(f.Data) || f.Binary {
			t.Fatalf("not JSON: %s", f.Data)
		}
		list = append(list, f.Data)
	}
	return list
}

func wantFrames(t codectest.T, got [][]byte, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		g, w := "", ""
		if i < len(got) {
			g = string(got[i])
		}
		if i < len(want) {
			w = CompactJSON(want[i])
		}
		if g != w {
			t.Errorf("frame %d:\ngot  %s\nwant %s", i, g, w)
		}
	}
}

// CompactJSON returns JSON without whitespace, and other text as it is.
func CompactJSON(s string) string {
	c, ok := protocol.Compact([]byte(s))
	if !ok {
		return s
	}
	return string(c)
}
