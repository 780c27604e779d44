package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/server/policy"
)

// refusal returns why a sandbox refuses a line, or "".
func refusal(b *Box, line string) string {
	a := protocol.Approval{Kind: protocol.ApproveCommand, Command: line, CWD: b.options.CWD}
	effects := policy.Effects(&a)
	for i := range effects {
		if err := b.Refuses(&effects[i]); err != nil {
			return err.Error()
		}
	}
	return ""
}

// temporaryIn makes a directory of a home directory a temporary one of sandboxes.
func temporaryIn(t *testing.T, home string) {
	t.Helper()
	if err := os.Mkdir(filepath.Join(home, "tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	before := temporary
	temporary = append(temporary, filepath.Join(home, "tmp"))
	t.Cleanup(func() { temporary = before })
}

func TestWhatASandboxRefuses(t *testing.T) {
	b, home := newTestBox(
		t, protocol.SandboxWorkspace, ".ssh/id", ".cache/go-build/x", ".bashrc", "work/.git/HEAD", "other/a/b",
	)
	b.sandbox.Network = protocol.SandboxNetworkOff
	temporaryIn(t, home)
	work := filepath.Join(home, "work")
	for link, target := range map[string]string{"out": filepath.Join(home, "other"), "nowhere": "/nonexistent/a"} {
		if err := os.Symlink(target, filepath.Join(work, link)); err != nil {
			t.Fatal(err)
		}
	}
	programs := t.TempDir()
	for name, mode := range map[string]os.FileMode{"sudo": 0o755 | os.ModeSetuid, "doas": 0o755} {
		file := filepath.Join(programs, name)
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", programs)
	replace := strings.NewReplacer("HOME", home)
	for line, want := range map[string]bool{
		"echo x > /usr/share/a":               true,
		"echo x >> HOME/.bashrc":              true,
		"echo x > HOME/.ssh/a":                true,
		"echo x > .git/config":                true,
		"echo x > ../other/a":                 true,
		"cp file /usr/local/bin/a":            true,
		"mv file /usr/local/bin/a":            true,
		"rm HOME/other/a/b":                   true,
		"mkdir -p /opt/a/b":                   true,
		"touch HOME/other/a/b":                true,
		"tee /etc/a":                          true,
		"ln -s a /usr/local/bin/a":            true,
		"sed -i s/a/b/ HOME/.bashrc":          true,
		"git init HOME/other/new":             true,
		"make && sudo make install":           true,
		"curl https://example.com":            true,
		"git clone https://example.com/a b":   true,
		"ssh u@example.com":                   true,
		"curl http://203.0.113.7/":            true,
		"wget -q https://example.com:8443/a":  true,
		"cd HOME/other && echo x > a/c":       true,
		"cp -r file HOME/other":               true,
		"chmod 600 HOME/other/a/b":            true,
		"bash -lc 'echo x > /usr/share/a'":    true,
		"echo x > a":                          false,
		"echo x > HOME/work/a":                false,
		"mkdir -p a/b && touch a/b/c":         false,
		"echo x > HOME/tmp/a":                 false,
		"echo x > /dev/null":                  false,
		"echo x > /dev/shm/a":                 false,
		"echo x > /dev/stderr":                false,
		"echo x > /proc/self/comm":            false,
		"echo x > HOME/.cache/a":              false,
		"echo x > HOME/.cache/go-build/a":     false,
		"cp /etc/hosts a":                     false,
		"rm -f /usr/share/missing":            false,
		"rm -f HOME/.ssh/id":                  false, // it does not exist there
		"rm -rf HOME":                         false, // parts of it are written
		"cp -r a HOME":                        false,
		"mkdir -p HOME/other":                 false,
		"echo x > out/a":                      false, // the line may replace the link
		"echo x > nowhere":                    false,
		"echo x > /usr/share/a || echo y > a": false,
		"doas ls":                             false, // another program by this name
		"su -c ls":                            false,
		"curl http://localhost:8080":          false,
		"curl http://127.0.0.1:8080":          false,
		"curl http://0.0.0.0:8080":            false,
		"curl 'http://[::1]:8080'":            false,
		"curl http://app.test/":               false,
		"curl http://app/":                    false,
		"curl http://0x7f.1/":                 false,
		"ssh build":                           false,
		"npm install":                         false,
		"git push origin main":                false,
	} {
		if got := refusal(b, replace.Replace(line)); (got != "") != want {
			t.Errorf("%s: refused %q", line, got)
		}
	}
	b.sandbox.Network = protocol.SandboxNetworkOn
	if got := refusal(b, "curl https://example.com"); got != "" {
		t.Errorf("with the network: %s", got)
	}
	b.sandbox.Network = protocol.SandboxNetworkOff
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[url \"/mirror/\"]\n\tinsteadOf = https://\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := refusal(b, "git clone https://example.com/a b"); got != "" {
		t.Errorf("with other addresses: %s", got)
	}
	b, home = newTestBox(t, protocol.SandboxReadOnly, ".cache/go-build/x")
	temporaryIn(t, home)
	for line, want := range map[string]bool{
		"echo x > a": true, "echo x > HOME/tmp/a": false, "touch HOME/.cache/go-build/a": true,
	} {
		if got := refusal(b, strings.ReplaceAll(line, "HOME", home)); (got != "") != want {
			t.Errorf("read-only: %s: refused %q", line, got)
		}
	}
}

// Of ordinary lines a sandbox without the network refuses those that reach a host or gain privileges,
// and no other.
func TestOrdinaryLinesAreNotRefused(t *testing.T) {
	b, home := newTestBox(t, protocol.SandboxWorkspace, "work/.git/HEAD", "work/.git/config")
	temporaryIn(t, home)
	b.sandbox.Network = protocol.SandboxNetworkOff
	text, err := os.ReadFile("../policy/testdata/ordinary.txt")
	if err != nil {
		t.Fatal(err)
	}
	var refused []string
	lines := 0
	for entry := range strings.SplitSeq(string(text), "\n") {
		_, line, ok := strings.Cut(strings.ReplaceAll(entry, "⏎", "\n"), "\t")
		if !ok {
			continue
		}
		lines++
		line = strings.ReplaceAll(line, " /tmp/", " "+home+"/tmp/")
		if why := refusal(b, line); why != "" {
			refused = append(refused, line+": "+why)
		}
	}
	t.Logf("%d lines, refused:\n%s", lines, strings.Join(refused, "\n"))
	refused = slices.DeleteFunc(refused, func(line string) bool {
		return strings.Contains(line, "has no network: ") ||
			strings.Contains(line, "sudo") && strings.Contains(line, "gains privileges: ")
	})
	if len(refused) > 0 {
		t.Errorf("refused: %q", refused)
	}
}
