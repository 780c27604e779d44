package sandbox

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"agentctl/protocol"
)

// A Config is what the configuration of the server says about sandboxes. Paths may begin with ~/.
type Config struct {
	Allow []string `json:"sandbox_allow"` // sockets and files that are shown in a sandbox; "@": abstract sockets
	Write []string `json:"sandbox_write"` // further directories that the mode workspace writes
	Hide  []string `json:"sandbox_hide"`  // further files and directories that are hidden
}

// Check returns the first path that is not one, with its key.
func (c *Config) Check() error {
	for _, of := range []struct {
		key   string
		paths []string
	}{{"sandbox_allow", c.Allow}, {"sandbox_write", c.Write}, {"sandbox_hide", c.Hide}} {
		for _, path := range of.paths {
			abstract := path == "@" && of.key == "sandbox_allow"
			if !abstract && !filepath.IsAbs(path) && !strings.HasPrefix(path, "~/") {
				return fmt.Errorf("%s: invalid path %.200q: want an absolute one, or one that begins with ~/", of.key, path)
			}
		}
	}
	return nil
}

// Options are what a Host needs to know.
type Options struct {
	Config Config
	Own    []string // directories and files of the server; absolute, or empty
	Dir    string   // directory for files of sandboxes; only the server reads and writes it
	Home   string   // the home directory; empty: of the environment
}

// A Host is this machine as it confines processes. Its methods may be called from any goroutine.
type Host struct {
	options Options
	ownOnce sync.Once
	own     []identity // see ownPaths

	copiesOnce sync.Once
	copies     map[string]string // see systemFiles

	launcher

	mu    sync.Mutex
	ready map[protocol.SandboxNetwork]bool // a sandbox was set up
	held  map[string]bool                  // files of holdCommonDir
}

// An identity is a file, whatever its name is.
type identity struct {
	path string
	info os.FileInfo
}

// New returns the host. It starts no process.
func New(o Options) *Host {
	if o.Home == "" {
		o.Home, _ = os.UserHomeDir()
	}
	if real, err := filepath.EvalSymlinks(o.Home); err == nil {
		o.Home = real
	}
	return &Host{options: o, ready: map[protocol.SandboxNetwork]bool{}, held: map[string]bool{}}
}

// Close stops what starts processes, and removes what protected repositories. No process in a
// sandbox may run.
func (h *Host) Close() {
	if h != nil {
		h.stop()
		h.releaseCommonDirs()
	}
}

// Available reports whether the program that makes sandboxes is installed.
func (h *Host) Available() bool {
	_, err := findProgram()
	return h != nil && err == nil
}

// Check returns why a sandbox cannot be set up here, or nil. The error has the code unsupported. A
// sandbox that was set up once is not tried again.
func (h *Host) Check(s protocol.Sandbox) error {
	if !s.Confines() {
		return nil
	}
	if h == nil {
		return unsupported("this server has no sandbox")
	}
	s.Network = cmp.Or(s.Network, protocol.SandboxNetworkOn)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ready[s.Network] {
		return nil
	}
	if err := h.probe(s); err != nil {
		return err
	}
	h.ready[s.Network] = true
	return nil
}

// ownPaths returns the files and directories of the server, as they were at the first call.
func (h *Host) ownPaths() []identity {
	h.ownOnce.Do(func() {
		for _, path := range h.options.Own {
			real, err := filepath.Abs(path)
			if err == nil {
				real, err = filepath.EvalSymlinks(real)
			}
			if err != nil || path == "" {
				continue
			}
			if info, err := os.Stat(real); err == nil {
				h.own = append(h.own, identity{real, info})
			}
		}
	})
	return h.own
}

// verifyOwn returns an error if a path of the server was moved or replaced: its rule would miss it.
func (h *Host) verifyOwn() error {
	for _, o := range h.ownPaths() {
		if info, err := os.Stat(o.path); err != nil || !os.SameFile(info, o.info) {
			return fmt.Errorf("set up sandbox: %s was moved or replaced since the server started", o.path)
		}
	}
	return nil
}

// expand returns a path of the configuration.
func (h *Host) expand(path string) string {
	if len(path) > 1 && path[:2] == "~/" {
		return filepath.Join(h.options.Home, path[2:])
	}
	return path
}

func unsupported(format string, args ...any) error {
	return protocol.Errorf(protocol.CodeUnsupported, "a sandbox cannot be set up here: "+format, args...)
}
