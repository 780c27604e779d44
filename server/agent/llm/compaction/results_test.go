package compaction

import (
	"strings"
	"testing"
	"unicode/utf8"

	"agentctl/server/agent/llm/model"
)

func TestShortenEndsForEveryBound(t *testing.T) {
	for most := range 12 {
		text := strings.Repeat("€", 40)
		out := Shorten([]model.Message{{Parts: []model.Part{{Type: model.Text, Text: text}}}}, most)
		if got := out[0].Parts[0].Text; !utf8.ValidString(got) || !strings.Contains(got, "were left out") {
			t.Errorf("bound %d: %q", most, got)
		}
	}
}
