//go:build interop

package interop

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/protocol"
)

// sandboxFeatures run one after the other in one session in the sandbox workspace: what depends on
// directories, processes and state of the agent.
var sandboxFeatures = []feature{
	{"prompt", promptIsAnsweredInAStream},
	{"allowed command", allowedCommandRuns},
	{"diff in the request", editIsShown},
	{"deny with reason", deniedCommandDoesNotRun},
	{"command that writes elsewhere", commandWritesNothingElsewhere},
	{"interrupt", interruptKeepsWhatWasSaid},
	{"agent killed", killedAgentIsReplaced},
	{"server killed in mid-turn", conversationOutlivesAKilledServer},
	{"conversation restored by the agent", agentRestoredItsConversation},
	{"no process left", noProcessIsLeft},
}

func sandboxConfinesAndLetsWork(t *testing.T, outer *testSession) {
	r := newSandboxSession(t, outer.agent, modelScript(outer.agent))
	for _, f := range sandboxFeatures {
		if !t.Run(f.name, func(t *testing.T) { f.run(t, r.withT(t)) }) {
			return
		}
	}
}

func commandWritesNothingElsewhere(t *testing.T, r *testSession) {
	file := filepath.Join(r.home, "elsewhere.txt")
	command := "echo done > " + file + "; echo done > reached.txt"
	r.send("run " + command)
	a := r.waitCommandApproval(command)
	r.approve(protocol.ApproveData{Request: a.Request, Decision: protocol.AllowOnce})
	r.waitTurnEnd(protocol.ReasonCompleted)
	if _, err := os.Stat(file); err == nil {
		t.Error("the sandbox did not confine the command")
	}
	if _, err := os.Stat(filepath.Join(r.cwd, "reached.txt")); err != nil {
		t.Errorf("the command did not run: %v", err)
	}
}

// agentRestoredItsConversation checks that the agent never got the transcript of the session instead.
func agentRestoredItsConversation(t *testing.T, r *testSession) {
	for _, e := range r.seen {
		if e.Type == protocol.Notice && strings.Contains(string(e.Data), "cannot restore the conversation") {
			t.Errorf("%s", e.Data)
		}
	}
	if all := r.lastModelRequest(); !strings.Contains(all, "you said: my name is Grace") {
		t.Errorf("the model received %s", all)
	}
}
