package catalog

import (
	"cmp"
	"encoding/json"

	"agentctl/server/agent/form"
)

// FieldHints returns what agents say about a field of a form in their own ways; see form.Reader.
func FieldHints(name, title string, meta json.RawMessage) form.Hints {
	var m codexField
	if len(meta) > 0 && json.Unmarshal(meta, &m) != nil {
		m = codexField{}
	}
	return form.Hints{Secret: m.Codex.IsSecret, NoteOf: cmp.Or(m.noteOf(), claudeNoteOf(name, title))}
}
