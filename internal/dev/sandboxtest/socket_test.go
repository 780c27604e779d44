//go:build sandbox

package sandboxtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/protocol"
)

// TestASocketMayVanishWhileASandboxStarts removes a socket after the sandbox was planned, and before it
// is made.
func TestASocketMayVanishWhileASandboxStarts(t *testing.T) {
	h := newHome(t)
	real, err := exec.LookPath("bwrap")
	if err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf(`#!/bin/sh
case "$*" in *%[1]s*) rm %[1]s && echo removed >> %[2]s;; esac
exec %[3]s "$@"
`, filepath.Join(h.dir, "app/control.sock"), filepath.Join(h.dir, "log"), real)
	h.write("programs/bwrap", script)
	t.Setenv("PATH", filepath.Join(h.dir, "programs")+":"+os.Getenv("PATH"))
	out := h.run(protocol.Sandbox{Mode: protocol.SandboxWorkspace}, `ls -A ~/app; [ -e ~/app/file ] && echo DONE`)
	if !strings.Contains(out, "DONE") || strings.Contains(out, "control.sock") {
		t.Error(out)
	}
	if log, _ := os.ReadFile(filepath.Join(h.dir, "log")); string(log) != "removed\n" {
		t.Errorf("the socket was removed %q", log)
	}
}
