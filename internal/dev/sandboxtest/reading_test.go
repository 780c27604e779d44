//go:build sandbox

package sandboxtest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/llm"
	"agentctl/server/agent/tool"
	"agentctl/server/sandbox"
)

// A recordless is a host of tools that records no processes.
type recordless struct{ agent.Host }

func (recordless) RecordProcessGroup(agent.ProcessGroup) error { return nil }

// Commands that a policy allows because they only read run in a sandbox: git works in a repository whose settings name
// programs, runs none of them, and what the table of programs would miss writes nothing and reaches no host.
func TestCommandsThatReadRunConfined(t *testing.T) {
	h := newHome(t)
	h.git()
	evil := filepath.Join(h.cwd, "evil")
	if err := os.WriteFile(evil, []byte("#!/bin/sh\necho EVIL >&2\ncat\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(h.cwd, ".gitattributes"), []byte("* diff=evil filter=evil\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(h.cwd, ".git", "config")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, strings.ReplaceAll(`
[core]
	fsmonitor = EVIL
	pager = EVIL
[diff]
	external = EVIL
[diff "evil"]
	textconv = EVIL
	command = EVIL
[filter "evil"]
	clean = EVIL
	process = EVIL
	required = true
[log]
	showSignature = true
[gpg]
	program = EVIL
`, "EVIL", evil)...)
	if err := os.WriteFile(config, text, 0o600); err != nil {
		t.Fatal(err)
	}
	box := h.box(protocol.Sandbox{Mode: protocol.SandboxReadOnly, Network: protocol.SandboxNetworkOff})
	b, err := tool.Open(tool.Options{
		Session: "s", CWD: h.cwd, Host: recordless{}, Env: os.Environ(), Reader: func() *sandbox.Box { return box },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.Close() }()
	var shell llm.Tool
	for _, x := range b.Tools() {
		if x.Name == "shell" {
			shell = x
		}
	}
	for line, want := range map[string]string{
		"git status --short":                          " M file",
		"git diff":                                    "+++ b/file",
		"git log -p":                                  "commit ",
		"git show --stat":                             "commit ",
		"cat file | head -n 1":                        "changed",
		"echo x > made || echo REFUSED":               "REFUSED",
		"git commit -qam x || echo REFUSED":           "REFUSED",
		"echo x > .git/config || echo REFUSED":        "REFUSED",
		"cat < /dev/tcp/192.0.2.1/80 || echo REFUSED": "REFUSED",
	} {
		if err := os.WriteFile(filepath.Join(h.cwd, "file"), []byte("changed\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		input, err := json.Marshal(map[string]string{"command": line})
		if err != nil {
			t.Fatal(err)
		}
		c := &llm.ToolCall{ID: "c", Input: input, Confined: true}
		p, err := shell.Preview(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if reads := !strings.Contains(line, "REFUSED"); p.Confined != reads || p.Contained != reads {
			t.Errorf("%s: confined %t, contained %t", line, p.Confined, p.Contained)
		}
		r, err := p.Run(t.Context(), func(string) {})
		if err != nil || !strings.Contains(r.Text, want) || strings.Contains(r.Text, "EVIL") {
			t.Errorf("%s: %s, %v", line, r.Text, err)
		}
	}
	if _, err := os.Stat(filepath.Join(h.cwd, "made")); err == nil {
		t.Error("a confined command wrote a file")
	}
}
