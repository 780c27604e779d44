//go:build sandbox

package sandboxtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/protocol"
)

// modes are the columns of the table.
var modes = []protocol.Sandbox{
	{Mode: protocol.SandboxOff},
	{Mode: protocol.SandboxWorkspace},
	{Mode: protocol.SandboxWorkspace, Network: protocol.SandboxNetworkOff},
	{Mode: protocol.SandboxReadOnly},
	{Mode: protocol.SandboxReadOnly, Network: protocol.SandboxNetworkOff},
}

// TestEveryWayIsOpenWithoutASandboxAndClosedInOne tries each way in each mode, each time in a new
// home directory.
func TestEveryWayIsOpenWithoutASandboxAndClosedInOne(t *testing.T) {
	for _, w := range Ways() {
		if w.Root && os.Getuid() != 0 {
			continue
		}
		t.Run(w.Name, func(t *testing.T) {
			if w.Needs != "" && os.Getenv(w.Needs) == "" {
				t.Skip("only root starts what it needs")
			}
			for _, s := range modes {
				t.Run(string(s.Mode)+" "+string(s.Network), func(t *testing.T) { w.try(t, s) })
			}
		})
	}
}

func (w *Way) try(t *testing.T, s protocol.Sandbox) {
	h := newHome(t)
	if strings.Contains(w.Script, "git") {
		h.git()
	}
	if w.Tree {
		h.cwd = filepath.Join(h.dir, "work/tree")
	}
	out := h.run(s, w.Script)
	if w.Job {
		h.runJobs()
		if won, err := os.ReadFile(filepath.Join(h.cwd, "won")); err == nil {
			out += "\nin the job: " + string(won)
		}
	}
	if w.Later != "" {
		out += "\n--\n" + h.run(s, w.Later)
	}
	if strings.Count(out, "STARTED") != 1+strings.Count(out, "\n--\n") {
		t.Fatalf("did not start: %s", out)
	}
	won := strings.Contains(out, "WON")
	if want := !s.Confines() && !w.Closed; won != want {
		t.Errorf("succeeded: %t, want %t\n%s", won, want, out)
	}
}
