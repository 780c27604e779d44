//go:build interop

package interop

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/server/agent/acp/catalog"
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
	script := filepath.Join(r.cwd, "write.sh") // what a line certainly writes would be refused before
	if err := os.WriteFile(script, []byte("echo done > "+file+"\necho done > reached.txt\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const command = "sh write.sh"
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

// TestStateThatIsMovedIsKeptInASandbox runs each agent with its state where its variables name it.
func TestStateThatIsMovedIsKeptInASandbox(t *testing.T) {
	for _, a := range tableAgents {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			r := newSandboxSession(t, movedAgent(t, a), modelScript(&a))
			for _, f := range []feature{
				{"prompt", promptIsAnsweredInAStream},
				{"server killed in mid-turn", conversationOutlivesAKilledServer},
				{"conversation restored by the agent", agentRestoredItsConversation},
			} {
				if !t.Run(f.name, func(t *testing.T) { f.run(t, r.withT(t)) }) {
					return
				}
			}
			preset, _ := catalog.FindPreset(a.name)
			for _, s := range preset.State {
				if s.Moved == nil || s.Dir == "" || s.Dir == "." {
					continue
				}
				if left, _ := os.ReadDir(filepath.Join(r.home, s.Dir)); len(left) > 0 {
					t.Errorf("%s holds %v", s.Dir, left)
				}
			}
		})
	}
}

// movedAgent returns an agent whose variables move its state, and its settings, to the directory moved of
// its home directory.
func movedAgent(t *testing.T, a realAgent) *realAgent {
	preset, _ := catalog.FindPreset(a.name)
	env, files, backdate := a.env, a.files, a.backdate
	if backdate != nil {
		a.backdate = func(home string) error { return backdate(filepath.Join(home, "moved")) }
	}
	a.env = func(home, endpoint string) map[string]string {
		vars := maps.Clone(env(home, endpoint))
		for _, s := range preset.State {
			if s.Moved == nil || s.Dir == "" || s.Dir == "." {
				continue
			}
			name, below, _ := strings.Cut(s.Moved[0], "/")
			dir := filepath.Join(home, "moved", s.Dir)
			vars[name] = strings.TrimSuffix(dir, "/"+below)
			if err := os.MkdirAll(dir, 0o700); err != nil { // as Codex wants
				t.Fatal(err)
			}
		}
		return vars
	}
	a.files = func(endpoint string) map[string]any {
		moved := map[string]any{}
		if files != nil {
			for name, content := range files(endpoint) {
				moved[filepath.Join("moved", name)] = content
			}
		}
		return moved
	}
	return &a
}
