package catalog

import (
	"net/http"
	"strings"

	"agentctl/protocol"
	"agentctl/server/sandbox"
)

// gemini is Gemini CLI.
var gemini = Agent{
	Preset: Preset{
		Name: "gemini", Title: "Gemini CLI", Command: []string{"gemini", "--acp"},
		Install:      "npm install -g @google/gemini-cli",
		Login:        "run `gemini` once and choose how to log in, or set GEMINI_API_KEY",
		LoginCommand: []string{"gemini"}, LoginFiles: []string{".gemini/oauth_creds.json"},
		Keys: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"},
		State: []sandbox.State{{
			Dir: ".gemini", Moved: []string{"GEMINI_CLI_HOME/.gemini"},
			Kept: []string{"tmp/", "history/", "oauth_creds.json", "google_accounts.json", "installation_id"},
			Read: []string{
				"GEMINI.md", "agents", "commands", "extensions", "policies", "settings.json", "trustedFolders.json",
			},
		}},
		Variables: []string{
			"GEMINI_*", "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_LOCATION", "GOOGLE_CLOUD_PROJECT",
			"GOOGLE_GEMINI_BASE_URL", "GOOGLE_GENAI_USE_VERTEXAI",
		},
		Decides: "starts in mode default, where it reads and lists files of the directory without asking and " +
			"asks before commands, edits and the web; its tools for files refuse other directories",
	},
	Reports: "gemini-cli", // 0.61.0
	// The _meta of a result has the tokens of the turn (0.61.0).
	Usage: PerTurn,
	// A request to run a command has no arguments (0.61.0).
	TitleIsCommand: true,
	LoginKeys:      map[string]string{"gemini-api-key": "GEMINI_API_KEY"},
	ReadTools:      []string{"grep_search", "list_directory", "ls", "read_file", "search_file_content"},
}

// CommandDir returns the directory in the text of a request to run a command without arguments, or
// "". The text of Gemini CLI has the form "[in DIRECTORY] (description)", perhaps with
// " [background]" at its end (0.61.0).
func CommandDir(text string) string {
	rest, ok := strings.CutPrefix(strings.TrimSuffix(text, " [background]"), "[in ")
	if !ok {
		return ""
	}
	return rest[:max(strings.LastIndexByte(rest, ']'), 0)]
}

// geminiResult is the _meta of a prompt's result of Gemini CLI (0.61.0).
type geminiResult struct {
	Quota struct {
		Tokens struct {
			Input  int64 `json:"input_tokens"`
			Output int64 `json:"output_tokens"`
		} `json:"token_count"`
	} `json:"quota"`
}

// Usage returns the usage of the turn, or nil. Claude and Codex send the field too, beside the
// usage of ACP, which has more.
func (m *geminiResult) Usage() *protocol.Usage {
	if q := m.Quota.Tokens; q.Input != 0 || q.Output != 0 {
		return &protocol.Usage{Input: q.Input, Output: q.Output}
	}
	return nil
}

// geminiLimit: the code of the error is the status of HTTP (0.61.0).
func geminiLimit(f *Failure) bool {
	return f.Code == http.StatusTooManyRequests || f.Code == http.StatusPaymentRequired
}
