package agents

import (
	"encoding/json"
	"os"
	"path/filepath"

	"agentctl/server/agent/acp"
)

// The states of a login.
const (
	LoginFound   = "found"   // a key or a stored login: it may have expired
	LoginMissing = "missing" // neither
	LoginUnknown = "unknown" // the agent keeps its login elsewhere
	LoginReady   = "ready"   // the agent started with it
)

// An Installation is what can be known of a preset on this machine without starting it.
type Installation struct {
	Agent     string `json:"agent"`
	Title     string `json:"title,omitempty"`
	Installed bool   `json:"installed"`
	Path      string `json:"path,omitempty"`
	Version   string `json:"version,omitempty"`
	Login     string `json:"login,omitempty"`    // a state; empty: not installed
	LoginBy   string `json:"login_by,omitempty"` // the variable or file that was found
	Install   string `json:"install,omitempty"`  // how to install it
	LogIn     string `json:"log_in,omitempty"`   // how to log in
	Decides   string `json:"decides,omitempty"`  // what the agent allows without asking
}

// An Inspector looks at the presets of this machine.
type Inspector struct {
	LookPath func(program string) (string, error)
	Env      func(name string) string
	Home     string
}

// Inspect returns the installation of a preset.
func (x *Inspector) Inspect(p *acp.Preset) Installation {
	r := Installation{Agent: p.Name, Title: p.Title, Install: p.Install, LogIn: p.Login, Decides: p.Decides}
	path, err := x.LookPath(p.Command[0])
	if err != nil {
		return r
	}
	r.Installed, r.Path, r.Version = true, path, packageVersion(path)
	r.Login, r.LoginBy = x.login(p)
	return r
}

// login looks for a key and for a stored login.
func (x *Inspector) login(p *acp.Preset) (state, by string) {
	for _, name := range p.Keys {
		if x.Env(name) != "" {
			return LoginFound, name
		}
	}
	for _, file := range p.LoginFiles {
		if _, err := os.Stat(filepath.Join(x.Home, filepath.FromSlash(file))); err == nil {
			return LoginFound, "~/" + file
		}
	}
	if p.LoginFiles == nil {
		return LoginUnknown, ""
	}
	return LoginMissing, ""
}

// packageVersion returns the version of the npm package that a program belongs to, or "".
func packageVersion(path string) string {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	for dir := filepath.Dir(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		b, err := os.ReadFile(filepath.Join(dir, "package.json"))
		if err != nil {
			continue
		}
		var p struct{ Version string }
		if json.Unmarshal(b, &p) == nil && p.Version != "" {
			return p.Version
		}
	}
	return ""
}
