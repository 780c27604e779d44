package policy

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// A protection is a list of files, and what they do. A file is a name, or several elements, anywhere
// in a path; * matches within a name. Case is ignored.
type protection struct {
	about string
	files []string
}

// protections are the files that run programs when a tool next starts, or change what agents may do.
var protections = []protection{
	{"version control and its hooks", []string{
		".git", ".hg", ".svn", ".jj", ".husky", ".githooks", ".gitconfig", ".gitmodules", ".hgrc",
		".pre-commit-config.yaml", ".pre-commit-config.yml", "lefthook.*", ".lefthook.*", ".lintstagedrc*",
		".overcommit.yml", ".config/git",
	}},
	{"agents and their permissions", []string{
		".claude", ".claude.json", ".codex", ".copilot", ".cursor", ".gemini", ".mcp.json", "mcp.json", ".opencode",
		"opencode.json", "opencode.jsonc", ".qwen", ".aider.conf.yml", ".amp", ".cline", ".continue", ".crush.json",
		"crush.json", ".goose", ".junie", ".kilocode", ".kiro", ".roo", ".windsurf", ".config/crush", ".config/goose",
		".config/opencode",
	}},
	{"agentctl", []string{".config/agentctl", ".local/share/agentctl", ".local/state/agentctl"}},
	{"editors", []string{
		".vscode", ".idea", ".zed", ".fleet", ".helix", ".devcontainer", ".devcontainer.json", "*.code-workspace",
		"*.sublime-project", ".vim", ".vimrc", ".exrc", ".nvimrc", ".nvim.lua", ".emacs", ".emacs.d", ".dir-locals.el",
		".config/nvim", ".config/helix", ".config/zed",
	}},
	{"builds", []string{
		"Makefile", "GNUmakefile", "*.mk", "CMakeLists.txt", "*.cmake", "meson.build", "Justfile", ".justfile",
		"Taskfile.*", "Rakefile", "build.zig", "*.nix", "Vagrantfile", "Procfile", "BUILD.bazel", "WORKSPACE",
		".bazelrc",
	}},
	{"JavaScript", []string{
		"package.json", ".npmrc", ".yarnrc", ".yarnrc.yml", ".yarn", ".pnpmfile.cjs", "bunfig.toml", "*.config.js",
		"*.config.cjs", "*.config.mjs", "*.config.ts", "*.config.cts", "*.config.mts", ".*rc.js", ".*rc.cjs",
		".*rc.mjs", ".*rc.ts", "Gruntfile.*", "Gulpfile.*", "karma.conf.*",
	}},
	{"Rust", []string{".cargo", "build.rs", "rust-toolchain", "rust-toolchain.toml"}},
	{"Java and Scala", []string{
		".mvn", "pom.xml", "mvnw", "mvnw.cmd", "*.gradle", "*.gradle.kts", "gradle.properties", "gradlew",
		"gradlew.bat", "gradle/wrapper", "*.sbt",
	}},
	{"Python", []string{
		"setup.py", "pyproject.toml", "conftest.py", "tox.ini", "noxfile.py", "pytest.ini", "sitecustomize.py",
		"usercustomize.py", "*.pth", ".pypirc",
	}},
	{"other languages", []string{
		"Gemfile", "*.gemspec", "composer.json", "mix.exs", "Package.swift", "Directory.Build.*", "*.csproj",
		"*.fsproj", "*.vbproj",
	}},
	{"environments", []string{
		".envrc", "mise.toml", ".mise.toml", ".mise", ".tool-versions", ".config/mise", "devbox.json",
	}},
	{"continuous integration", []string{
		".github/workflows", ".github/actions", ".gitlab-ci.yml", ".circleci", ".travis.yml", "Jenkinsfile",
		"azure-pipelines.yml", "bitbucket-pipelines.yml", ".drone.yml", ".woodpecker", ".woodpecker.yml", ".buildkite",
		".forgejo", ".gitea", "appveyor.yml", ".appveyor.yml", "cloudbuild.yaml", ".ci",
	}},
	{"start of shells and of the desktop", []string{
		".bash_aliases", ".bash_login", ".bash_logout", ".bash_profile", ".bashrc", ".cshrc", ".inputrc", ".kshrc",
		".login", ".logout", ".profile", ".tcshrc", ".xprofile", ".xsession", ".zlogin", ".zlogout", ".zprofile",
		".zshenv", ".zshrc", "microsoft.powershell_profile.ps1", ".config/fish", ".config/autostart",
		".config/environment.d", ".config/systemd", "Library/LaunchAgents",
	}},
	{"keys", []string{".ssh", ".gnupg", ".netrc", ".aws", ".kube"}},
}

// A protectedSet are the files of protections, by how they are found.
type protectedSet struct {
	names    map[string]bool
	patterns []string   // of one name
	paths    [][]string // elements
}

var protectedFiles = sync.OnceValue(func() protectedSet {
	set := protectedSet{names: map[string]bool{}}
	for _, p := range protections {
		for _, file := range p.files {
			file = strings.ToLower(file)
			switch {
			case strings.Contains(file, "/"):
				set.paths = append(set.paths, strings.Split(file, "/"))
			case strings.Contains(file, "*"):
				set.patterns = append(set.patterns, file)
			default:
				set.names[file] = true
			}
		}
	}
	return set
})

// has reports whether a path, as its elements in lower case, is or is in one of the files.
func (s *protectedSet) has(elements []string) bool {
	for i, name := range elements {
		if s.names[name] || slices.ContainsFunc(s.patterns, func(p string) bool {
			ok, _ := path.Match(p, name)
			return ok
		}) || slices.ContainsFunc(s.paths, func(p []string) bool {
			return len(p) <= len(elements)-i && slices.Equal(p, elements[i:i+len(p)])
		}) {
			return true
		}
	}
	return false
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
// of agents: one of protections. The path is absolute and without links; own are further directories
// of agentctl.
func Protected(file string, own []string) bool {
	if slices.Contains(own, file) || Internal(file, own) {
		return true
	}
	slashed := strings.ToLower(filepath.ToSlash(file))
	if before, inside, ok := strings.Cut(slashed, agentWorktrees); ok {
		_, inside, _ = strings.Cut(inside, "/")
		slashed = before + "/" + inside
	}
	set := protectedFiles()
	return set.has(strings.Split(slashed, "/"))
}
