package catalog

import (
	"cmp"
	"encoding/json"

	"agentctl/server/agent/form"
)

// Meta holds the extensions in the _meta of an update. They are read from every agent, by their
// form: agents derived from others send the same.
type Meta struct {
	claudeMeta
	codexMeta
	qwenMeta
	terminalMeta
}

// ResultMeta holds the extensions in the _meta of a prompt's result.
type ResultMeta struct {
	geminiResult
}

// terminalMeta is the output of a command. Agents send it because this client offers the extension
// terminal_output: Codex 2.6.0 in parts, others all of it in one update.
type terminalMeta struct {
	Delta terminalOutput `json:"terminal_output_delta"`
	Whole terminalOutput `json:"terminal_output"`
	Exit  struct {
		Code *int `json:"exit_code"`
	} `json:"terminal_exit"`
}

type terminalOutput struct {
	Data string `json:"data"`
}

// Terminal returns the output of a command to append.
func (m *terminalMeta) Terminal() string { return m.Whole.Data + m.Delta.Data }

// ExitCode returns the exit status of a command, or nil.
func (m *terminalMeta) ExitCode() *int { return m.Exit.Code }

// FieldHints returns what agents say about a field of a form in their own ways; see form.Reader.
func FieldHints(name, title string, meta json.RawMessage) form.Hints {
	var m codexField
	if len(meta) > 0 && json.Unmarshal(meta, &m) != nil {
		m = codexField{}
	}
	return form.Hints{Secret: m.Codex.IsSecret, NoteOf: cmp.Or(m.noteOf(), claudeNoteOf(name, title))}
}
