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
	"agentctl/server/policy"
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
			if err := b.Refuses(&policy.Effect{Files: []string{path}}); (err == nil) != (want || private) {
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

// Everything that is known by its place below the home directory is known where variables of the agent
// move it.
func TestStateLoginsAndCachesFollowTheVariablesOfTheAgent(t *testing.T) {
	state := []State{
		{Dir: ".agent", Moved: []string{"AGENT_DIR"}, Kept: []string{"log/", "login"}, Read: []string{"settings.json"}},
		{Dir: ".config/agent", Moved: []string{"AGENT_ROOT/config", "XDG_CONFIG_HOME/agent"}, Read: []string{"rules"}},
		{Dir: ".", Moved: []string{"AGENT_DIR"}, Copied: []string{".agent.json"}},
		{Moved: []string{"AGENT_EXTRA"}, Kept: []string{"data/"}, Variables: map[string]string{"AGENT_DB": "data/db"}},
	}
	files := []string{
		"at/agent/settings.json", "at/agent/hooks.json", "at/agent/login", "at/agent/.agent.json", "at/config/agent/rules",
		"at/config/gh/hosts.yml", "at/cache/pip/x", "at/cache/other", "at/cargo/credentials.toml", "at/cargo/registry/x",
		"root/config/rules", ".agent/login", ".agent.json", ".config/agent/rules", "new/.agent/login", "new/.ssh/id",
		"new/.agent.json",
	}
	for name, c := range map[string]struct {
		env  []string // with HOME/ for the home directory
		want map[string]access
	}{
		"nothing is set": {nil, map[string]access{
			".agent/login": write, ".agent/log/x": write, ".agent/new": private, ".agent.json": write, ".config/agent/rules": read,
			"at/agent/login": read, "at/config/gh/hosts.yml": read,
		}},
		"everything is set": {
			[]string{
				"AGENT_DIR=HOME/at/agent", "XDG_CONFIG_HOME=HOME/at/config", "XDG_CACHE_HOME=HOME/at/cache",
				"CARGO_HOME=HOME/at/cargo", "AGENT_EXTRA=HOME/extra",
			},
			map[string]access{
				"at/agent/login": write, "at/agent/log/x": write, "at/agent/settings.json": read, "at/agent/hooks.json": private,
				"at/agent/.agent.json": write, "at/config/agent/rules": read, "at/config/agent/new": private,
				"at/config/gh/hosts.yml": hidden, "at/config/git": read, "at/cache/pip/x": write, "at/cache/other": private,
				"at/cargo/credentials.toml": hidden, "at/cargo/registry/x": write, "extra/data/x": write, "extra/new": private,
				".agent/login": read, ".agent.json": read,
			},
		},
		"a root before XDG": {[]string{"AGENT_ROOT=HOME/root", "XDG_CONFIG_HOME=HOME/at/config"}, map[string]access{
			"root/config/rules": read, "root/config/new": private, "at/config/agent/rules": read, "at/config/agent/new": read,
		}},
		"a relative directory": {
			[]string{"AGENT_DIR=state"}, map[string]access{"work/state/log/x": write, "work/state/new": private},
		},
		"another home directory": {[]string{"HOME=HOME/new"}, map[string]access{
			"new/.agent/login": write, "new/.agent/new": private, "new/.ssh/id": hidden, ".ssh/id": hidden,
			".agent/login": read, "new/.agent.json": write,
		}},
	} {
		b, home := newTestBox(t, protocol.SandboxWorkspace, append(files, ".ssh/id")...)
		b.options.State, b.options.Dir = state, filepath.Join(home, "s")
		if err := os.MkdirAll(b.options.Dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, kv := range c.env {
			b.options.Env = append(b.options.Env, strings.ReplaceAll(kv, "HOME/", home+"/"))
		}
		rules, err := b.table()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for file, want := range c.want {
			if a := rules.at(filepath.Join(home, file)).access; a != want {
				t.Errorf("%s: %s has the access %d, want %d", name, file, a, want)
			}
		}
		db := "AGENT_DB=" + filepath.Join(home, "extra/data/db")
		if got := slices.Contains(b.environment(nil), db); got != (name == "everything is set") {
			t.Errorf("%s: the variable of the state is set: %t", name, got)
		}
	}
}

func TestStateInADirectoryOfTheServerIsRefused(t *testing.T) {
	b, home := newTestBox(t, protocol.SandboxWorkspace)
	b.options.State[0].Moved = []string{"AGENT_DIR"}
	b.options.Env = []string{"AGENT_DIR=" + filepath.Join(home, ".local/share/agentctl/x")}
	if _, err := b.table(); err == nil || !strings.Contains(err.Error(), "a directory of the server") {
		t.Error(err)
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
	if _, err := b.table(); err != nil { // of a server that is killed
		t.Fatal(err)
	}
	if err := RemoveLeft(b.host.options.Dir); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{path, b.host.options.Dir} {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s after RemoveLeft: %v", path, err)
		}
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
	rules["/Users/ada/.agent.json"] = rule{
		path: "/Users/ada/.agent.json", source: "/Users/ada/data/copy", access: write,
	}
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
	b.options.Env = os.Environ()
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
