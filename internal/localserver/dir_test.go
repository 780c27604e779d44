//go:build unix

package localserver

import (
	"os"
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
		{
			"a relative one does not count", "",
			map[string]string{"XDG_DATA_HOME": "xdg", "HOME": "/home"},
			"/home/.local/share/agentctl",
		},
		{"the user's", "", map[string]string{"HOME": "/home"}, "/home/.local/share/agentctl"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env := func(k string) string { return tt.env[k] }
			if got, err := FindDir(env, tt.data); err != nil || string(got) != tt.want {
				t.Errorf("%s, %v; want %s", got, err, tt.want)
			}
		})
	}
}

func TestTheTokenIsMadeOnceAndIsPrivate(t *testing.T) {
	d := Dir(t.TempDir())
	first, err := d.Token()
	if err != nil || len(first) < 32 {
		t.Fatalf("%q, %v", first, err)
	}
	if err := os.Chmod(d.Path("token"), 0o644); err != nil {
		t.Fatal(err)
	}
	again, err := d.Token()
	if err != nil || again != first {
		t.Errorf("%q then %q, %v", first, again, err)
	}
	info, err := os.Stat(d.Path("token"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if names, _ := filepath.Glob(d.Path(".*")); len(names) > 0 {
		t.Errorf("left behind: %v", names)
	}
}

func TestTheTokenGoesNowhereButToARunningServersOwnURL(t *testing.T) {
	d := Dir(t.TempDir())
	token, err := d.Token()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.RecordURLs([]string{"ws://127.0.0.1:7777", "ws://[::1]:7777"}); err != nil {
		t.Fatal(err)
	}
	if got := d.TokenFor("ws://127.0.0.1:7777"); got != "" {
		t.Error("no server runs: another program may have the port")
	}
	defer startServer(t, d)()
	for url, want := range map[string]string{
		"ws://127.0.0.1:7777": token, "http://127.0.0.1:7777/v1/ws": token, "ws://[::1]:7777/": token,
		"ws://127.0.0.1:7778": "", "wss://127.0.0.1:7777": "", "ws://localhost:7777": "",
		"ws://127.0.0.1:7777.evil.example": "",
		"ws://evil@127.0.0.1:77":           "", "unix:///x": "", "": "", "ws://": "",
	} {
		if got := d.TokenFor(url); got != want {
			t.Errorf("%s gets %q, want %q", url, got, want)
		}
	}
}

func TestTheSocketGoesWhereItsPathFits(t *testing.T) {
	short, run := Dir(t.TempDir()), t.TempDir()
	if err := os.Chmod(run, 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := short.PlaceSocket(run); err != nil || got != short.Path("agentctl.sock") || got != short.Socket() {
		t.Errorf("%s, %v", got, err)
	}
	long := Dir(filepath.Join(t.TempDir(), strings.Repeat("long/", 20)))
	if err := long.Create(); err != nil {
		t.Fatal(err)
	}
	got, err := long.PlaceSocket(run)
	if err != nil || filepath.Dir(got) != run || got != long.Socket() {
		t.Errorf("%s, %v; clients use %s", got, err, long.Socket())
	}
	other := Dir(string(long) + "er")
	if err := other.Create(); err != nil {
		t.Fatal(err)
	}
	if second, err := other.PlaceSocket(run); err != nil || second == got {
		t.Errorf("two directories share %s, %v", second, err)
	}
	if err := os.Chmod(run, 0o750); err != nil {
		t.Fatal(err)
	}
	if _, err := long.PlaceSocket(run); err == nil || !strings.Contains(err.Error(), "closed to others") {
		t.Errorf("a directory open to others: %v", err)
	}
}

func TestADirectoryThatEverybodyUsesIsRefused(t *testing.T) {
	d := Dir(t.TempDir())
	for mode, taken := range map[os.FileMode]bool{
		0o755: true, 0o700: true, 0o777: false,
		0o777 | os.ModeSticky: false,
	} {
		if err := os.Chmod(string(d), mode); err != nil {
			t.Fatal(err)
		}
		err := d.Create()
		info, statErr := os.Stat(string(d))
		if statErr != nil {
			t.Fatal(statErr)
		}
		if private := info.Mode().Perm() == 0o700; private != taken || (err == nil) != taken {
			t.Errorf("%o becomes %o, %v", mode, info.Mode(), err)
		}
	}
}

func TestTheConfigurationIsThatOfTheRunningServer(t *testing.T) {
	d := Dir(t.TempDir())
	path := filepath.Join(t.TempDir(), "server.json")
	if err := d.RecordConfig(path); err != nil {
		t.Fatal(err)
	}
	if got := d.ConfigPath(); got != "" {
		t.Errorf("no server runs: %q", got)
	}
	stop := startServer(t, d)
	if got := d.ConfigPath(); got != path {
		t.Errorf("%q, want %q", got, path)
	}
	if err := d.RecordConfig(""); err != nil {
		t.Fatal(err)
	}
	if got := d.ConfigPath(); got != "" {
		t.Errorf("a server without one: %q", got)
	}
	if err := d.RecordConfig(path); err != nil {
		t.Fatal(err)
	}
	stop()
	if _, err := os.Stat(d.Path("config_path")); !os.IsNotExist(err) {
		t.Errorf("left behind: %v", err)
	}
}
