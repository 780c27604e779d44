package agents

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"

	"agentctl/server/agent/acp/catalog"
)

// The states of a login.
const (
	LoginFound   = "found"   // a key or a stored login: it may have expired
	LoginMissing = "missing" // neither
	LoginUnknown = "unknown" // the agent keeps its login elsewhere
	LoginReady   = "ready"   // the agent started with it
)

// An Installation describes an agent on this machine, as far as possible without starting it.
type Installation struct {
	Agent      string `json:"agent"`
	Title      string `json:"title,omitempty"`
	Configured bool   `json:"configured,omitempty"` // in the configuration of the server
	Script     string `json:"script,omitempty"`     // path; nothing else is known of a script
	Model      string `json:"model,omitempty"`      // that it requests itself; it runs in the server
	URL        string `json:"url,omitempty"`        // of an agent on another machine
	Pipeline   string `json:"pipeline,omitempty"`   // its agents; it runs in the server
	Installed  bool   `json:"installed"`
	Path       string `json:"path,omitempty"`
	Version    string `json:"version,omitempty"`
	Login      string `json:"login,omitempty"`    // a state; empty: not installed
	LoginBy    string `json:"login_by,omitempty"` // the variable or file that was found
	Install    string `json:"install,omitempty"`  // how to install it
	LogIn      string `json:"log_in,omitempty"`   // how to log in
	Decides    string `json:"decides,omitempty"`  // what the agent allows without asking
	Program    string `json:"program,omitempty"`  // as the server runs it
}

// An Inspector looks at the agents of this machine.
type Inspector struct {
	Registry *Registry
	LookPath func(program string) (string, error)
	Env      func(name string) string
	Home     string
}

// Inspect returns the installation of an agent of the registry.
func (x *Inspector) Inspect(agent string) Installation {
	_, configured := x.Registry.Configured[agent]
	r := Installation{Agent: agent, Configured: configured}
	if file, ok := x.Registry.script(agent); ok {
		_, err := os.Stat(file)
		r.Script, r.Installed = file, err == nil
		return r
	}
	if x.Registry.isPipeline(agent) {
		return x.inspectPipeline(r)
	}
	if x.Registry.isModel(agent) {
		return x.inspectModel(agent, r)
	}
	c, err := x.Registry.Find(agent)
	if err != nil {
		return r
	}
	if c.Remote != nil {
		r.URL, r.Installed, r.Login = c.Remote.URL, true, LoginUnknown
		return r
	}
	p, _ := x.Registry.FindPreset(agent)
	r.Title, r.Program, r.Install, r.LogIn, r.Decides = p.Title, c.Command[0], p.Install, p.Login, p.Decides
	path, err := x.LookPath(r.Program)
	if err != nil {
		return r
	}
	r.Installed, r.Path, r.Version = true, path, packageVersion(path)
	r.Login, r.LoginBy = x.login(&p, c.Env)
	return r
}

// login looks for a key and for a stored login, in the environment of this shell and of the
// configuration.
func (x *Inspector) login(p *catalog.Preset, env map[string]string) (state, by string) {
	for _, name := range p.Keys {
		if cmp.Or(env[name], x.Env(name)) != "" {
			return LoginFound, name
		}
	}
	for _, file := range p.LoginFiles {
		path := filepath.Join(cmp.Or(env["HOME"], x.Home), filepath.FromSlash(file))
		if _, err := os.Stat(path); err == nil {
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
