package sandbox

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent/process"
)

// probeTimeout bounds the trial of a sandbox.
const probeTimeout = 30 * time.Second

// program is what makes sandboxes.
const program = "bwrap"

// namespaces returns the arguments for everything but the file system. The processes end with the
// server, with the first of them, and with the program that waits for them. No process has a
// capability or gets one, so none undoes a mount.
func namespaces(s protocol.Sandbox) []string {
	args := []string{
		"--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
		"--die-with-parent", "--new-session", "--cap-drop", "ALL",
	}
	if s.Network == protocol.SandboxNetworkOff {
		args = append(args, "--unshare-net")
	}
	return args
}

// base are the arguments of the file system before the rules of a table.
func base() []string {
	args := []string{"--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"}
	if os.Getuid() != 0 {
		return args
	}
	for _, path := range kernel {
		if _, err := os.Stat(path); err == nil {
			args = append(args, "--ro-bind", path, path)
		}
	}
	return args
}

func findProgram() (string, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		return "", unsupported("bubblewrap is not installed: install the package bubblewrap")
	}
	return path, nil
}

// probe sets up an empty sandbox.
func (h *Host) probe(s protocol.Sandbox) error {
	path, err := findProgram()
	if err != nil {
		return err
	}
	if err := h.closesAbstract(s); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, append(append(namespaces(s), base()...), "true")...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := h.launch(cmd.Run); err != nil {
		return unsupported("%s", reason(strings.TrimSpace(stderr.String()), err))
	}
	return nil
}

// reason returns why bubblewrap failed and what helps.
func reason(stderr string, err error) string {
	switch {
	case strings.Contains(stderr, "mount proc"):
		return stderr + ": parts of /proc are hidden here, as in a container or a unit with ProtectKernelTunables or ProtectHostname"
	case stderr == "":
		return err.Error()
	}
	return stderr + ": this system lets no user make namespaces; see kernel.apparmor_restrict_unprivileged_userns, " +
		"kernel.unprivileged_userns_clone and user.max_user_namespaces"
}

// closesAbstract returns an error if abstract sockets would be open in a sandbox with the network.
func (h *Host) closesAbstract(s protocol.Sandbox) error {
	if s.Network == protocol.SandboxNetworkOff || slices.Contains(h.options.Config.Allow, "@") || scopesSockets() {
		return nil
	}
	return unsupported("the kernel cannot close abstract sockets, which needs Linux 6.12 with Landlock: " +
		`turn the network off, or add "@" to sandbox_allow`)
}

// confine returns the command that runs cmd in the sandbox.
func (b *Box) confine(cmd process.Command) (process.Command, error) {
	bwrap, err := findProgram()
	if err != nil {
		return cmd, err
	}
	if err := b.host.closesAbstract(b.sandbox); err != nil {
		return cmd, err
	}
	t, err := b.table()
	if err != nil {
		return cmd, err
	}
	args := append([]string{bwrap}, namespaces(b.sandbox)...)
	args = append(args, base()...)
	empty, err := b.host.empty()
	if err != nil {
		return cmd, err
	}
	for _, r := range t.rules() {
		args = append(args, mount(r, empty)...)
	}
	for path, source := range b.host.systemFiles() {
		args = append(args, "--ro-bind", source, path)
	}
	cmd.Supervisor = append(args, "--chdir", cmd.Dir, "--")
	cmd.Env, cmd.Launch = b.environment(cmd.Env), b.host.launch
	return cmd, nil
}

func mount(r rule, empty string) []string {
	source := cmp.Or(r.source, r.path)
	switch {
	case r.access == read:
		return []string{"--ro-bind", source, r.path}
	case r.access == write:
		return []string{"--bind", source, r.path}
	case !r.dir:
		return []string{"--ro-bind", empty, r.path}
	case r.access == hidden: // what a process writes there after a chmod ends with it
		return []string{"--perms", "0555", "--tmpfs", r.path}
	}
	return []string{"--perms", "0700", "--tmpfs", r.path}
}

// empty returns an empty file, which covers hidden ones.
func (h *Host) empty() (string, error) {
	path := filepath.Join(h.options.Dir, "empty")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := os.MkdirAll(h.options.Dir, 0o700); err != nil {
		return "", fmt.Errorf("set up sandbox: %w", err)
	}
	if err := os.WriteFile(path, nil, 0o400); err != nil {
		return "", fmt.Errorf("set up sandbox: %w", err)
	}
	return path, nil
}

// inside is the path of the session's socket for its processes.
func (b *Box) inside() string { return socketInside }
