//go:build interop

package interop

import (
	"fmt"
	"path/filepath"
	"strings"

	"agentctl/protocol"
)

// restartAgents are the agents of the tests of restarts, tableAgents those of the table in
// docs/agents.md.
var (
	restartAgents = []realAgent{geminiAgent, openCodeAgent}
	tableAgents   = []realAgent{claudeAgent, codexAgent, copilotAgent, geminiAgent, openCodeAgent, qwenAgent}
)

var claudeAgent = realAgent{
	name: "claude", title: "claude-agent-acp", npm: "@agentclientprotocol/claude-agent-acp",
	program: ".bin/claude-agent-acp", shellTool: "Bash", initial: "default", mode: "plan",
	ask: claudeAsks, limited: claudeLimited, resets: true,
	command: func(command string) obj { return obj{"command": command, "description": "as was said"} },
	write: func(file string) (string, any) {
		return "Write", obj{"file_path": file, "content": written}
	},
	read: func(file string) (string, any) { return "Read", obj{"file_path": file} },
	edit: func(file string) (string, any) {
		return "Edit", obj{"file_path": file, "old_string": before, "new_string": after}
	},
	delegate: func(task string) []toolCall {
		return []toolCall{{"Agent", obj{
			"description": "as was said", "prompt": task, "subagent_type": "general-purpose", "run_in_background": false,
		}}}
	},
	env: func(_, endpoint string) map[string]string {
		return map[string]string{
			"CLAUDE_CODE_OAUTH_TOKEN": "x", "ANTHROPIC_BASE_URL": endpoint,
			"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
		}
	},
	files: func(string) map[string]any {
		// The adapter offers the mode without questions to root in a sandbox, where Claude Code
		// refuses to start.
		return map[string]any{".claude/settings.json": obj{
			"permissions": obj{"disableBypassPermissionsMode": "disable"},
		}}
	},
	notes: map[string]note{
		"usage limit": {text: "of a subscription; with an API key the agent tries again in the turn"},
	},
}

var codexAgent = realAgent{
	name: "codex", title: "codex-acp", npm: "@agentclientprotocol/codex-acp",
	program: ".bin/codex-acp", shellTool: "exec_command", initial: "read-only", mode: "agent",
	ask: codexAsks, limited: codexLimited, resets: true,
	denied: protocol.ReasonDenied,
	command: func(command string) obj {
		// A call that outlasts the yield time returns before the end of its command, and
		// codex-acp tells the output at the end only.
		return obj{
			"cmd": command, "sandbox_permissions": "require_escalated", "justification": "as was said",
			"yield_time_ms": 30000,
		}
	},
	write: func(file string) (string, any) {
		lines := "+" + strings.ReplaceAll(strings.TrimSuffix(written, "\n"), "\n", "\n+")
		return "apply_patch", "*** Begin Patch\n*** Add File: " + filepath.Base(file) + "\n" + lines +
			"\n*** End Patch\n"
	},
	edit: func(file string) (string, any) {
		return "apply_patch", "*** Begin Patch\n*** Update File: " + filepath.Base(file) + "\n@@\n one\n-" + before +
			"\n+" + after + "\n*** End Patch\n"
	},
	delegate: func(task string) []toolCall {
		return []toolCall{
			// A conversation has each name once, also after it was loaded.
			{"spawn_agent", obj{"task_name": fmt.Sprint("worker", len(task)), "fork_turns": "none", "message": task}},
			{"wait_agent", obj{"timeout_ms": 10000}}, // it does not return when the sub-agent is interrupted
		}
	},
	env: func(home, _ string) map[string]string {
		return map[string]string{"CODEX_HOME": home + "/.codex", "INITIAL_AGENT_MODE": "read-only", "FAKE_KEY": "x"}
	},
	files: func(endpoint string) map[string]any {
		return map[string]any{".codex/config.toml": `model = "gpt-5.5"
model_provider = "fake"

[features]
multi_agent_v2 = true
default_mode_request_user_input = true

[model_providers.fake]
name = "fake"
base_url = "` + endpoint + `/v1"
env_key = "FAKE_KEY"
wire_api = "responses"
`}
	},
	notes: map[string]note{
		"question": {text: "with the feature `default_mode_request_user_input` in the agent's configuration; without it in " +
			"the collaboration mode plan only"},
		"sub-agent": {text: "with the setting `features.multi_agent_v2 = true`"},
	},
}

var copilotAgent = realAgent{
	name: "copilot", title: "copilot", npm: "@github/copilot", program: ".bin/copilot", args: []string{"--acp"},
	shellTool: "bash", initial: copilotMode + "agent", mode: copilotMode + "plan",
	limited: creditUsed,
	command: func(command string) obj { return obj{"command": command, "description": "as was said"} },
	write: func(file string) (string, any) {
		return "create", obj{"path": file, "file_text": written}
	},
	read: func(file string) (string, any) { return "view", obj{"path": file} },
	edit: func(file string) (string, any) {
		return "edit", obj{"path": file, "old_str": before, "new_str": after}
	},
	env: func(_, endpoint string) map[string]string {
		return map[string]string{
			"COPILOT_PROVIDER_BASE_URL": endpoint + "/v1", "COPILOT_MODEL": "fake-model",
			"COPILOT_AUTO_UPDATE": "false", "COPILOT_OFFLINE": "true",
		}
	},
	notes: map[string]note{
		"question":              {"the agent gives its model no tool for questions", modelHasNoQuestionTool},
		"message into the turn": {"the agent has no such extension", messageJoinsNoTurn},
		"sub-agent":             {"the agent announces none", announcesNoSubAgents},
		"model failure": {text: "of the first model request of a turn; after that the agent completes the turn with the " +
			"failure as text"},
	},
}

// copilotMode is the prefix of Copilot's modes.
const copilotMode = "https://agentclientprotocol.com/protocol/session-modes#"

var geminiAgent = realAgent{
	name: "gemini", title: "gemini-cli", npm: "@google/gemini-cli",
	program: ".bin/gemini", args: []string{"--acp", "-m", "gemini-2.5-flash"},
	shellTool: "run_shell_command", initial: "default", mode: "plan",
	limited: geminiLimited,
	command: func(command string) obj { return obj{"command": command, "description": "as was said"} },
	write: func(file string) (string, any) {
		return "write_file", obj{"file_path": file, "content": written}
	},
	read: func(file string) (string, any) { return "read_file", obj{"file_path": file} },
	edit: func(file string) (string, any) {
		return "replace", obj{
			"file_path": file, "instruction": "as was said", "old_string": before, "new_string": after,
		}
	},
	env: func(_, endpoint string) map[string]string {
		return map[string]string{
			"GEMINI_API_KEY": "x", "GOOGLE_GEMINI_BASE_URL": endpoint, "GEMINI_CLI_NO_RELAUNCH": "true",
		}
	},
	files: func(string) map[string]any {
		return map[string]any{".gemini/settings.json": obj{
			"security": obj{"auth": obj{"selectedType": "gemini-api-key"}},
			"privacy":  obj{"usageStatisticsEnabled": false},
			"general":  obj{"enableAutoUpdate": false, "sessionRetention": obj{"enabled": false}},
			"tools":    obj{"shell": obj{"enableInteractiveShell": false}},
		}}
	},
	backdate: backdateGemini,
	notes: map[string]note{
		"question":              {"the agent gives its model no tool for questions", modelHasNoQuestionTool},
		"message into the turn": {"the agent has no such extension", messageJoinsNoTurn},
		"sub-agent":             {"the agent announces none", announcesNoSubAgents},
		"output of a command": {text: "with the setting `tools.shell.enableInteractiveShell: false`; otherwise " +
			"the agent reports no output"},
		"exit code of a command": {"the agent reports it in words, and only of a command without output", exitCodeIsNotShown},
		"server killed in mid-turn": {text: "with the setting `general.sessionRetention.enabled: false`; otherwise " +
			"the agent may delete a conversation when it starts, and gets the transcript instead"},
	},
}

var openCodeAgent = realAgent{
	name: "opencode", title: "opencode", npm: "opencode-linux-x64",
	program: "opencode-linux-x64/bin/opencode", args: []string{"acp"},
	shellTool: "bash", initial: "build", mode: "plan",
	denied:  protocol.ReasonDenied,
	limited: creditUsed,
	command: func(command string) obj { return obj{"command": command, "description": "as was said"} },
	write: func(file string) (string, any) {
		return "write", obj{"filePath": file, "content": written}
	},
	read: func(file string) (string, any) { return "read", obj{"filePath": file} },
	edit: func(file string) (string, any) {
		return "edit", obj{"filePath": file, "oldString": before, "newString": after}
	},
	env: func(home, _ string) map[string]string {
		return map[string]string{
			"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1",
			"XDG_CONFIG_HOME": home + "/.config", "XDG_DATA_HOME": home + "/.local/share",
			"XDG_STATE_HOME": home + "/.local/state", "XDG_CACHE_HOME": home + "/.cache",
		}
	},
	files: func(endpoint string) map[string]any {
		return map[string]any{".config/opencode/opencode.json": obj{
			"enabled_providers": []string{"fake"}, "model": "fake/fake-model", "small_model": "fake/fake-model",
			"permission": obj{"bash": "ask", "edit": "ask"},
			"provider": obj{"fake": obj{
				"npm": "@ai-sdk/openai-compatible", "options": obj{"baseURL": endpoint + "/v1", "apiKey": "x"},
				"models": obj{"fake-model": obj{
					"attachment": true,
					"modalities": obj{"input": []string{"text", "image"}, "output": []string{"text"}},
				}},
			}},
		}}
	},
	notes: map[string]note{
		"usage limit":           {text: "if the provider names no time: with `Retry-After` the agent tries again in the turn"},
		"question":              {"the agent gives its model no tool for questions", modelHasNoQuestionTool},
		"message into the turn": {"the agent has no such extension", messageJoinsNoTurn},
		"sub-agent":             {"the agent announces none", announcesNoSubAgents},
	},
}

var qwenAgent = realAgent{
	name: "qwen", title: "qwen-code", npm: "@qwen-code/qwen-code", program: ".bin/qwen", args: []string{"--acp"},
	shellTool: "run_shell_command", initial: "default", mode: "plan",
	denied: protocol.ReasonDenied,
	ask:    qwenAsks, limited: creditUsed,
	command: func(command string) obj {
		return obj{"command": command, "description": "as was said", "is_background": false}
	},
	write: func(file string) (string, any) {
		return "write_file", obj{"file_path": file, "content": written}
	},
	read: func(file string) (string, any) { return "read_file", obj{"file_path": file} },
	edit: func(file string) (string, any) {
		return "edit", obj{"file_path": file, "old_string": before, "new_string": after}
	},
	env: func(_, endpoint string) map[string]string {
		return map[string]string{
			"OPENAI_API_KEY": "x", "OPENAI_BASE_URL": endpoint + "/v1", "OPENAI_MODEL": "fake-model",
		}
	},
	files: func(string) map[string]any {
		return map[string]any{".qwen/settings.json": obj{
			"security": obj{"auth": obj{"selectedType": "openai"}},
			"privacy":  obj{"usageStatisticsEnabled": false},
			"general":  obj{"enableAutoUpdate": false},
			"tools":    obj{"approvalMode": "default"},
			"memory":   obj{"enableManagedAutoMemory": false, "enableManagedAutoDream": false},
			"ui":       obj{"enableFollowupSuggestions": false},
			"model":    obj{"generationConfig": obj{"modalities": obj{"image": true}}},
		}}
	},
	notes: map[string]note{
		"token counts": {text: "with the setting `ui.enableFollowupSuggestions: false`; otherwise the agent asks the " +
			"model for suggestions too, and does not report their tokens"},
		"sub-agent": {"the agent announces none", announcesNoSubAgents},
	},
}
