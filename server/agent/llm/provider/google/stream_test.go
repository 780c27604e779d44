package google

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"agentctl/server/agent/llm/model"
	"agentctl/server/agent/llm/sse"
)

// Any stream is decoded or refused. The deltas are the texts of the answer, and the arguments of
// calls are objects.
func FuzzDecoder(f *testing.F) {
	f.Add([]byte(`data: {"candidates":[{"content":{"parts":[{"text":"a"},{"text":"b","thought":true}]}}]}` + "\r\n\r\n"))
	f.Add([]byte(`data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"x","args":[]}}]},"finishReason":"STOP"}]}` + "\n\n"))
	f.Add([]byte(`data: {"candidates":[{"content":{"parts":[{"text":"","thoughtSignature":"s"},{"inlineData":{}}]}}]}` + "\n\n"))
	f.Add([]byte(`data: {"promptFeedback":{"blockReason":"SAFETY"}}` + "\n\n"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		var shown strings.Builder
		d := API.NewDecoder(model.NewBuilder("test/m", func(delta model.Delta) error {
			if delta.Type == model.Text {
				shown.WriteString(delta.Text)
			}
			return nil
		}))
		events := sse.NewReader(bytes.NewReader(stream))
		for {
			data, err := events.Next()
			if err == nil {
				err = d.Decode(data)
			}
			if err != nil {
				break
			}
		}
		message := d.Result().Message
		if shown.String() != message.Text() {
			t.Errorf("shown %q, recorded %q", shown.String(), message.Text())
		}
		for _, c := range message.Calls() {
			var object map[string]any
			if json.Unmarshal(c.Input, &object) != nil || object == nil {
				t.Errorf("arguments %s", c.Input)
			}
		}
		m := API.NewModel(nil, "https://x/", "m", "test/m")
		if _, err := json.Marshal(encode(m, &model.Request{Messages: []model.Message{message}})); err != nil {
			t.Errorf("sent back: %v", err)
		}
	})
}
