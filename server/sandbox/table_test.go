package sandbox

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"agentctl/protocol"
)

var update = flag.Bool("update", false, "write the golden file")

// The home directories of the tests are temporary.
func TestMain(m *testing.M) {
	temporary = []string{"/run"}
	os.Exit(m.Run())
}

// newTestBox returns a sandbox of a directory in a home directory with files.
func newTestBox(t *testing.T, mode protocol.SandboxMode, files ...string) (b *Box, home string) {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(files, "work/file", ".local/share/agentctl/token") {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h := New(Options{Home: home, Own: []string{filepath.Join(home, ".local/share/agentctl")}, Dir: filepath.Join(home, "s")})
	t.Cleanup(h.Close)
	b = &Box{
		host: h, home: home, sandbox: protocol.Sandbox{Mode: mode},
		options: BoxOptions{CWD: filepath.Join(home, "work"), State: []State{{Dir: ".agent", Kept: []string{"log/"}}}},
	}
	if err := b.checkCWD(); err != nil {
		t.Fatal(err)
	}
	return b, home
}

func TestFileToolsObeyTheTable(t *testing.T) {
	files := []string{
		".ssh/id", ".ssh/config", ".cache/go-build/x", ".cache/other", ".bashrc", "work/.git/HEAD", "work/.git/config",
		"other/file",
	}
	for _, c := range []struct {
		path                string
		read                bool
		workspace, readOnly bool // written in the mode
	}{
		{"work/file", true, true, false},
		{"work/new/file", true, true, false},
		{"work/.git/HEAD", true, true, false},
		{"work/.git/config", true, false, false},
		{"work/.git/hooks/post-commit", true, false, false},
		{"work/.git/commondir", true, false, false},
		{"other/file", true, false, false},
		{".bashrc", true, false, false},
		{".ssh/id", false, false, false},
		{".ssh/config", true, false, false},
		{".local/share/agentctl/token", false, false, false},
		{".cache/go-build/x", true, true, false},
		{".cache/other", false, false, false},
		{".agent/log/x", true, true, false},
		{".agent/settings.json", false, false, false},
	} {
		for _, mode := range []protocol.SandboxMode{protocol.SandboxWorkspace, protocol.SandboxReadOnly} {
			if mode == protocol.SandboxReadOnly && strings.HasPrefix(c.path, ".agent/log") {
				continue // the log of a process is its own
			}
			b, home := newTestBox(t, mode, files...)
			path, want := filepath.Join(home, c.path), c.workspace
			if mode == protocol.SandboxReadOnly {
				want = c.readOnly
			}
			if err := b.May(path, false); (err == nil) != c.read {
				t.Errorf("%s: read %s: %v", mode, c.path, err)
			}
			if err := b.May(path, true); (err == nil) != want || err != nil && !errors.Is(err, fs.ErrPermission) {
				t.Errorf("%s: write %s: %v", mode, c.path, err)
			}
			private := c.path == ".cache/other" || c.path == ".agent/settings.json" // a process changes its own
			if err := b.Refuses(path); (err == nil) != (want || private) {
				t.Errorf("%s: change %s: %v", mode, c.path, err)
			}
		}
	}
	if err := (*Box)(nil).May("/etc/passwd", true); err != nil {
		t.Errorf("without a sandbox: %v", err)
	}
}

func TestAProcessHasCachesInAHomeDirectoryWithoutAny(t *testing.T) {
	for _, mode := range []protocol.SandboxMode{protocol.SandboxWorkspace, protocol.SandboxReadOnly} {
		b, home := newTestBox(t, mode)
		rules, err := b.table()
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range cacheDirectories {
			if r := rules.at(filepath.Join(home, name)); r.access != private {
				t.Errorf("%s: %s is %+v", mode, name, r)
			}
		}
	}
}

func TestAnAgentWritesItsStateElsewhereInTheModeWorkspace(t *testing.T) {
	for mode, want := range map[protocol.SandboxMode]string{
		protocol.SandboxWorkspace: ".agent/log/db", protocol.SandboxReadOnly: "set",
	} {
		b, home := newTestBox(t, mode)
		b.options.State[0].Variables = map[string]string{"AGENT_DB": "log/db"}
		var got string // the last one counts
		for _, kv := range b.environment([]string{"AGENT_DB=set"}) {
			if name, value, _ := strings.Cut(kv, "="); name == "AGENT_DB" {
				got = strings.TrimPrefix(value, home+"/")
			}
		}
		if got != want {
			t.Errorf("%s: the variable is %q, want %q", mode, got, want)
		}
	}
}

// A protected path and its cover must not part: each directory between it and the directory that is
// written is a mount.
func TestEveryDirectoryAboveAProtectedPathIsAMount(t *testing.T) {
	names := rapid.SampledFrom([]string{"a", "b", "c", "d"})
	rapid.Check(t, func(t *rapid.T) {
		rules := table{"/w": {path: "/w", access: write, dir: true}}
		for range rapid.IntRange(1, 6).Draw(t, "rules") {
			path := "/w/" + strings.Join(rapid.SliceOfN(names, 1, 5).Draw(t, "path"), "/")
			rules[path] = rule{path: path, access: access(rapid.IntRange(0, 3).Draw(t, "access")), dir: true}
		}
		before := len(rules)
		rules.pin()
		for path, r := range rules {
			parent := filepath.Dir(path)
			if over := rules.at(parent); r.access != write && over.access == write && over.path != parent {
				t.Fatalf("%s is %d below %s, and %s has no rule", path, r.access, over.path, parent)
			}
		}
		rules.pin()
		if before > len(rules) {
			t.Fatal("a rule was lost")
		}
	})
}

func TestADirectoryThatNoSandboxConfinesIsRefused(t *testing.T) {
	b, home := newTestBox(t, protocol.SandboxWorkspace, ".config/systemd/user/x", "bin/x", "work/deep/x", ".local/x")
	for cwd, ok := range map[string]bool{
		"work": true, "work/deep": true, "": false, "..": false, ".config": false, ".config/systemd/user": false,
		"bin": false, ".local": false, ".local/share/agentctl": false,
	} {
		b.options.CWD = filepath.Join(home, cwd)
		if err := b.checkCWD(); (err == nil) != ok || err != nil && protocol.CodeOf(err) != protocol.CodeInvalidMessage {
			t.Errorf("%q: %v", cwd, err)
		}
	}
}

func TestADirectoryOfTheServerThatWasMovedIsNoticed(t *testing.T) {
	b, home := newTestBox(t, protocol.SandboxWorkspace)
	if _, err := b.table(); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(home, ".local/share/agentctl")
	if err := os.Rename(dir, dir+"2"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := b.table(); err == nil {
		t.Error("another directory has its name, and a process would start")
	}
}

func TestAFileOfGitOpensNoOtherDirectory(t *testing.T) {
	b, home := newTestBox(t, protocol.SandboxWorkspace, "other/HEAD", "other/config", "other/worktrees/x/HEAD")
	for _, content := range []string{
		"gitdir: ../other\n", "gitdir: ../other/worktrees/x\n", "gitdir: " + home + "\n", "", "gitdir: \n", "x",
	} {
		if err := os.WriteFile(filepath.Join(home, "work", ".git"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		rules, err := b.table()
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"other", "other/worktrees/x", ""} {
			if a := rules.at(filepath.Join(home, path)).access; a == write {
				t.Errorf("%q: %q is written", content, path)
			}
		}
	}
}

func TestTheFileThatHoldsARepositoryGoesWithTheHost(t *testing.T) {
	b, home := newTestBox(t, protocol.SandboxWorkspace, "work/.git/HEAD", "work/.git/config")
	if _, err := b.table(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(home, "work/.git/commondir")
	if content, err := os.ReadFile(path); err != nil || string(content) != selfCommonDir {
		t.Errorf("%q, %v", content, err)
	}
	b.host.Close()
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after Close: %v", err)
	}
}

func TestTheEnvironmentNamesNoSocketAndNoOtherServer(t *testing.T) {
	b, _ := newTestBox(t, protocol.SandboxWorkspace)
	b.options.Dir = "/sandbox"
	env := b.environment([]string{
		"PATH=/bin", "SSH_AUTH_SOCK=/tmp/a", "DISPLAY=:0", "AGENTCTL_DATA=/d", "AGENTCTL_SERVER=unix:///user", "TMUX=x",
	})
	if want := []string{"PATH=/bin", "AGENTCTL_SERVER=unix://" + b.inside()}; !slices.Equal(env, want) {
		t.Errorf("%q, want %q", env, want)
	}
	b.host.options.Config.Allow = []string{"/tmp/a"}
	if env := b.environment([]string{"SSH_AUTH_SOCK=/tmp/a"}); !slices.Contains(env, "SSH_AUTH_SOCK=/tmp/a") {
		t.Errorf("the allowed socket is not named: %q", env)
	}
}

func TestASystemWithoutASandboxRefusesSessionsWithOne(t *testing.T) {
	var h *Host
	for mode, code := range map[protocol.SandboxMode]protocol.Code{
		"": "", protocol.SandboxOff: "", protocol.SandboxWorkspace: protocol.CodeUnsupported,
	} {
		box, err := h.Box(protocol.Sandbox{Mode: mode}, BoxOptions{CWD: "/"})
		if box != nil || (err != nil) != (code != "") || code != "" && protocol.CodeOf(err) != code {
			t.Errorf("%q: %v, %v", mode, box, err)
		}
	}
}

func TestTheProfileOfMacOSIsTheTable(t *testing.T) {
	rules := table{}
	for path, a := range map[string]access{
		"/private/tmp": private, "/Users/ada/.ssh": hidden, "/Users/ada/.ssh/config": read, "/Users/ada/work": write,
		"/Users/ada/work/.git": write, "/Users/ada/work/.git/hooks": read, `/Users/ada/a "quoted" name`: hidden,
	} {
		rules[path] = rule{path: path, access: a, dir: true}
	}
	rules[socketInside] = rule{path: socketInside, source: "/Users/ada/data/socket"}
	got := seatbeltProfile(rules, protocol.Sandbox{
		Mode: protocol.SandboxWorkspace, Network: protocol.SandboxNetworkOff,
	}, "/Users/ada/data/tmp")
	golden := filepath.Join("testdata", "profile.sb")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("profile:\n%s\nwant:\n%s", got, want)
	}
}

func TestWhatTheEnvironmentNamesIsHidden(t *testing.T) {
	b, home := newTestBox(t, protocol.SandboxWorkspace, "state/agentctl/servers", "keys/id", "gocache/x")
	t.Setenv("XDG_STATE_HOME", filepath.Join(home, "state"))
	t.Setenv("GNUPGHOME", filepath.Join(home, "keys"))
	t.Setenv("GOCACHE", filepath.Join(home, "gocache"))
	t.Setenv("PIP_CACHE_DIR", home)
	t.Setenv("KUBECONFIG", "relative")
	rules, err := b.table()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]access{
		"state/agentctl/servers": hidden, "state": read, "keys/id": hidden, "gocache/x": write, "": read,
	} {
		if a := rules.at(filepath.Join(home, name)).access; a != want {
			t.Errorf("%q has the access %d, want %d", name, a, want)
		}
	}
}
