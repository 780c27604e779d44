package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent/process"
	"agentctl/server/policy"
)

// A Box is the sandbox of a session. A nil Box confines nothing: processes have the rights of the
// server. Its methods may be called from any goroutine.
type Box struct {
	host    *Host
	sandbox protocol.Sandbox
	options BoxOptions
	home    string

	mu      sync.Mutex
	checked table // of May
	at      time.Time
}

// maxTries bounds the tries to start a program: a file that a table hides, such as a socket, may be
// removed before it is hidden.
const maxTries = 3

// tableLife is how long May uses a table. Tools ask about each of many files.
const tableLife = time.Second

// BoxOptions are what a sandbox needs to know of its session.
type BoxOptions struct {
	CWD   string   // absolute; the directory that is written
	Env   []string // K=V, of the agent's processes; nil: the environment of the server
	State []State  // of the agent
	Dir   string   // for files of this sandbox, in Options.Dir; the session's socket is in it
}

// SocketName is the name of the session's socket in BoxOptions.Dir.
const SocketName = "socket"

// socketInside is where processes find that socket on Linux.
const socketInside = "/run/agentctl.sock"

// A State is a directory in which an agent keeps state. A sandbox shows what is listed. All else that
// the agent writes there ends with its process, so that no settings, hooks, rules or lists of servers
// stay that run programs outside.
type State struct {
	Dir string // below the home directory; ".": that itself, which stays as it is; empty: none

	// Moved are the variables of the agent that name the directory instead; the first that is set
	// does. "NAME/x" is the directory x in the one that NAME names.
	Moved []string

	Kept   []string // written; a name that ends with a slash is a directory, which is created
	Read   []string // read only
	Copied []string // files that the agent writes a copy of

	// Variables of the agent's processes that name files below Dir, where it writes in the mode
	// workspace what it writes elsewhere without a sandbox.
	Variables map[string]string
}

// Box returns the sandbox of a session, nil if it has none. The error has the code unsupported if
// this machine cannot set one up, and invalid_message for a directory that no sandbox can confine.
func (h *Host) Box(s protocol.Sandbox, o BoxOptions) (*Box, error) {
	if !s.Confines() {
		return nil, nil
	}
	if err := h.Check(s); err != nil {
		return nil, err
	}
	if o.Env == nil {
		o.Env = os.Environ()
	}
	if real, err := filepath.EvalSymlinks(o.Dir); err == nil {
		o.Dir = real // rules are about paths without links
	}
	b := &Box{host: h, sandbox: s, options: o, home: h.options.Home}
	if err := b.checkCWD(); err != nil {
		return nil, err
	}
	return b, nil
}

// checkCWD refuses a directory in which a writer can start programs of the user.
func (b *Box) checkCWD() error {
	real, err := filepath.EvalSymlinks(b.options.CWD)
	if err != nil {
		return fmt.Errorf("directory of the sandbox: %w", err)
	}
	if b.sandbox.Mode != protocol.SandboxWorkspace {
		return nil
	}
	refuse := func(why string) error {
		return protocol.Errorf(protocol.CodeInvalidMessage,
			"the sandbox workspace cannot confine a session to %s: %s; choose another directory", real, why)
	}
	if within(real, b.home) {
		return refuse("it contains the home directory")
	}
	for _, place := range b.places(hiddenInHome, startPlaces) {
		if within(place, real) || within(real, place) {
			return refuse("it contains, or is in, " + place)
		}
	}
	for _, dir := range programDirectories() {
		if within(dir, real) {
			return refuse("programs are run from " + dir)
		}
	}
	if policy.Protected(real, nil) {
		return refuse("its files run programs, or change what agents may do")
	}
	for _, own := range b.host.ownPaths() {
		if within(own.path, real) {
			return refuse("it is a directory of the server")
		}
	}
	return nil
}

// Start starts a program in the sandbox, or returns an error: never in a weaker one.
func (b *Box) Start(cmd process.Command) (*process.Process, error) {
	if b == nil {
		return process.Start(cmd)
	}
	cmd.Dir = cmp.Or(cmd.Dir, b.options.CWD)
	for tries := 1; ; tries++ {
		confined, err := b.confine(cmd)
		if err != nil {
			return nil, err
		}
		p, err := process.Start(confined)
		if tries == maxTries || !errors.Is(err, process.ErrSetup) {
			return p, err
		}
	}
}

// May returns an error if no process in the sandbox could read, or write, a path. It is for tools
// that run in the server. The path is absolute and without links; it may not exist.
func (b *Box) May(path string, writes bool) error {
	if b == nil {
		return nil
	}
	r, _, err := b.rulesAt(path)
	if err != nil {
		return err
	}
	switch {
	case r.access == hidden, r.access == private && !writes && r.path != path:
		return fmt.Errorf("the sandbox %s hides %s: %w", b.sandbox.Mode, path, fs.ErrPermission)
	case r.access == private:
		return fmt.Errorf("the sandbox %s gives each command its own %s: %w", b.sandbox.Mode, r.path, fs.ErrPermission)
	case writes && (r.access != write || r.source != ""):
		return fmt.Errorf("the sandbox %s does not write %s: %w", b.sandbox.Mode, path, fs.ErrPermission)
	}
	return nil
}

// rulesAt returns the rule that applies to a path, and whether processes write something below it.
func (b *Box) rulesAt(path string) (at rule, below bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.checked == nil || time.Since(b.at) > tableLife {
		t, err := b.table()
		if err != nil {
			return rule{}, false, err
		}
		b.checked, b.at = t, time.Now()
	}
	for other, r := range b.checked {
		below = below || (r.access == write || r.access == private) && other != path && within(path, other)
	}
	return b.checked.at(path), below, nil
}

// table returns the rules for a process that starts now.
func (b *Box) table() (table, error) {
	if err := b.host.verifyOwn(); err != nil {
		return nil, err
	}
	t := table{}
	for _, path := range temporary {
		t.set(path, private)
	}
	for _, path := range shownInRun {
		t.set(path, read)
	}
	if real, err := filepath.EvalSymlinks("/etc/resolv.conf"); err == nil {
		t.set(real, read) // often a link into /run
	}
	b.setCaches(t)
	if err := b.setState(t); err != nil {
		return nil, err
	}
	cwd, err := filepath.EvalSymlinks(b.options.CWD)
	if err != nil {
		return nil, fmt.Errorf("directory of the sandbox: %w", err)
	}
	t.set(cwd, b.writable())
	if b.writable() == write {
		if err := b.setGit(t, cwd); err != nil {
			return nil, err
		}
	}
	for _, dir := range programDirectories() {
		if t.at(dir).access == write {
			t.set(dir, read)
		}
	}
	if err := b.hide(t, cwd); err != nil {
		return nil, err
	}
	for _, path := range b.host.options.Config.Allow {
		if path != "@" {
			t.set(b.host.expand(path), read)
		}
	}
	t.pin()
	if b.options.Dir != "" {
		t.show(socketInside, filepath.Join(b.options.Dir, SocketName), read)
	}
	return t, nil
}

// programDirectories returns the directories of PATH. The server and the user run programs from them.
func programDirectories() (dirs []string) {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if real, err := filepath.EvalSymlinks(dir); err == nil && filepath.IsAbs(real) {
			dirs = append(dirs, real)
		}
	}
	return dirs
}

// writable returns the access of what the mode workspace writes.
func (b *Box) writable() access {
	if b.sandbox.Mode == protocol.SandboxWorkspace {
		return write
	}
	return read
}

func (b *Box) setCaches(t table) {
	for _, dir := range b.places(cacheDirectories) {
		_ = os.MkdirAll(dir, 0o700) // a process in the sandbox cannot make it
		t.set(dir, private)
	}
	for _, path := range b.places(readCaches) {
		t.set(path, read)
	}
	for _, path := range b.places(cachesInHome) {
		t.set(path, b.writable())
	}
	for _, name := range cacheVariables {
		if path := b.variable(name); filepath.IsAbs(path) && !within(path, b.home) {
			t.set(path, b.writable())
		}
	}
	for _, path := range b.host.options.Config.Write {
		t.set(b.host.expand(path), b.writable())
	}
}

// setState shows the agent's state. Read-only, what is kept is empty, so that agents start.
func (b *Box) setState(t table) error {
	for _, s := range b.options.State {
		dir := b.stateDir(&s)
		for _, own := range b.host.ownPaths() {
			if within(own.path, dir) {
				return fmt.Errorf("state of the agent: %s is in a directory of the server", dir)
			}
		}
		if dir == "" {
			continue
		}
		if s.Dir != "." {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return fmt.Errorf("state of the agent: %w", err)
			}
			t.set(dir, private)
		}
		for _, name := range s.Read {
			t.set(filepath.Join(dir, name), read)
		}
		for _, name := range s.Kept {
			path := filepath.Join(dir, name)
			switch {
			case !strings.HasSuffix(name, "/"):
				t.set(path, b.writable())
			case b.writable() == write:
				if err := os.MkdirAll(path, 0o700); err != nil {
					return fmt.Errorf("state of the agent: %w", err)
				}
				t.set(path, write)
			}
		}
		for _, name := range s.Copied {
			if err := b.copyState(t, filepath.Join(dir, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// stateDir returns the directory of a state, or "".
func (b *Box) stateDir(s *State) string {
	for _, moved := range s.Moved {
		name, below, _ := strings.Cut(moved, "/")
		if dir := b.variable(name); dir != "" {
			if !filepath.IsAbs(dir) {
				dir = filepath.Join(b.options.CWD, dir)
			}
			return filepath.Join(dir, below)
		}
	}
	if s.Dir == "" {
		return ""
	}
	return filepath.Join(b.homes()[0], s.Dir)
}

// copyState shows a writable copy of a file, which lasts as long as the agent.
func (b *Box) copyState(t table, path string) error {
	content, err := os.ReadFile(path)
	if err != nil || b.options.Dir == "" {
		return nil //nolint:nilerr // there is nothing to copy
	}
	copied := filepath.Join(b.options.Dir, strings.ReplaceAll(path, string(filepath.Separator), "_"))
	if _, err := os.Lstat(copied); err != nil {
		if err := os.WriteFile(copied, content, 0o600); err != nil {
			return fmt.Errorf("state of the agent: %w", err)
		}
	}
	t.show(path, copied, write)
	return nil
}

// hide hides what no process may see: the server's files, keys, and sockets.
func (b *Box) hide(t table, cwd string) error {
	var paths []string
	for _, o := range b.host.ownPaths() {
		paths = append(paths, o.path)
	}
	paths = append(paths, b.places(hiddenInHome)...)
	for _, name := range hiddenVariables {
		paths = append(paths, filepath.SplitList(os.Getenv(name))...)
		paths = append(paths, filepath.SplitList(b.variable(name))...)
	}
	paths = slices.DeleteFunc(paths, func(path string) bool { return !filepath.IsAbs(path) })
	for _, path := range b.host.options.Config.Hide {
		paths = append(paths, b.host.expand(path))
	}
	for _, path := range paths {
		t.set(path, hidden)
	}
	for _, path := range b.places(shownInHome) {
		t.set(path, read)
	}
	return hideAliases(t, paths, cwd)
}

// environment returns the variables of a process in the sandbox.
func (b *Box) environment(env []string) []string {
	if env == nil {
		env = b.options.Env
	}
	env = slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, value, _ := strings.Cut(kv, "=")
		return slices.Contains(droppedVariables, name) && !b.shows(value)
	})
	if b.writable() == write {
		for _, s := range b.options.State {
			for name, file := range s.Variables {
				env = append(env, name+"="+filepath.Join(b.stateDir(&s), file))
			}
		}
	}
	if b.options.Dir != "" {
		env = append(env, serverVariable+"=unix://"+b.inside())
	}
	return env
}

// shows reports whether a variable names a socket that the configuration allows.
func (b *Box) shows(value string) bool {
	return slices.ContainsFunc(b.host.options.Config.Allow, func(path string) bool {
		return path != "@" && path != "" && strings.HasSuffix(value, b.host.expand(path))
	})
}
