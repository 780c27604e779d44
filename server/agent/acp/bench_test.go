package acp

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/acp/catalog"
	"agentctl/server/agent/acp/rpc"
)

// discardSession is a session that discards all events.
type discardSession struct{ *recorder }

func (discardSession) Emit(agent.Event) error { return nil }

// BenchmarkLine measures a line of an agent until its event: a chunk of words, one of code, and the
// repeated output of a tool.
func BenchmarkLine(b *testing.B) {
	for _, c := range []struct{ name, update string }{
		{"words", `"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` +
			strings.Repeat("word ", 8) + `"}`},
		{"code", `"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` +
			strings.Repeat(`\tif x == \"a\" {\n`, 4) + `"}`},
		{"tool", `"sessionUpdate":"tool_call_update","toolCallId":"c","status":"in_progress","content":[` +
			`{"type":"content","content":{"type":"text","text":"` + strings.Repeat(`a line of output\n`, 20) + `"}}]`},
	} {
		b.Run(c.name, func(b *testing.B) {
			line := fmt.Sprintf(chunkLine, c.update) + "\n"
			out := discardSession{&recorder{}}
			l := newTestClient(out.recorder)
			t := newTurn(b.Context(), "t", out, "/", catalog.Agent{})
			l.lane.setTurn(t)
			defer l.endTurn(t)
			r, w := io.Pipe()
			c := rpc.New(r, io.Discard, l)
			batch := []byte(strings.Repeat(line, 100))
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for i := 0; i < b.N; i += 100 {
				if _, err := w.Write(batch[:min(100, b.N-i)*len(line)]); err != nil {
					b.Fatal(err)
				}
			}
			_ = w.Close()
			c.Wait()
		})
	}
}

// BenchmarkOutput measures updates that repeat the whole output of a tool.
func BenchmarkOutput(b *testing.B) {
	out := discardSession{&recorder{}}
	c := newTestClient(out.recorder)
	t := newTurn(b.Context(), "t", out, "/", catalog.Agent{})
	c.lane.setTurn(t)
	defer c.endTurn(t)
	text := strings.Repeat("a line of some tool's output\n", 1000)
	b.ReportAllocs()
	for i := range b.N {
		encoded, err := protocol.Encode(text[:len(text)-i%2])
		if err != nil {
			b.Fatal(err)
		}
		c.HandleNotification("session/update", json.RawMessage(`{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c","content":[{"type":"content","content":{"type":"text","text":`+string(encoded)+`}}]}}`))
	}
}
