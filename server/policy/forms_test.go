package policy

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentctl/protocol"
)

// marks are the marks of the tables in testdata.
var marks = map[Action]string{Allow: "+", AskUser: "?", Refuse: "-"}

// tableLines returns the lines of a table in testdata that are no comment.
func tableLines(t *testing.T, name string) []string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(strings.Split(string(b), "\n"), func(line string) bool {
		return line == "" || line[0] == '#'
	})
}

// linkedDir returns a directory named w with links: link to itself, alias.txt to secret.txt.
func linkedDir(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "w")
	if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"link": ".", "alias.txt": "secret.txt"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "secret.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func programRules(names ...string) (rules []protocol.PolicyRule) {
	for _, name := range names {
		program, sub, _ := strings.Cut(name, " ")
		rules = append(rules, protocol.PolicyRule{Program: program, Subcommand: sub})
	}
	return rules
}

// Every form in which a program runs another one, or names a file, is denied or asked.
func TestFormsThatRunOtherPrograms(t *testing.T) {
	dir := linkedDir(t)
	deny := &protocol.PolicyFile{
		Deny: append(programRules("rm", "git push"), protocol.PolicyRule{Path: "**/.env"},
			protocol.PolicyRule{Path: "secret.txt"}),
		Allow: []protocol.PolicyRule{{Tool: "shell"}},
	}
	allow := &protocol.PolicyFile{Allow: programRules(
		"git", "go", "make", "npm", "find", "sed", "awk", "tar", "env", "xargs", "ssh", "docker", "true", "ls", "echo",
		"cat", "sh",
		"bash", "sudo", "timeout", "rsync", "sort", "python3", "npx", "cargo", "cd", "tee", "zip", "fd", "rg", "perl",
		"tmux",
	)}
	for _, line := range tableLines(t, "forms.txt") {
		head, text, _ := strings.Cut(line, "\t")
		text = strings.NewReplacer("⏎", "\n", " /w/", " "+dir+"/").Replace(text)
		call := command(text)
		call.Dir, call.Tool = dir, "shell"
		denied, asked := marks[JudgeFile(deny, &call).Action], marks[JudgeFile(allow, &call).Action]
		if got := denied + " " + asked; got != head[:3] {
			t.Errorf("%s: %q: got %s", head, text, got)
		}
	}
}

// A rule that allows a program allows no form in which the program runs another one or writes
// elsewhere.
func TestPlainForms(t *testing.T) {
	dir := linkedDir(t)
	for _, entry := range tableLines(t, "plain.txt") {
		mark, line, _ := strings.Cut(entry, "\t")
		program, _, _ := strings.Cut(line, " ")
		call := command(line)
		call.Dir = dir
		if got := marks[JudgeFile(&protocol.PolicyFile{Allow: programRules(program)}, &call).Action]; got != mark {
			t.Errorf("%s: %s, want %s", line, got, mark)
		}
	}
}

// A rule that names a form allows it, and nothing that follows it and runs more.
func TestARuleThatNamesAForm(t *testing.T) {
	dir := linkedDir(t)
	for _, c := range []struct {
		rule, line string
		want       Action
	}{
		{"git push", "git push origin main", Allow},
		{"git push", "git push --receive-pack=x", AskUser},
		{"git -c core.pager=cat log", "git -c core.pager=cat log -5", Allow},
		{"git -c core.pager=cat log", "git -c core.pager=cat log --output=/x", AskUser},
		{"git submodule foreach", "git submodule foreach ls", AskUser},
		{"git submodule foreach ls", "git submodule foreach ls", Allow},
		{"git submodule", "git submodule update --init --recursive", Allow},
		{"git bisect", "git bisect start HEAD v1", Allow},
		{"git bisect", "git bisect run ls", AskUser},
		{"docker compose up", "docker compose up -d", Allow},
		{"docker compose", "docker compose exec web ls", AskUser},
		{"npm ci", "npm ci --no-audit", Allow},
		{"npm install", "npm install left-pad", Allow},
		{"npm install", "npm install -g left-pad", AskUser},
		{"go run", "go run ./cmd/a", Allow},
		{"go run", "go run -exec ls ./cmd/a", AskUser},
		{"go test", "go test -exec ls", AskUser},
		{"go test -exec ls", "go test -exec ls ./...", Allow},
		{"npx prettier", "npx prettier --check .", Allow},
		{"npx", "npx prettier", AskUser},
		{"env go", "env go test ./...", Allow},
		{"env go", "env go run .", AskUser},
		{"env go test", "env go test -exec ls", AskUser},
		{"xargs grep", "xargs grep x", Allow},
		{"sudo -u a ls", "sudo -u a ls x", Allow},
		{"docker run", "docker run a", AskUser},
		{"docker run a", "docker run a", Allow},
		{"docker run a", "docker run a ls", AskUser},
		{"docker run a ls", "docker run a ls -l", Allow},
		{"ssh h", "ssh h", Allow},
		{"ssh h", "ssh h ls", AskUser},
		{"ssh h uptime", "ssh h uptime", Allow},
		{"ssh h uptime", "ssh h uptime -p", AskUser},
		{"python3 a.py", "python3 a.py x", Allow},
		{"python3 -m pytest", "python3 -m pytest -q", Allow},
		{"bash a.sh", "bash a.sh", Allow},
		{"pip install", "pip install -r requirements.txt", Allow},
		{"pip install", "pip install requests", Allow},
		{"pip install", "pip install .", AskUser},
		{"pip install", "pip install -e .", AskUser},
		{"pip install", "pip install git+https://example.com/a", AskUser},
		{"pip install -e .", "pip install -e .", Allow},
		{"python3 -m timeit", "python3 -m timeit pass", AskUser},
		{"python3 -m pip install", "python3 -m pip install a", Allow},
		{"python3 -m pip install", "python3 -m pip install ./a", AskUser},
		{"bun run build", "bun run build --watch", Allow},
		{"npm config set", "npm config set fund false", Allow},
		{"npm config set", "npm config set script-shell ls", AskUser},
		{"go generate", "go generate ./...", Allow},
		{"cargo rustc", "cargo rustc -- -C linker=ls", AskUser},
		{"docker buildx build", "docker buildx build .", AskUser},
		{"docker buildx build .", "docker buildx build .", Allow},
		{"node -r x", "node -r x y.js", AskUser},
	} {
		call := command(c.line)
		call.Dir = dir
		if r := JudgeFile(&protocol.PolicyFile{Allow: programRules(c.rule)}, &call); r.Action != c.want {
			t.Errorf("%s: %s: %s, want %s", c.rule, c.line, marks[r.Action], marks[c.want])
		}
	}
}
