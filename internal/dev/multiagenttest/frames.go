package multiagenttest

import (
	"fmt"
	"time"

	"agentctl/protocol"
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

// Start is the time at which every test begins.
var Start = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// sequentialIDs returns predictable ids.
func sequentialIDs(kind string) func(string) string {
	n := 0
	return func(prefix string) string {
		n++
		return fmt.Sprintf("%s%s%d", kind, prefix, n)
	}
}

// A TestingT is the common part of testing.T and rapid.T.
type TestingT interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
	Errorf(string, ...any)
}

func wantFrames(t TestingT, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		g, w := "", ""
		if i < len(got) {
			g = got[i]
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
