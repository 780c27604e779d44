//go:build unix

package main

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheDataDirectoryIsFoundAsTheEnvironmentSays(t *testing.T) {
	tests := []struct {
		name, data string
		env        map[string]string
		want       string
	}{
		{"named", "/named", map[string]string{"XDG_DATA_HOME": "/xdg"}, "/named"},
		{"the desktop's", "", map[string]string{"XDG_DATA_HOME": "/xdg", "HOME": "/home"}, "/xdg/agentctl"},
		{"a relative one does not count", "", map[string]string{"XDG_DATA_HOME": "xdg", "HOME": "/home"}, "/home/.local/share/agentctl"},
		{"the user's", "", map[string]string{"HOME": "/home"}, "/home/.local/share/agentctl"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := &app{env: func(k string) string { return tt.env[k] }, flags: globals{Data: tt.data}}
			if got, err := a.dataDir(); err != nil || string(got) != tt.want {
				t.Errorf("%s, %v; want %s", got, err, tt.want)
			}
		})
	}
}

func TestTheTokenIsMadeOnceAndIsPrivate(t *testing.T) {
	d := dataDir(t.TempDir())
	first, err := d.token()
	if err != nil || len(first) < 32 {
		t.Fatalf("%q, %v", first, err)
	}
	if err := os.Chmod(d.path("token"), 0o644); err != nil {
		t.Fatal(err)
	}
	again, err := d.token()
	if err != nil || again != first {
		t.Errorf("%q then %q, %v", first, again, err)
	}
	info, err := os.Stat(d.path("token"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if names, _ := filepath.Glob(d.path(".*")); len(names) > 0 {
		t.Errorf("left behind: %v", names)
	}
}

func TestTheTokenGoesNowhereButToARunningServersOwnURL(t *testing.T) {
	d := dataDir(t.TempDir())
	token, err := d.token()
	if err != nil {
		t.Fatal(err)
	}
	if err := writePrivate(d.path("url"), "ws://127.0.0.1:7777\nws://[::1]:7777\n"); err != nil {
		t.Fatal(err)
	}
	if got := d.tokenFor("ws://127.0.0.1:7777"); got != "" {
		t.Error("no server runs, the port may be anybody's")
	}
	defer holdDir(t, d)()
	for url, want := range map[string]string{
		"ws://127.0.0.1:7777": token, "http://127.0.0.1:7777/v1/ws": token, "ws://[::1]:7777/": token,
		"ws://127.0.0.1:7778": "", "wss://127.0.0.1:7777": "", "ws://localhost:7777": "", "ws://127.0.0.1:7777.evil.example": "",
		"ws://evil@127.0.0.1:77": "", "unix:///x": "", "": "", "ws://": "",
	} {
		if got := d.tokenFor(url); got != want {
			t.Errorf("%s gets %q, want %q", url, got, want)
		}
	}
}

func TestTheSocketGoesWhereItsPathFits(t *testing.T) {
	short, run := dataDir(t.TempDir()), t.TempDir()
	if err := os.Chmod(run, 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := short.placeSocket(run); err != nil || got != short.path("agentctl.sock") || got != short.socket() {
		t.Errorf("%s, %v", got, err)
	}
	long := dataDir(filepath.Join(t.TempDir(), strings.Repeat("long/", 20)))
	if err := long.make(); err != nil {
		t.Fatal(err)
	}
	got, err := long.placeSocket(run)
	if err != nil || filepath.Dir(got) != run || got != long.socket() {
		t.Errorf("%s, %v; clients look at %s", got, err, long.socket())
	}
	other := dataDir(string(long) + "er")
	if err := other.make(); err != nil {
		t.Fatal(err)
	}
	if second, err := other.placeSocket(run); err != nil || second == got {
		t.Errorf("two directories share %s, %v", second, err)
	}
	if err := os.Chmod(run, 0o750); err != nil {
		t.Fatal(err)
	}
	if _, err := long.placeSocket(run); err == nil || !strings.Contains(err.Error(), "alone") {
		t.Errorf("a directory open to others: %v", err)
	}
}

// holdDir has a process of its own hold the directory, as a server does.
func holdDir(t *testing.T, d dataDir) (release func()) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "holder", string(d))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("holder says %q, %v", line, err)
	}
	return func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
}

func TestOneServerHoldsADirectory(t *testing.T) {
	d := dataDir(t.TempDir())
	if pid := d.owner(); pid != 0 {
		t.Errorf("nobody holds it, yet %d does", pid)
	}
	release := holdDir(t, d)
	if d.owner() == 0 {
		t.Error("nobody seems to hold it")
	}
	if _, err := d.lock(); !errors.Is(err, errLocked) {
		t.Errorf("locked twice: %v", err)
	}
	release()
	l, err := d.lock()
	if err != nil {
		t.Fatalf("after its holder ended: %v", err)
	}
	l.Close()
}

func TestADirectoryThatEverybodyUsesIsLeftAlone(t *testing.T) {
	d := dataDir(t.TempDir())
	for mode, taken := range map[os.FileMode]bool{0o755: true, 0o700: true, 0o777: false, 0o777 | os.ModeSticky: false} {
		if err := os.Chmod(string(d), mode); err != nil {
			t.Fatal(err)
		}
		err := d.make()
		info, statErr := os.Stat(string(d))
		if statErr != nil {
			t.Fatal(statErr)
		}
		if private := info.Mode().Perm() == 0o700; private != taken || (err == nil) != taken {
			t.Errorf("%o becomes %o, %v", mode, info.Mode(), err)
		}
	}
}
