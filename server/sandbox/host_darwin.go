package sandbox

import (
	"fmt"
	"os"
	"path/filepath"

	"agentctl/protocol"
	"agentctl/server/agent/process"
)

// program is what makes sandboxes.
const program = "/usr/bin/sandbox-exec"

func findProgram() (string, error) {
	if _, err := os.Stat(program); err != nil {
		return "", unsupported("%s is missing", program)
	}
	return program, nil
}

func (h *Host) probe(protocol.Sandbox) error {
	_, err := findProgram()
	return err
}

// confine returns the command that runs cmd in the sandbox.
func (b *Box) confine(cmd process.Command) (process.Command, error) {
	t, err := b.table()
	if err != nil {
		return cmd, err
	}
	temp := filepath.Join(b.options.Dir, "tmp")
	if err := os.MkdirAll(temp, 0o700); err != nil {
		return cmd, fmt.Errorf("set up sandbox: %w", err)
	}
	cmd.Args = append([]string{program, "-p", seatbeltProfile(t, b.sandbox, temp), "--"}, cmd.Args...)
	cmd.Env = append(b.environment(cmd.Env), "TMPDIR="+temp)
	return cmd, nil
}

// hideAliases does nothing: the profile is about files, not about mounts, and denies all sockets.
func hideAliases(table, []string, string) error { return nil }

// inside is the path of the session's socket for its processes.
func (b *Box) inside() string { return filepath.Join(b.options.Dir, SocketName) }
