package policy

import (
	"path/filepath"
	"slices"
	"strings"
)

// protectedNames are names, anywhere in a path, of files and directories that run programs or
// change the permissions of agents. Case is ignored.
var protectedNames = []string{
	".git", ".hg", ".svn", ".husky", ".gitconfig", ".gitmodules", ".pre-commit-config.yaml", "lefthook.yml",
	".claude", ".claude.json", ".codex", ".copilot", ".cursor", ".gemini", ".mcp.json", ".opencode", "opencode.json",
	"opencode.jsonc", ".qwen",
	".devcontainer", ".envrc", ".idea", ".vscode",
	".bash_aliases", ".bash_login", ".bash_logout", ".bash_profile", ".bashrc", ".cshrc", ".inputrc", ".kshrc",
	".login", ".logout", ".profile", ".tcshrc", ".xprofile", ".xsession", ".zlogin", ".zlogout", ".zprofile", ".zshenv",
	".zshrc", "microsoft.powershell_profile.ps1",
	".gnupg", ".ssh",
}

// protectedDirectories are directories, below any other, with files of agentctl and of programs
// that start automatically.
var protectedDirectories = []string{
	".config/agentctl", ".local/share/agentctl", ".local/state/agentctl",
	".config/autostart", ".config/environment.d", ".config/fish", ".config/git", ".config/opencode", ".config/systemd",
	"library/launchagents",
}

// agentWorktrees is where Claude Code keeps worktrees: their files are files of projects.
const agentWorktrees = "/.claude/worktrees/"

// Internal reports whether a file is in one of agentctl's own directories. All paths are absolute
// and without links. The server opens no such file for an agent: closing it would release this
// process's locks on it, including the database's.
func Internal(path string, own []string) bool {
	return slices.ContainsFunc(own, func(dir string) bool {
		name, err := filepath.Rel(dir, path)
		return err == nil && name != "." && filepath.IsLocal(name)
	})
}

// Protected reports whether a change of a file could run programs later, or change the permissions
// of agents: files of git and of its hooks, of agentctl, of the configuration of agents and
// editors, and files that shells read when they start. The path is absolute and without links; own
// are further directories of agentctl.
func Protected(path string, own []string) bool {
	if slices.Contains(own, path) || Internal(path, own) {
		return true
	}
	slashed := strings.ToLower(filepath.ToSlash(path))
	if before, inside, ok := strings.Cut(slashed, agentWorktrees); ok {
		_, inside, _ = strings.Cut(inside, "/")
		slashed = before + "/" + inside
	}
	for name := range strings.SplitSeq(slashed, "/") {
		if slices.Contains(protectedNames, name) {
			return true
		}
	}
	return slices.ContainsFunc(protectedDirectories, func(dir string) bool {
		return strings.Contains(slashed+"/", "/"+dir+"/")
	})
}
