//go:build interop

package interop

import (
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"agentctl/internal/dev/fakemodel"
	"agentctl/protocol"
)

// A feature is a row of the table in docs/agents.md, and its test.
type feature struct {
	name string
	run  func(*testing.T, *testSession)
}

// features run one after the other in one session of an agent.
var features = []feature{
	{"mode set before the first prompt", modeIsSetBeforeTheFirstPrompt},
	{"prompt", promptIsAnsweredInAStream},
	{"token counts", tokensAreThoseOfTheModel},
	{"allowed command", allowedCommandRuns},
	{"output of a command", outputIsShown},
	{"exit code of a command", exitCodeIsShown},
	{"diff in the request", editIsShown},
	{"edit by rule and by policy", editsNeedNoQuestion},
	{"deny with reason", deniedCommandDoesNotRun},
	{"deny and stop", denyAndStopEndsTheTurn},
	{"rule of the server", ruleIsKeptByServer},
	{"image", imageReachesTheModel},
	{"question", questionIsAnswered},
	{"message into the turn", messageJoinsTheTurn},
	{"sub-agent", subAgentHasASession},
	{"interrupt", interruptKeepsWhatWasSaid},
	{"model failure", modelFailureEndsTurn},
	{"usage limit", usageLimitHoldsTheQueue},
	{"agent killed", killedAgentIsReplaced},
	{"server killed in mid-turn", conversationOutlivesAKilledServer},
	{"sandbox `workspace`", sandboxConfinesAndLetsWork},
	{"no process left", noProcessIsLeft},
}

var (
	only    = flag.String("feature", "", "run only the features whose name matches this regular expression")
	record  = flag.Bool("record", false, "write the recordings of edits of server/agent/acp")
	modules = flag.String("modules", "node_modules", "the directory with the packages of the agents")
)

// TestAgents runs every feature with the agents of the table, then compares the table of the page. Agents run
// side by side.
func TestAgents(t *testing.T) {
	results := make([]results, len(tableAgents))
	t.Cleanup(func() { checkAgentsPage(t, results) })
	for i := range tableAgents {
		a := &tableAgents[i]
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			results[i] = testFeatures(t, a)
		})
	}
}

// TestVersionTwo runs every feature with the agents that speak version 2 of the protocol.
func TestVersionTwo(t *testing.T) {
	for _, a := range []realAgent{claudeAgent, codexAgent} {
		a.acp = 2
		if a.name == claudeAgent.name {
			a.notes = map[string]note{
				"message into the turn": {"claude-agent-acp announces it in version 1 only", messageJoinsNoTurn},
			}
		}
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			testFeatures(t, &a)
		})
	}
}

// Claude compacts its context at a command, and reports it as an update.
func TestACompactionIsShown(t *testing.T) {
	for version := 1; version <= 2; version++ {
		a := claudeAgent
		a.acp = version
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			r := newTestSession(t, &a, modelScript(&a))
			r.send("good morning")
			r.waitTurnEnd(protocol.ReasonCompleted)
			r.send("/compact")
			var d protocol.ContextCompactedData
			r.decode(r.waitEvent(protocol.ContextCompacted), &d)
			if d.Before == 0 || d.After == 0 || d.After >= d.Before || d.Percent <= 0 {
				t.Errorf("compacted %+v", d)
			}
			r.waitTurnEnd(protocol.ReasonCompleted)
		})
	}
}

// results are the features that were tested, or observed as lacking, and whether that passed.
type results map[string]bool

// testFeatures tests the features of an agent. A failure replaces the session, so that the next feature does
// not depend on it.
func testFeatures(t *testing.T, a *realAgent) results {
	tested := results{}
	for name := range a.notes {
		if !slices.ContainsFunc(features, func(f feature) bool { return f.name == name }) {
			t.Errorf("%s has a note on %q, which is no feature", a.name, name)
		}
	}
	r := newTestSession(t, a, modelScript(a))
	for _, f := range features {
		if ok, err := regexp.MatchString(*only, f.name); err != nil || !ok {
			continue
		}
		run := f.run
		if note := a.notes[f.name]; note.lack != nil {
			run = note.lack
		}
		tested[f.name] = t.Run(f.name, func(t *testing.T) { run(t, r.withT(t)) })
		if !tested[f.name] {
			r.stop()
			r = newTestSession(t, a, modelScript(a))
		}
	}
	return tested
}

// configure changes a setting of the agent.
func (r *testSession) configure(id, value string) {
	r.t.Helper()
	r.do(protocol.DoConfigure, protocol.ConfigureData{Setting: id, Value: value}, &protocol.Empty{})
	if got := r.setting(id); got != value {
		r.t.Errorf("%s is %q, want %q", id, got, value)
	}
}

func modeIsSetBeforeTheFirstPrompt(t *testing.T, r *testSession) {
	r.waitEvent(protocol.AgentOptions)
	if mode := r.setting("mode"); mode != r.agent.initial {
		t.Errorf("the session starts in mode %q, want %q", mode, r.agent.initial)
	}
	r.configure("mode", r.agent.mode)
	if n := len(r.model.Requests()); n != 0 {
		t.Errorf("%d model requests before the first prompt", n)
	}
	r.configure("mode", r.agent.initial)
}

// conversation returns the model requests of the conversation, without those for titles and the
// like.
func (r *testSession) conversation() []fakemodel.Request {
	return slices.DeleteFunc(r.model.Requests(), func(q fakemodel.Request) bool { return !q.Offers(r.agent.shellTool) })
}

// usage returns the tokens of the session.
func (r *testSession) usage() protocol.Usage {
	r.t.Helper()
	var snap protocol.SnapshotResult
	r.do(protocol.DoSnapshot, protocol.Empty{}, &snap)
	if u := snap.Snapshot.State.Usage; u != nil {
		return *u
	}
	return protocol.Usage{}
}

func tokensAreThoseOfTheModel(t *testing.T, r *testSession) {
	before, used := len(r.conversation()), r.usage()
	r.send("count this")
	r.waitTurnEnd(protocol.ReasonCompleted)
	now := r.usage()
	var input, output int
	for _, q := range r.conversation()[before:] {
		input, output = input+q.Input, output+q.Output
	}
	if got := now.Input - used.Input; input == 0 || got != int64(input) {
		t.Errorf("input %d, the model counted %d", got, input)
	}
	if got := now.Output - used.Output; output == 0 || got != int64(output) {
		t.Errorf("output %d, the model counted %d", got, output)
	}
}

// runCommand has the agent run a command, allows it and returns its end.
func (r *testSession) runCommand(command string) protocol.ToolEndedData {
	r.t.Helper()
	r.send("run " + command)
	a := r.waitCommandApproval(command)
	r.approve(protocol.ApproveData{Request: a.Request, Decision: protocol.AllowOnce})
	var end protocol.ToolEndedData
	r.decode(r.waitEvent(protocol.ToolEnded), &end)
	r.waitTurnEnd(protocol.ReasonCompleted)
	return end
}

// The command runs on for a moment: on a busy machine codex-acp has lost the output of one that
// ends at once.
func outputIsShown(t *testing.T, r *testSession) {
	r.runCommand("echo first; touch second.txt; echo second; sleep 1")
	if got := r.toolOutput(); !strings.HasPrefix(got, "first\nsecond") {
		t.Errorf("output %q; the log is\n%s", got, r.logText())
	}
}

func exitCodeIsShown(t *testing.T, r *testSession) {
	if end := r.runCommand("touch failed.txt; exit 3"); end.ExitCode == nil || *end.ExitCode != 3 {
		t.Errorf("ended %+v", end)
	}
}

func exitCodeIsNotShown(t *testing.T, r *testSession) {
	if end := r.runCommand("touch failed.txt; exit 3"); end.ExitCode != nil {
		t.Errorf("ended %+v", end)
	}
}

// pixel is an image of one pixel.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEklEQVR4nGP4z8CAFWEXHbQSACj/P8Fu7N9hAAAAAElFTkSuQmCC"

func imageReachesTheModel(t *testing.T, r *testSession) {
	image := protocol.Part{Type: "image", MediaType: "image/png", URL: "data:image/png;base64," + pixel}
	r.do(protocol.DoSend, protocol.SendData{Text: "look", Parts: []protocol.Part{image}}, &protocol.SendResult{})
	r.waitTurnEnd(protocol.ReasonCompleted)
	asked := r.conversation()
	if last := asked[len(asked)-1]; !strings.Contains(string(last.Body), pixel) {
		t.Error("the model did not get the image")
	}
}

// drip lets the agent write until its fifth piece has arrived.
func (r *testSession) drip() {
	r.t.Helper()
	r.send("drip")
	r.waitEventWhere(
		"the fifth drop", func(e *protocol.Event) bool { return strings.Contains(string(e.Data), "drop 5") },
	)
}

// checkContext sends a message and checks that its model request has a text of before.
func (r *testSession) checkContext(before string) {
	r.t.Helper()
	r.send("who am I?")
	r.waitTurnEnd(protocol.ReasonCompleted)
	if got := r.agentText(); got != "you said: who am I?" {
		r.t.Errorf("agent text %q", got)
	}
	if all := r.lastModelRequest(); !strings.Contains(all, before) {
		r.t.Errorf("the model received %s", all)
	}
}

func killedAgentIsReplaced(t *testing.T, r *testSession) {
	r.send("my name is Ada")
	r.waitTurnEnd(protocol.ReasonCompleted)
	r.drip()
	groups := r.children()
	if len(groups) == 0 {
		t.Fatal("no agent process")
	}
	for _, group := range groups {
		if err := syscall.Kill(-group, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	r.waitTurnEnd(protocol.ReasonError)
	if !strings.HasPrefix(r.agentText(), "drop 1 drop 2 drop 3 drop 4 drop 5") {
		t.Errorf("kept %q", r.agentText())
	}
	r.backdate()
	r.checkContext("my name is Ada")
}

func conversationOutlivesAKilledServer(t *testing.T, r *testSession) {
	r.send("my name is Grace")
	r.waitTurnEnd(protocol.ReasonCompleted)
	r.drip()
	r.kill()
	r.backdate()
	r.start()
	r.waitTurnEnd(protocol.ReasonError)
	if !strings.HasPrefix(r.agentText(), "drop 1 drop 2 drop 3 drop 4 drop 5") {
		t.Errorf("kept %q", r.agentText())
	}
	r.checkContext("my name is Grace")
}

func noProcessIsLeft(t *testing.T, r *testSession) {
	r.send("good night")
	r.waitTurnEnd(protocol.ReasonCompleted)
	if len(r.children()) == 0 {
		t.Error("no agent process before the end of the server")
	}
	r.stop() // fails if a process is left
}

// toolOutput returns the output of the last tool call, as far as events were waited for.
func (r *testSession) toolOutput() string {
	r.t.Helper()
	var b strings.Builder
	var tool string
	for _, e := range r.seen {
		switch e.Type {
		case protocol.ToolStarted: // also tells changes of a call
			var d protocol.ToolStartedData
			r.decode(e, &d)
			if d.Tool != tool {
				b.Reset()
			}
			tool = d.Tool
		case protocol.ToolOutput:
			var d protocol.ToolOutputData
			r.decode(e, &d)
			if d.Replace {
				b.Reset()
			}
			b.WriteString(d.Text)
			for _, c := range d.Content {
				b.WriteString(c.Text)
			}
		}
	}
	return b.String()
}
