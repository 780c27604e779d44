package acp

import (
	"encoding/json"
	"fmt"
	"testing"

	"agentctl/protocol"
)

const chunkLine = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{%s}}}`

func TestAChunkIsReadInOnePass(t *testing.T) {
	for update, want := range map[string]chunk{
		`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"über"}`: {
			"s", "", protocol.KindText, "über",
		},
		`"sessionUpdate":"agent_thought_chunk","messageId":"m","content":{"type":"text","text":""}`: {
			"s", "m", protocol.KindReasoning, "",
		},
		`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a\n\"b\"\\"},"messageId":"m"`: {
			"s", "m", protocol.KindText, "a\n\"b\"\\",
		},
	} {
		if got, ok := parseChunk(fmt.Appendf(nil, chunkLine, update)); !ok || got != want {
			t.Errorf("%s: %+v, %v, want %+v", update, got, ok, want)
		}
	}
}

func TestOtherFormsOfAChunkAreDecodedAsJSON(t *testing.T) {
	for _, update := range []string{
		`"sessionUpdate":"tool_call","content":{"type":"text","text":"a"}`,
		`"sessionUpdate":"agent_message_chunk","content":{"type":"image","data":"AA"}`,
		`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a"},"_meta":{"usage":{}}`,
		`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a"},"messageId":"m","messageId":"n"`,
		`"sessionUpdate":"agent_message_chunk","messageId":"m","content":{"type":"text","text":"a"},"messageId":"n"`,
		`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a","text":"b"}`,
		`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a\x"}`,
		`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a` + "\n" + `"}`,
		`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + "\xff" + `"}`,
		`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a\`,
		`"sessionUpdate":"agent_message_chunk","messageId":"\u0061","content":{"type":"text","text":"a"}`,
	} {
		if got, ok := parseChunk(fmt.Appendf(nil, chunkLine, update)); ok {
			t.Errorf("%s is read as %+v", update, got)
		}
	}
}

// FuzzChunk checks that a chunk read in one pass equals its decoded JSON.
func FuzzChunk(f *testing.F) {
	for _, update := range []string{
		`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a\ud800\n"},"messageId":"m"`,
		`"sessionUpdate":"agent_thought_chunk","messageId":"m","content":{"type":"text","text":"ü"}`,
	} {
		f.Add(fmt.Appendf(nil, chunkLine, update))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		got, ok := parseChunk(line)
		if !ok {
			return
		}
		var m struct {
			ID     json.RawMessage
			Params updateParams
		}
		var u update
		var b block
		if err := json.Unmarshal(line, &m); err != nil || m.ID != nil {
			t.Fatalf("%s: not a notification: %v", line, err)
		}
		if !exactNames(m.Params.Update) || decode(m.Params.Update, &u) != nil || decode(u.Content, &b) != nil {
			t.Fatalf("%s: cannot be decoded", line)
		}
		kind := map[string]protocol.Kind{messageChunk: protocol.KindText, thoughtChunk: protocol.KindReasoning}[u.Kind]
		text, _ := b.text()
		if want := (chunk{m.Params.Session, u.MessageID, kind, text}); got != want {
			t.Errorf("%s: %+v, decoded %+v", line, got, want)
		}
		if u.Meta.Usage != nil {
			t.Errorf("%s: usage is dropped", line)
		}
	})
}

func TestAChunkWithoutATurnIsLeftToTheDecoder(t *testing.T) {
	r := &recorder{}
	c := newTestClient(r)
	line := fmt.Sprintf(chunkLine, `"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"late"}`)
	if c.HandleLine([]byte(line)) {
		t.Error("a chunk without a turn is handled")
	}
}
