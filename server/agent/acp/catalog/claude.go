package catalog

import (
	"strings"

	"agentctl/server/sandbox"
)

// claude is Claude Code.
var claude = Agent{
	Preset: Preset{
		Name: "claude", Title: "Claude Code", Command: []string{"claude-agent-acp"},
		Install:      "npm install -g @agentclientprotocol/claude-agent-acp",
		Login:        "run `claude /login`, or set ANTHROPIC_API_KEY",
		LoginCommand: []string{"claude", "/login"}, LoginFiles: []string{".claude/.credentials.json"},
		Keys:      []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"},
		Variables: []string{"ANTHROPIC_*", "CLAUDE_CODE_*"},
		State: []sandbox.State{
			{
				Dir: ".claude", Kept: []string{
					"projects/", "sessions/", "todos/", "tasks/", "plans/", "file-history/", ".credentials.json", "history.jsonl",
				},
				Read: []string{
					"CLAUDE.md", "settings.json", "settings.local.json", "agents", "commands", "output-styles", "plugins",
					"rules", "skills",
				},
			},
			{Copied: []string{".claude.json"}},
		},
		Decides: "starts in mode default, where it reads files of the directory and runs commands that it " +
			"takes for harmless without asking; it asks before other commands, files elsewhere, edits and the web",
	},
	Reports: "@agentclientprotocol/claude-agent-acp", // 0.100
	// The usage of a result counts all requests of the turn to the model (0.100).
	Usage: PerTurn,
	// Content of calls is Markdown, and output of commands is in a fenced block (0.100).
	Markdown: true,
	// The output of a failed command begins with "Exit code 3" (0.100); no other field has the status.
	ExitLine: "Exit code ",
	// A session starts in mode auto, where a model decides requests instead of a user. No variable and
	// no parameter chooses another (0.101).
	StartModes: map[string]string{"auto": "default"},
	// An edit says that it does not replace every occurrence (0.100). One that does changes more than
	// its diff shows.
	EditFields: map[string]EditField{"replace_all": isFalse},
	ReadTools:  []string{"Grep", "LS", "Read"},
}

// claudeMeta is the _meta of Claude's updates (0.100).
type claudeMeta struct {
	ClaudeCode struct {
		Tool   string `json:"toolName"`
		Parent string `json:"parentToolUseId"`
	} `json:"claudeCode"`
}

// ToolName returns the name of the tool of an update, or "". Not every update of Claude has the
// field name of ACP.
func (m *claudeMeta) ToolName() string { return m.ClaudeCode.Tool }

// ParentCall returns the id of the call that this call is nested in, or "".
func (m *claudeMeta) ParentCall() string { return m.ClaudeCode.Parent }

// claudeNoteOf returns the question that a field of a form takes another answer to, or "" (0.101).
func claudeNoteOf(name, title string) string {
	if of, ok := strings.CutSuffix(name, "_custom"); ok && title == "Other" {
		return of
	}
	return ""
}
