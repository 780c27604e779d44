package catalog

import (
	"testing"

	"agentctl/server/agent/form"
)

// Fields of claude-agent-acp 0.101 and codex-acp 2.6.
func TestAgentsSayWhichFieldsAreNotesAndSecrets(t *testing.T) {
	for _, c := range []struct {
		name, title, meta string
		want              form.Hints
	}{
		{"question_0_custom", "Other", "", form.Hints{NoteOf: "question_0"}},
		{"question_0_custom", "Why?", "", form.Hints{}},
		{"question_0", "Other", "", form.Hints{}},
		{"db_note", "Note", `{"codex":{"questionId":"db","role":"user_note"}}`, form.Hints{NoteOf: "db"}},
		{"db", "DB", `{"codex":{"questionId":"x","isOther":true,"isSecret":true}}`, form.Hints{Secret: true}},
		{"db", "DB", `{"codex":"other"}`, form.Hints{}},
	} {
		if got := FieldHints(c.name, c.title, []byte(c.meta)); got != c.want {
			t.Errorf("%+v: got %+v", c, got)
		}
	}
}
