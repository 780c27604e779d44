package agents

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"agentctl/server/agent/acp"
)

func TestAnInstallationTellsVersionAndLogin(t *testing.T) {
	home := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("lib/pack/package.json", `{"name":"pack","version":"1.2.3"}`)
	program := filepath.Join(home, "agent")
	if err := os.Symlink(write("lib/pack/dist/index.js", ""), program); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{}
	x := Inspector{
		LookPath: func(string) (string, error) { return program, nil },
		Env:      func(name string) string { return env[name] },
		Home:     home,
	}
	p := acp.Preset{
		Name: "a", Command: []string{"agent"}, Install: "get it", Login: "log in", Keys: []string{"A_KEY"},
		LoginFiles: []string{".a/auth.json"},
	}
	check := func(wantLogin, wantBy string) {
		t.Helper()
		r := x.Inspect(&p)
		if !r.Installed || r.Path != program || r.Version != "1.2.3" || r.Login != wantLogin || r.LoginBy != wantBy {
			t.Errorf("%+v, want login %s by %q", r, wantLogin, wantBy)
		}
	}
	check(LoginMissing, "")
	write(".a/auth.json", "{}")
	check(LoginFound, "~/.a/auth.json")
	env["A_KEY"] = "k"
	check(LoginFound, "A_KEY")
	p.LoginFiles, env = nil, map[string]string{}
	check(LoginUnknown, "")
	x.LookPath = func(string) (string, error) { return "", errors.New("no") }
	if r := x.Inspect(&p); r.Installed || r.Login != "" || r.Install != "get it" {
		t.Errorf("%+v", r)
	}
}
