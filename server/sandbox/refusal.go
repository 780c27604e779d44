package sandbox

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/server/policy"
)

// Refuses returns why no process in the sandbox can have an effect, or nil if one may. It reads the
// file system. A file may not exist.
func (b *Box) Refuses(e *policy.Effect) error {
	switch {
	case b == nil:
		return nil
	case e.Host != "":
		return b.refusesHost(e)
	case e.Program != "":
		return b.refusesPrivileges(e.Program)
	}
	for _, file := range e.Files {
		if !b.refusesChange(file, e.Existing) {
			return nil
		}
	}
	if len(e.Files) == 0 {
		return nil
	}
	return fmt.Errorf("the sandbox %s does not change %s", b.sandbox.Mode, e.Files[0])
}

// kernelFiles are directories of the kernel's files. Some of them are written in every sandbox.
var kernelFiles = []string{"/dev", "/proc", "/sys"}

// refusesChange reports whether no process changes a file, or an existing one.
func (b *Box) refusesChange(path string, existing bool) bool {
	if slices.ContainsFunc(kernelFiles, func(dir string) bool { return within(dir, path) }) {
		return false
	}
	r, below, err := b.rulesAt(path)
	if err != nil || r.access == write || r.access == private || below {
		return false // a process that cannot start changes nothing
	}
	return !existing || r.access != hidden
}

// refusesPrivileges returns why a program that gains privileges fails. Without the mark of such a
// program it may be another one by this name.
func (b *Box) refusesPrivileges(program string) error {
	path, err := exec.LookPath(program)
	if err != nil || runtime.GOOS != "linux" {
		return nil
	}
	if info, err := os.Stat(path); err != nil || info.Mode()&os.ModeSetuid == 0 {
		return nil
	}
	return fmt.Errorf("no process in the sandbox %s gains privileges: %s fails", b.sandbox.Mode, program)
}

// refusesHost returns why a host is not reached.
func (b *Box) refusesHost(e *policy.Effect) error {
	if b.sandbox.Network != protocol.SandboxNetworkOff || isLocal(e.Host) || e.Program == "git" && b.rewritesAddresses() {
		return nil
	}
	return fmt.Errorf("the sandbox %s has no network: %s is not reached", b.sandbox.Mode, e.Host)
}

// isLocal reports whether a host may be this machine. The system may know other names of it.
func isLocal(host string) bool {
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback() || ip.IsUnspecified()
	}
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	labels := strings.Split(name, ".")
	last := labels[len(labels)-1]
	switch last {
	case "localhost", "local", "localdomain", "internal", "test", "home", "lan", "invalid":
		return true
	}
	if len(labels) == 1 || last[0] >= '0' && last[0] <= '9' { // an alias, or another form of an address
		return true
	}
	hosts, _ := os.ReadFile("/etc/hosts")
	return slices.Contains(strings.Fields(strings.ToLower(string(hosts))), name)
}

// rewritesAddresses reports whether git may be told to use other addresses than a command has.
func (b *Box) rewritesAddresses() bool {
	for _, file := range []string{
		"/etc/gitconfig", filepath.Join(b.home, ".gitconfig"), filepath.Join(b.home, ".config/git/config"),
		filepath.Join(b.options.CWD, ".git/config"),
	} {
		for _, key := range []string{"insteadof", "pushinsteadof", "path"} {
			if configured(file, key) != nil {
				return true
			}
		}
	}
	return false
}
