//go:build interop

package interop

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/internal/dev/fakemodel"
	"agentctl/internal/dev/testbinary"
	"agentctl/protocol"
)

// TestARunUnderThePolicyDenyExitsAlike runs a command that the policy denies with every agent of the
// table. Agents that continue after it and say something complete their turn.
func TestARunUnderThePolicyDenyExitsAlike(t *testing.T) {
	for i := range tableAgents {
		a := &tableAgents[i]
		t.Run(a.name, func(t *testing.T) {
			r := &testSession{t: t, agent: a, model: fakemodel.New(modelScript(a)), home: shortDir(t), cwd: shortDir(t)}
			r.serve()
			const command = "echo done > denied.txt"
			wantCode, wantReason := 0, protocol.ReasonCompleted
			if a.denied != "" {
				wantCode, wantReason = 7, a.denied
			}
			code, out, notes := r.runDenied("run " + command)
			if code != wantCode || out.Reason != wantReason || len(out.Denied) != 1 || out.Denied[0].ByPolicy != "deny" ||
				!strings.Contains(out.Denied[0].Action, command) || strings.Count(notes, "1 request denied: ") != 1 {
				t.Errorf("exit %d, outcome %+v, stderr %q", code, out, notes)
			}
			if _, err := os.Stat(filepath.Join(r.cwd, "denied.txt")); err == nil {
				t.Error("the denied command ran")
			}
			if code, out, notes = r.runDenied("run "+command, "--fail-on-denied"); code != 7 || !strings.Contains(notes, `"code":"denied"`) {
				t.Errorf("with --fail-on-denied: exit %d, outcome %+v, stderr %q", code, out, notes)
			}
		})
	}
}

// runDenied runs a prompt under the policy deny and returns the exit code, the outcome and stderr.
func (r *testSession) runDenied(prompt string, flags ...string) (code int, out protocol.TurnOutcome, stderr string) {
	r.t.Helper()
	args := append([]string{
		"run", "--server", "unix://" + filepath.Join(r.data, "agentctl.sock"), "--agent", r.agent.name, "--cwd", r.cwd,
		"--policy", "deny", "--timeout", agentTimeout.String(), "-o", "json", prompt,
	}, flags...)
	cmd := exec.CommandContext(r.t.Context(), testbinary.Program, args...)
	var notes strings.Builder
	cmd.Stderr = &notes
	b, err := cmd.Output()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		r.t.Fatal(err)
	}
	if err := json.Unmarshal(b, &out); err != nil {
		r.t.Fatalf("%v: %q, stderr %q", err, b, &notes)
	}
	return cmd.ProcessState.ExitCode(), out, notes.String()
}
