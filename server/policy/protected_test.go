package policy

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/protocol"
)

var update = flag.Bool("update", false, "write the table of protected files into docs/security.md")

func TestProtectedFiles(t *testing.T) {
	own := []string{"/data/agentctl"}
	for path, want := range map[string]bool{
		"/w/main.go": false, "/w/git/x": false, "/w/.gitignore": false, "/w/.github/ISSUE_TEMPLATE/x.md": false,
		"/w/.github/workflows/ci.yml": true,
		"/w/AGENTS.md":                false, "/w/makefile.go": false, "/w/a/package.json.md": false, "/w/config.js": false,
		"/w/.cargo.go": false,
		"/w/Makefile":  true, "/w/sub/package.json": true, "/w/.npmrc": true, "/w/.cargo/config.toml": true,
		"/w/.mvn/jvm.config": true,
		"/w/mise.toml":       true, "/w/.zed/tasks.json": true, "/w/a.code-workspace": true, "/w/tests/conftest.py": true,
		"/w/build.rs": true, "/w/vite.config.ts": true, "/w/.eslintrc.js": true, "/w/build.gradle.kts": true,
		"/w/.gitlab-ci.yml": true,
		"/w/.git/config":    true, "/w/.githooks/pre-push": true, "/w/.qwen/settings.json": true, "/w/profile": false,
		"/w/.config/app/x": false, "/w/claude/x": false,
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

// The manual lists the protected files.
func TestTheManualListsTheProtectedFiles(t *testing.T) {
	const page, begin, end = "../../docs/security.md", "| protected | files |\n|---|---|\n", "\n\n"
	var table strings.Builder
	for _, p := range protections {
		fmt.Fprintf(&table, "| %s | `%s` |\n", p.about, strings.Join(p.files, "` `"))
	}
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(b), begin)
	is, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s: no table of protected files", page)
	}
	want := strings.TrimSuffix(table.String(), "\n")
	if is == want {
		return
	}
	if !*update {
		t.Fatalf("%s: the table differs from the list: run go test ./server/policy -update", page)
	}
	if err := os.WriteFile(page, []byte(before+begin+want+end+after), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Of a policy file only a rule that names a protected file, without a pattern, allows a change of it.
func TestAnExactPathAllowsAProtectedFile(t *testing.T) {
	k := classifier(t)
	if err := os.Symlink("Makefile", filepath.Join(k.Dir, "alias")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(k.Dir, "Makefile"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	rule := func(text string) string { return `{"allow": [` + text + `]}` }
	const makefile, all = `{"path": "Makefile", "exact": true}`, `{"path": "**"}`
	for _, c := range []struct {
		rules string
		files []string
		want  Action
	}{
		{makefile, []string{"Makefile"}, Allow},
		{makefile, []string{"alias"}, Allow},
		{makefile, []string{"sub/../Makefile"}, Allow},
		{makefile, []string{"Makefile", "a.go"}, AskUser},
		{makefile + "," + all, []string{"Makefile", "a.go"}, Allow},
		{makefile + "," + all, []string{"Makefile", "package.json"}, AskUser},
		{makefile + `,{"tool": "Edit"}`, []string{"Makefile", "a.go"}, Allow},
		{makefile, []string{"sub/Makefile"}, AskUser},
		{makefile, []string{"makefile"}, AskUser},
		{makefile, []string{"Make*"}, AskUser},
		{makefile, []string{"../Makefile"}, AskUser},
		{`{"tool": "Other", "path": "Makefile", "exact": true}`, []string{"Makefile"}, AskUser},
		{`{"tool": "Edit", "path": "Makefile", "exact": true}`, []string{"Makefile"}, Allow},
		{`{"path": ".git/hooks/pre-commit", "exact": true}`, []string{".git/hooks/pre-commit"}, Allow},
		{`{"path": ".git", "exact": true}`, []string{".git/hooks/pre-commit"}, AskUser},
		{`{"path": "data/token", "exact": true}`, []string{"data/token"}, AskUser}, // of agentctl
		{`{"path": "Makefile"}`, []string{"Makefile"}, AskUser},
		{`{"path": "Makefil[e]"}`, []string{"Makefile"}, AskUser},
		{`{"tool": "Edit"}`, []string{"Makefile"}, AskUser},
		{all, []string{"Makefile"}, AskUser},
	} {
		f, err := ParseFile("x", []byte(rule(c.rules)))
		if err != nil {
			t.Fatal(err)
		}
		a := protocol.Approval{Kind: protocol.ApprovePatch, Name: "Edit"}
		for _, name := range c.files {
			a.Content = append(a.Content, protocol.Content{Type: "diff", Path: filepath.Join(k.Dir, name), New: "b"})
		}
		call, _ := k.Classify(&a)
		if r := JudgeFile(f, &call); r.Action != c.want {
			t.Errorf("%s: %q: %s, want %s", c.rules, c.files, marks[r.Action], marks[c.want])
		} else if c.rules == all && !strings.Contains(r.Note, "allow[0] of the policy file x does not cover Makefile") {
			t.Errorf("note %q", r.Note)
		}
		denied := *f
		denied.Deny = []protocol.PolicyRule{{Path: "**/*"}}
		if r := JudgeFile(&denied, &call); r.Action != Refuse {
			t.Errorf("%s: %q: a rule of deny: %s", c.rules, c.files, marks[r.Action])
		}
	}
}
