package policy

import "testing"

func TestProtectedFiles(t *testing.T) {
	own := []string{"/data/agentctl"}
	for path, want := range map[string]bool{
		"/w/main.go": false, "/w/git/x": false, "/w/.gitignore": false, "/w/.github/workflows/ci.yml": false,
		"/w/AGENTS.md": false, "/w/profile": false, "/w/.config/app/x": false, "/w/claude/x": false,
		"/w/.git": true, "/w/.git/hooks/pre-commit": true, "/w/sub/.GIT/config": true, "/w/.husky/pre-push": true,
		"/w/.claude/settings.json": true, "/w/.mcp.json": true, "/w/.codex/config.toml": true,
		"/w/opencode.json": true, "/w/.vscode/tasks.json": true, "/w/.envrc": true,
		"/home/u/.bashrc": true, "/home/u/.zshenv": true, "/home/u/.profile": true,
		"/home/u/.ssh/authorized_keys":     true,
		"/home/u/.config/fish/config.fish": true, "/home/u/.config/systemd/user/x.service": true,
		"/home/u/.config/agentctl/server.json": true, "/home/u/.local/share/agentctl/key": true,
		"/data/agentctl": true, "/data/agentctl/token": true, "/data/agentctl2/token": false,
		"/w/.claude/worktrees/one/main.go": false, "/w/.claude/worktrees/one/.claude/hooks/x": true,
		"/w/.claude/worktrees/one/.git": true, "/w/.git/x/.claude/worktrees/one/main.go": true,
	} {
		if got := Protected(path, own); got != want {
			t.Errorf("%s: %t, want %t", path, got, want)
		}
	}
}
