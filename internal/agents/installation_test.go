package agents

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
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
		Registry: &Registry{},
		LookPath: func(string) (string, error) { return program, nil },
		Env:      func(name string) string { return env[name] },
		Home:     home,
	}
	check := func(agent, wantLogin, wantBy string) {
		t.Helper()
		r := x.Inspect(agent)
		if !r.Installed || r.Path != program || r.Version != "1.2.3" || r.Login != wantLogin || r.LoginBy != wantBy {
			t.Errorf("%s: %+v, want login %s by %q", agent, r, wantLogin, wantBy)
		}
	}
	check("gemini", LoginMissing, "")
	write(".gemini/oauth_creds.json", "{}")
	check("gemini", LoginFound, "~/.gemini/oauth_creds.json")
	env["GEMINI_API_KEY"] = "k"
	check("gemini", LoginFound, "GEMINI_API_KEY")
	check("auggie", LoginUnknown, "")

	x.Registry.Configured = map[string]Config{
		"mine":  {Command: "/opt/my agents/gemini", Env: map[string]string{"HOME": "/nowhere"}},
		"keyed": {Command: "gemini", Env: map[string]string{"GOOGLE_API_KEY": "k"}},
		"other": {Command: "other"},
		"demo":  {Script: program},
	}
	clear(env)
	check("mine", LoginMissing, "")
	check("keyed", LoginFound, "GOOGLE_API_KEY")
	check("other", LoginUnknown, "")
	if r := x.Inspect("demo"); !r.Installed || r.Script != program || !r.Configured || r.Login != "" {
		t.Errorf("%+v", r)
	}

	x.LookPath = func(string) (string, error) { return "", errors.New("no") }
	for agent, install := range map[string]string{"mine": "npm install -g @google/gemini-cli", "other": ""} {
		if r := x.Inspect(agent); r.Installed || r.Login != "" || r.Install != install || !r.Configured {
			t.Errorf("%+v", r)
		}
	}
}
