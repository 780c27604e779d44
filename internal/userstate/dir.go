package userstate

import (
	"path/filepath"
	"runtime"
)

// A Dir is a directory for state of the user. It need not exist. The zero Dir is for a system that
// has no place for state: its files are missing, and saving does nothing.
type Dir struct {
	path   string
	former []string // directories of earlier versions, in which a file may still be
}

// Find returns the directory of the user in env: agentctl in XDG_STATE_HOME, else in ~/.local/state
// or, on Windows, in LocalAppData.
func Find(env func(string) string) Dir { return find(runtime.GOOS, env) }

func find(goos string, env func(string) string) Dir {
	abs := func(name string) string {
		if dir := env(name); filepath.IsAbs(dir) {
			return dir
		}
		return ""
	}
	home, appData := abs("HOME"), abs("LocalAppData")
	var candidates []string // the first is where files are written
	add := func(parent string, below ...string) {
		if parent != "" {
			candidates = append(candidates, filepath.Join(append(append([]string{parent}, below...), "agentctl")...))
		}
	}
	state := abs("XDG_STATE_HOME")
	switch {
	case state != "":
		add(state)
	case goos == "windows":
		add(appData)
		add(appData, ".local", "state")
		add(home, ".local", "state")
	case goos == "darwin":
		add(home, ".local", "state")
		add(home, "Library", "Application Support")
	default:
		add(home, ".local", "state")
	}
	if len(candidates) == 0 || state == "" && goos == "windows" && appData == "" {
		return Dir{}
	}
	return Dir{candidates[0], candidates[1:]}
}

// At returns the directory with a path; "" is the zero Dir.
func At(path string) Dir { return Dir{path: path} }

// Path returns the path of the directory, "" for the zero Dir.
func (d Dir) Path() string { return d.path }

// Sub returns a directory below.
func (d Dir) Sub(name string) Dir {
	if d.path == "" {
		return Dir{}
	}
	sub := Dir{path: filepath.Join(d.path, name)}
	for _, former := range d.former {
		sub.former = append(sub.former, filepath.Join(former, name))
	}
	return sub
}

// File returns a file of the directory, which has at most maxBytes.
func (d Dir) File(name string, maxBytes int) File { return File{d, name, maxBytes} }
