package catalog

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"agentctl/protocol"
	"agentctl/server/sandbox"
)

// qwen is Qwen Code.
var qwen = Agent{
	Preset: Preset{
		// In its own default mode, auto, a reviewing model decides requests instead of a user.
		Name: "qwen", Title: "Qwen Code", Command: []string{"qwen", "--acp", "--approval-mode", "default"},
		Install: "npm install -g @qwen-code/qwen-code", Login: "run `qwen` once and choose how to log in",
		LoginCommand: []string{"qwen"}, LoginFiles: []string{".qwen/oauth_creds.json"},
		State: []sandbox.State{
			{
				Dir: ".qwen", Moved: []string{"QWEN_HOME"},
				Kept: []string{"tmp/", "projects/", "oauth_creds.json", "installation_id"},
				Read: []string{
					"QWEN.md", "agents", "commands", "extensions", "settings.json", "skills", "trustedFolders.json",
				},
			},
			{Moved: []string{"QWEN_RUNTIME_DIR"}, Kept: []string{"tmp/", "projects/"}},
		},
		Keys: []string{"OPENAI_API_KEY"}, Variables: []string{"OPENAI_BASE_URL", "OPENAI_MODEL", "QWEN_*"},
		Decides: "starts in mode default, where it reads files of the directory and runs commands that it takes " +
			"for harmless without asking, and asks before the rest; in mode auto it also edits the directory and " +
			"reads all files without asking, and its own model decides the rest",
	},
	Reports: "qwen-code", // 0.24.4
	// The result of a prompt has no usage; each chunk has the usage of one request (0.24.4).
	Usage: PerTurn,
	// The texts of an edit are parts of the contents that its diff shows (0.24.4).
	EditFields: map[string]EditField{
		"old_string": isReplacement("old_string", "new_string"), "new_string": isReplacement("old_string", "new_string"),
		"replace_all": isReplaceAll("old_string", "new_string"),
	},
	ReadTools: []string{"grep_search", "list_directory", "read_file"},
	Drains:    true, // craft/drainMidTurnQueue (0.24.4)
}

// qwenServe is Qwen Code behind its own server, `qwen serve`, which has no name (0.24.4).
var qwenServe = Agent{
	Announces: "qwen",
	Usage:     qwen.Usage, EditFields: qwen.EditFields, ReadTools: qwen.ReadTools,
	// The server repeats the conversation after the answer to session/load; over a WebSocket only with
	// the next request of the session, which is a prompt (0.24.4).
	Resumes: true,
}

// ShellText returns the text for users in a raw output of the type shell_result of Qwen Code
// (0.24.4). The content of such a call is for the model.
func ShellText(rawOutput json.RawMessage) (text string, ok bool) {
	if !bytes.HasPrefix(bytes.TrimLeft(rawOutput, " \t\r\n"), []byte("{")) {
		return "", false
	}
	var o struct {
		Type string
		Text *string
	}
	_ = json.Unmarshal(rawOutput, &o) // fields of other types stay empty
	if o.Type != "shell_result" || o.Text == nil {
		return "", false
	}
	return *o.Text, true
}

// qwenMeta is the _meta of Qwen Code's chunks, and of a request to answer questions (0.24.4).
type qwenMeta struct {
	Usage *Tokens        `json:"usage"`
	Kind  string         `json:"qwenInteractionKind"`
	Asked []qwenQuestion `json:"qwenQuestions"`
}

type qwenQuestion struct {
	Text    string `json:"question"`
	Header  string `json:"header"`
	Many    bool   `json:"multiSelect"`
	Choices []struct {
		Label string `json:"label"`
		About string `json:"description"`
	} `json:"options"`
}

// Bounds of questions that are asked as such, as of a form.
const (
	maxQuestions = 32
	maxChoices   = 100
)

// Questions returns the questions of a request for permission, or nil. Qwen Code asks for permission to use its
// tool for questions, and takes the answers by the numbers of the questions, which are their ids. A call with
// other arguments than questions does more than ask: it has none.
func (m *qwenMeta) Questions(arguments json.RawMessage) []protocol.Question {
	var names map[string]json.RawMessage
	if m.Kind != "user_question" || len(m.Asked) > maxQuestions ||
		len(arguments) > 0 && json.Unmarshal(arguments, &names) != nil {
		return nil
	}
	for name := range names {
		if name != "questions" && name != "metadata" {
			return nil
		}
	}
	var list []protocol.Question
	for i, asked := range m.Asked {
		q := protocol.Question{ID: strconv.Itoa(i), Text: asked.Text, About: asked.Header, Many: asked.Many}
		if len(asked.Choices) > maxChoices {
			return nil
		}
		for _, c := range asked.Choices {
			if c.Label == "" || slices.ContainsFunc(q.Choices, func(o protocol.Choice) bool { return o.ID == c.Label }) {
				return nil
			}
			q.Choices = append(q.Choices, protocol.Choice{ID: c.Label, Label: c.Label, About: c.About})
		}
		list = append(list, q)
	}
	return list
}

// RequestUsage returns the tokens of one request to the model, or nil.
func (m *qwenMeta) RequestUsage() *Tokens { return m.Usage }
