package catalog

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"agentctl/protocol"
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
		Variables: []string{"ANTHROPIC_*", "CLAUDE_CODE_*", "CLAUDE_CONFIG_DIR"},
		State: []sandbox.State{
			{
				Dir: ".claude", Moved: []string{"CLAUDE_CONFIG_DIR"}, Kept: []string{
					"projects/", "sessions/", "todos/", "tasks/", "plans/", "file-history/", ".credentials.json", "history.jsonl",
				},
				Read: []string{
					"CLAUDE.md", "settings.json", "settings.local.json", "agents", "commands", "output-styles", "plugins",
					"rules", "skills",
				},
			},
			{Dir: ".", Moved: []string{"CLAUDE_CONFIG_DIR"}, Copied: []string{".claude.json"}},
		},
		Decides: "starts in mode default, where it reads files of the directory and runs commands that it " +
			"takes for harmless without asking; it asks before other commands, files elsewhere, edits and the web",
	},
	Reports: "@agentclientprotocol/claude-agent-acp", // 0.100
	// The usage of a result counts all requests of the turn to the model (0.100).
	Usage: PerTurn,
	// A sub-agent is announced as running, and its task follows within milliseconds (0.100).
	TaskFollows: true,
	// Content of calls is Markdown, and output of commands is in a fenced block (0.100).
	Markdown: true,
	// The output of a failed command begins with "Exit code 3" (0.100); no other field has the status.
	ExitLine: "Exit code ",
	// A session starts in mode auto, where a model decides requests instead of a user. No variable and
	// no parameter chooses another (0.101).
	StartModes: map[string]string{"auto": "default"},
	// An edit says that it does not replace every occurrence (0.100). One that does changes more than
	// its diff shows. In version 2 the diff has lines around the replaced text (0.101).
	EditFields: map[string]EditField{
		"old_string": isReplacement("old_string", "new_string"), "new_string": isReplacement("old_string", "new_string"),
		"replace_all": isFalse,
	},
	ReadTools: []string{"Grep", "LS", "Read"},
}

// claudeMeta is the _meta of Claude's updates (0.100).
type claudeMeta struct {
	ClaudeCode struct {
		Tool   string `json:"toolName"`
		Parent string `json:"parentToolUseId"`
	} `json:"claudeCode"`
	RateLimit *claudeRateLimit `json:"_claude/rateLimit"` // of a usage update (0.101)
	Origin    struct {
		Kind string `json:"kind"`
	} `json:"_claude/origin"`
}

// EndsOwnTurn reports whether the update is the last one of a turn that no prompt began: the usage
// of each turn has its origin, "human" for a prompt (0.100).
func (m *claudeMeta) EndsOwnTurn() bool { return m.Origin.Kind != "" && m.Origin.Kind != "human" }

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

// claudeRateLimit has the windows of a subscription (0.101). Before it had windows for all, it had the
// one that is nearest to its limit.
type claudeRateLimit struct {
	Status  string                  `json:"status"` // allowed, allowed_warning, rejected
	Type    string                  `json:"rateLimitType"`
	Windows map[string]claudeWindow `json:"unifiedWindows"`
	claudeWindow
}

type claudeWindow struct {
	Utilization *float64 `json:"utilization"` // 0 to 1
	ResetsAt    int64    `json:"resetsAt"`    // seconds
}

// Limits returns what the update says of the windows of the account, or nil.
func (m *claudeMeta) Limits() *LimitReport {
	r := m.RateLimit
	if r == nil {
		return nil
	}
	report := &LimitReport{Reached: r.Status == "rejected"}
	if r.ResetsAt > 0 {
		report.Resets = time.Unix(r.ResetsAt, 0)
	}
	if len(r.Windows) == 0 && r.Type != "" {
		r.Windows = map[string]claudeWindow{r.Type: r.claudeWindow}
	}
	for name, w := range r.Windows {
		if w.Utilization == nil {
			continue
		}
		window := protocol.UsageWindow{Name: name, Percent: 100 * *w.Utilization}
		if w.ResetsAt > 0 {
			at := time.Unix(w.ResetsAt, 0).UTC()
			window.ResetsAt = &at
		}
		report.Windows = append(report.Windows, window)
	}
	sortWindows(report.Windows)
	return report
}

// claudeLimit: the data of the error names the kind of failure (0.101). An account on hold, or without
// credit, has a limit whose end is not known.
func claudeLimit(f *Failure) bool {
	var data struct{ ErrorKind string }
	return json.Unmarshal(f.Data, &data) == nil &&
		slices.Contains([]string{"rate_limit", "billing_error", "account_on_hold"}, data.ErrorKind)
}
