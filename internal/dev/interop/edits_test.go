//go:build interop

package interop

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentctl/protocol"
)

// editsNeedNoQuestion changes a file with a rule of its request, and another with a policy.
func editsNeedNoQuestion(t *testing.T, r *testSession) {
	const old, changed = "one\n" + before + "\n", "one\n" + after + "\n"
	edit := func(file string, asked func(protocol.Approval)) {
		t.Helper()
		if err := os.WriteFile(file, []byte(old), 0o600); err != nil {
			t.Fatal(err)
		}
		r.send("edit " + file)
		var a protocol.Approval
		r.decode(r.waitEvent(protocol.ApprovalRequested), &a)
		asked(a)
		r.waitTurnEnd(protocol.ReasonCompleted)
		if b, err := os.ReadFile(file); err != nil || string(b) != changed {
			t.Fatalf("file has %q, %v; the log is\n%s", b, err, r.logText())
		}
	}
	byRule, byPolicy := filepath.Join(r.cwd, "rule.txt"), filepath.Join(r.cwd, "policy.txt")
	recorded := r.recordEdit("edit")
	edit(byRule, func(a protocol.Approval) {
		rest, _ := a.RestArguments()
		if a.Kind != protocol.ApprovePatch || !slices.Equal(a.Paths, []string{byRule}) || rest != "" || a.Patch != "" ||
			!a.Offers(protocol.AllowAlways) {
			t.Errorf("approval request %s", protocol.MustEncode(a))
		}
		decision := protocol.AllowAlways
		if !a.Offers(decision) {
			decision = protocol.AllowOnce
		}
		r.approve(protocol.ApproveData{Request: a.Request, Decision: decision})
	})
	recorded()
	if t.Failed() {
		return
	}
	edit(byRule, func(protocol.Approval) {})
	r.configure("policy", "auto-edit")
	edit(byPolicy, func(a protocol.Approval) {
		if a.Policy != "auto-edit" {
			t.Errorf("approval request %s", protocol.MustEncode(a))
		}
	})
	r.configure("policy", "ask")
}

// recordings has what agents send for an edit: the tests of server/agent/acp play it.
const recordings = "../../../server/agent/acp/testdata/edits"

// recordEdit returns a function that writes what the agent has sent about calls since, if the flag
// -record is set.
func (r *testSession) recordEdit(name string) func() {
	if !*record || r.frames == "" {
		return func() {}
	}
	from := len(readFrames(r.t, r.frames))
	return func() {
		r.t.Helper()
		var b strings.Builder
		for _, f := range readFrames(r.t, r.frames)[from:] {
			if f.Dir == toClient && strings.Contains(f.Line, `"toolCallId":`) {
				b.WriteString(strings.ReplaceAll(f.Line, r.cwd, "/w") + "\n")
			}
		}
		file := r.agent.title + "-" + installedVersion(r.t, r.agent.npm) + "-" + name + ".jsonl"
		if err := os.WriteFile(filepath.Join(recordings, file), []byte(b.String()), 0o644); err != nil {
			r.t.Fatal(err)
		}
	}
}
