package protocol

import (
	"strings"
	"testing"
)

func TestASettingAndItsValueAreNamedInAnyCase(t *testing.T) {
	all := []Setting{
		{ID: "mode", Name: "Mode", Choices: []Choice{
			{ID: "https://acp.example/modes#agent", Label: "Agent"}, {ID: "https://acp.example/modes#plan", Label: "Plan"},
		}},
		{ID: "model", Name: "Model", Choices: []Choice{
			{ID: "a/fast", Label: "Fast"},
			{ID: "b/fast", Label: "fast"},
			{ID: "fast", Label: "Slow"},
			{ID: "FAST", Label: "x"},
			{ID: "c", Label: "Twin"},
			{ID: "d", Label: "twin"},
		}},
		{ID: "speed", Name: "Pace"},
		{ID: "pace", Name: "Speed"},
		{ID: "note", Name: "Note"},
		{ID: "memo", Name: "note"},
		{ID: "mem", Name: "Note"},
		{ID: "memory", Name: "memo"},
	}
	for _, c := range []struct {
		setting, value string
		id, want       string
		code           Code
		text           string
	}{
		{"mode", "plan", "mode", "https://acp.example/modes#plan", "", ""},
		{"MODE", "PLAN", "mode", "https://acp.example/modes#plan", "", ""},
		{"mode", "https://acp.example/modes#agent", "mode", "https://acp.example/modes#agent", "", ""},
		{"model", "fast", "model", "fast", "", ""},
		{"model", "Slow", "model", "fast", "", ""},
		{"model", "Fast", "", "", CodeInvalidMessage, `several choices for model: "Fast" ("a/fast"), "fast" ("b/fast"), "Slow" ("fast"), "x" ("FAST")`},
		{"model", "twin", "", "", CodeInvalidMessage, `"Twin" ("c"), "twin" ("d")`},
		{"mode", "chat", "", "", CodeInvalidMessage, `choose one of "Agent" ("https://acp.example/modes#agent"), "Plan" (`},
		{"mode", "", "", "", CodeInvalidMessage, "not a choice"},
		{"speed", "any text", "speed", "any text", "", ""},
		{"NOTE", "x", "", "", CodeInvalidMessage, "several settings"},
		{"none", "x", "", "", CodeNotFound, `it has "mode", "model", "Pace" ("speed")`},
	} {
		s, got, err := ChooseSetting(all, c.setting, c.value)
		if CodeOf(err) != c.code || c.code == "" && (s.ID != c.id || got != c.want) ||
			c.code != "" && !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s %q: %v %q, %v", c.setting, c.value, s, got, err)
		}
	}
}
