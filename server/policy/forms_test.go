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
		Deny:  append(programRules("rm", "git push"), protocol.PolicyRule{Path: "**/.env"}, protocol.PolicyRule{Path: "secret.txt"}),
		Allow: []protocol.PolicyRule{{Tool: "shell"}},
	}
	allow := &protocol.PolicyFile{Allow: programRules(
		"git", "go", "make", "npm", "find", "sed", "awk", "tar", "env", "xargs", "ssh", "docker", "true", "ls", "echo", "cat", "sh",
		"bash", "sudo", "timeout", "rsync", "sort", "python3", "npx", "cargo", "cd", "tee", "zip", "fd", "rg", "perl", "tmux",
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
