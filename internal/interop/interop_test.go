//go:build interop

package interop

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/internal/fakemodel"
	"agentctl/protocol"
)

// each runs a test on every agent.
func each(t *testing.T, script func(*realAgent) fakemodel.Script, test func(*testing.T, *rig)) {
	t.Helper()
	for i := range realAgents {
		a := &realAgents[i]
		t.Run(a.name, func(t *testing.T) { test(t, open(t, a, script(a))) })
	}
}

// plays is a model that does what the user says: "run COMMAND" calls the shell, "write FILE" the editor, "drip" never ends, all else is answered by
// its own words. Requests that offer no tools are the agent's own business, such as finding a title.
func plays(a *realAgent) fakemodel.Script {
	return func(ctx context.Context, req fakemodel.Request, out *fakemodel.Reply) {
		if !req.Offers(a.shell) {
			out.Text("a title")
			return
		}
		if result, ended := req.ToolResult(); ended {
			out.Text("the tool said: " + result)
			return
		}
		said := req.LastUser()
		said = said[strings.LastIndexByte(said, '\n')+1:] // what agents put before it does not matter
		if command, ok := strings.CutPrefix(said, "run "); ok {
			out.Reasoning("a command it is")
			out.Text("I run it.")
			out.Call(a.shell, map[string]any{"command": command, "description": "as was said"})
			return
		}
		if file, ok := strings.CutPrefix(said, "write "); ok {
			out.Call(a.write, map[string]any{a.path: file, "content": "one\ntwo\n"})
			return
		}
		if said == "fail" {
			out.Fail(400, "no such luck")
			return
		}
		if said == "drip" {
			out.Repeat(ctx, "drop ", 20*time.Millisecond)
			return
		}
		out.Text("you ")
		out.Text("said: " + said)
	}
}

// steps are what one session goes through, one after the other.
var steps = []struct {
	name string
	run  func(*testing.T, *rig)
}{
	{"a prompt is answered in a stream", promptIsAnsweredInAStream},
	{"a command that is allowed runs", allowedCommandRuns},
	{"a command that is denied does not run and the reason is heard", deniedCommandDoesNotRun},
	{"an edit is shown before it happens", editIsShown},
	{"deny and stop ends the turn", denyAndStopEndsTheTurn},
	{"a rule is ours and the agent asks each time", ruleIsOurs},
	{"an interrupt keeps what was said", interruptKeepsWhatWasSaid},
	{"a failure of the model ends the turn in its words", failureIsTold},
}

func TestASession(t *testing.T) {
	each(t, plays, func(t *testing.T, r *rig) {
		for _, step := range steps {
			if !t.Run(step.name, func(t *testing.T) { step.run(t, r.in(t)) }) {
				return // what comes after a failure proves nothing
			}
		}
	})
}

func promptIsAnsweredInAStream(t *testing.T, r *rig) {
	r.send("good morning")
	r.turnEnded(protocol.ReasonCompleted)
	if got := r.said(); got != "you said: good morning" {
		t.Errorf("said %q", got)
	}
	if n := r.count(protocol.TextDelta); n < 2 {
		t.Errorf("came in %d deltas", n)
	}
	var snap protocol.SnapshotResult
	r.do(protocol.DoSnapshot, protocol.Empty{}, &snap)
	o := snap.Snapshot.State.Options
	if o == nil || o.Name == "" || o.Version == "" || len(o.Settings) == 0 {
		t.Errorf("the agent is %+v", o)
	}
	if u := snap.Snapshot.State.Usage; u == nil || u.Input == 0 || u.Output == 0 {
		t.Errorf("used %+v", u)
	}
}

// asked waits for a request to run the command and returns it.
func (r *rig) asked(command string) protocol.Approval {
	r.t.Helper()
	var a protocol.Approval
	r.decode(r.await(protocol.ApprovalRequested), &a)
	if a.Kind != protocol.ApproveCommand || a.Command != command || a.CWD != r.cwd || a.Tool == "" {
		r.t.Errorf("asked for %+v", a)
	}
	return a
}

func (r *rig) approve(d protocol.ApproveData) {
	r.t.Helper()
	r.do(protocol.DoApprove, d, &protocol.ApproveResult{})
}

// toolEnded waits until the tool call ends and checks how.
func (r *rig) toolEnded(tool string, want protocol.ToolStatus) {
	r.t.Helper()
	var d protocol.ToolEndedData
	e := r.awaitWhere("the end of the tool call", func(e *protocol.Event) bool { return e.Type == protocol.ToolEnded })
	r.decode(e, &d)
	if d.Tool != tool || d.Status != want {
		r.t.Errorf("the tool call %s ended as %+v, want %s", tool, d, want)
	}
}

func allowedCommandRuns(t *testing.T, r *rig) {
	r.send("run echo done > made.txt")
	a := r.asked("echo done > made.txt")
	if _, err := os.Stat(filepath.Join(r.cwd, "made.txt")); err == nil {
		t.Error("it ran before it was allowed")
	}
	r.approve(protocol.ApproveData{Request: a.Request, Decision: protocol.AllowOnce})
	r.toolEnded(a.Tool, protocol.ToolCompleted)
	r.turnEnded(protocol.ReasonCompleted)
	if b, err := os.ReadFile(filepath.Join(r.cwd, "made.txt")); err != nil || string(b) != "done\n" {
		t.Errorf("made %q, %v", b, err)
	}
	if !strings.Contains(r.said(), "the tool said:") {
		t.Errorf("said %q", r.said())
	}
}

func deniedCommandDoesNotRun(t *testing.T, r *rig) {
	r.send("run echo done > denied.txt")
	a := r.asked("echo done > denied.txt")
	r.approve(protocol.ApproveData{Request: a.Request, Decision: protocol.Deny, Reason: "not on a Friday"})
	r.toolEnded(a.Tool, protocol.ToolDenied)
	r.turnEnded(protocol.ReasonCompleted)
	r.turnEnded(protocol.ReasonCompleted) // of the reason, which is the next message
	if got := r.said(); got != "you said: not on a Friday" {
		t.Errorf("said %q", got)
	}
	if _, err := os.Stat(filepath.Join(r.cwd, "denied.txt")); err == nil {
		t.Error("it ran")
	}
}

func editIsShown(t *testing.T, r *rig) {
	file := filepath.Join(r.cwd, "new.txt")
	r.send("write " + file)
	var a protocol.Approval
	r.decode(r.await(protocol.ApprovalRequested), &a)
	if a.Kind != protocol.ApprovePatch || !slices.Contains(a.Paths, file) || len(a.Content) != 1 ||
		a.Content[0].Path != file || a.Content[0].New != "one\ntwo\n" {
		t.Errorf("asked for %+v", a)
	}
	r.approve(protocol.ApproveData{Request: a.Request, Decision: protocol.AllowOnce})
	r.toolEnded(a.Tool, protocol.ToolCompleted)
	r.turnEnded(protocol.ReasonCompleted)
	if b, err := os.ReadFile(file); err != nil || string(b) != "one\ntwo\n" {
		t.Errorf("made %q, %v", b, err)
	}
}

func denyAndStopEndsTheTurn(t *testing.T, r *rig) {
	r.send("run echo done > stopped.txt")
	a := r.asked("echo done > stopped.txt")
	r.approve(protocol.ApproveData{Request: a.Request, Decision: protocol.DenyStop})
	r.turnEnded(protocol.ReasonDenied)
	r.send("and now?")
	r.turnEnded(protocol.ReasonCompleted)
	if got := r.said(); got != "you said: and now?" {
		t.Errorf("said %q", got)
	}
}

func ruleIsOurs(t *testing.T, r *rig) {
	for i := range 2 {
		r.send("run echo again >> again.txt")
		a := r.asked("echo again >> again.txt")
		if i == 0 {
			r.approve(protocol.ApproveData{Request: a.Request, Decision: protocol.AllowAlways})
		}
		r.turnEnded(protocol.ReasonCompleted)
	}
	if b, err := os.ReadFile(filepath.Join(r.cwd, "again.txt")); err != nil || string(b) != "again\nagain\n" {
		t.Errorf("made %q, %v", b, err)
	}
}

func interruptKeepsWhatWasSaid(t *testing.T, r *rig) {
	r.send("drip")
	r.awaitWhere("the fifth drop", func(e *protocol.Event) bool { return strings.Contains(string(e.Data), "drop 5") })
	var result protocol.InterruptResult
	r.do(protocol.DoInterrupt, protocol.InterruptData{}, &result)
	r.turnEnded(protocol.ReasonInterrupted)
	if !result.Interrupted || !strings.HasPrefix(r.said(), "drop 1 drop 2 drop 3 drop 4 drop 5") {
		t.Errorf("interrupted %v, said %q", result.Interrupted, r.said())
	}
	r.send("still there?")
	r.turnEnded(protocol.ReasonCompleted)
	if got := r.said(); got != "you said: still there?" {
		t.Errorf("said %q", got)
	}
	if n := r.count(protocol.Notice); n != 0 {
		t.Errorf("the process was not kept:\n%s", r.story())
	}
}

func failureIsTold(t *testing.T, r *rig) {
	r.send("fail")
	var end protocol.TurnEndedData
	r.decode(r.await(protocol.TurnEnded), &end)
	if end.Reason != protocol.ReasonError || end.Code != protocol.CodeAgentFailed || !strings.Contains(end.Message, "no such luck") {
		t.Errorf("ended %+v", end)
	}
	r.send("and now?")
	r.turnEnded(protocol.ReasonCompleted)
}

// setting is the value of a setting as the agent told it last.
func (r *rig) setting(id string) string {
	r.t.Helper()
	var snap protocol.SnapshotResult
	r.do(protocol.DoSnapshot, protocol.Empty{}, &snap)
	if o := snap.Snapshot.State.Options; o != nil {
		for _, s := range o.Settings {
			if s.ID == id {
				return s.Value
			}
		}
	}
	return ""
}

func TestTheModeCanBeSetAndOutlivesTheServer(t *testing.T) {
	each(t, plays, func(t *testing.T, r *rig) {
		r.do(protocol.DoConfigure, protocol.ConfigureData{Setting: "mode", Value: r.agent.mode}, &protocol.Empty{})
		if got := r.setting("mode"); got != r.agent.mode {
			t.Errorf("the mode is %q", got)
		}
		r.stop()
		r.start()
		r.send("good morning")
		r.turnEnded(protocol.ReasonCompleted)
		if got := r.setting("mode"); got != r.agent.mode {
			t.Errorf("after the restart the mode is %q", got)
		}
	})
}

func TestWithoutALoginTheUserIsToldWhatToDo(t *testing.T) {
	gemini := realAgents[0]
	gemini.env = func(string, string) map[string]string {
		return map[string]string{"GEMINI_CLI_NO_RELAUNCH": "true", "GEMINI_API_KEY": ""}
	}
	gemini.files = func(string) map[string]any {
		return map[string]any{".gemini/settings.json": obj{
			"privacy": obj{"usageStatisticsEnabled": false}, "general": obj{"enableAutoUpdate": false},
		}}
	}
	r := open(t, &gemini, plays(&gemini))
	r.send("good morning")
	var end protocol.TurnEndedData
	r.decode(r.await(protocol.TurnEnded), &end)
	if end.Code != protocol.CodeAgentAuth || !strings.Contains(end.Message, "login") || !strings.Contains(end.Message, "Gemini API key") {
		t.Errorf("ended %+v", end)
	}
}

func TestAKeyInTheEnvironmentIsALogin(t *testing.T) {
	gemini := realAgents[0]
	with := gemini.env
	gemini.env = func(home, endpoint string) map[string]string {
		env := with(home, endpoint)
		delete(env, "GOOGLE_GEMINI_BASE_URL") // which gemini-cli takes for a login of another kind
		return env
	}
	gemini.files = func(string) map[string]any {
		return map[string]any{".gemini/settings.json": obj{
			"privacy": obj{"usageStatisticsEnabled": false}, "general": obj{"enableAutoUpdate": false},
		}}
	}
	r := open(t, &gemini, plays(&gemini))
	r.do(protocol.DoConfigure, protocol.ConfigureData{Setting: "mode", Value: "plan"}, &protocol.Empty{})
	if got := r.setting("mode"); got != "plan" {
		t.Errorf("the mode is %q", got)
	}
}

func TestTheConversationGoesOnAfterARestart(t *testing.T) {
	for how, down := range map[string]func(*rig){"drained": (*rig).stop, "killed": (*rig).kill} {
		t.Run(how, func(t *testing.T) {
			each(t, plays, func(t *testing.T, r *rig) {
				r.send("my name is Ada")
				r.turnEnded(protocol.ReasonCompleted)
				down(r)
				if r.agent.age != nil {
					if err := r.agent.age(r.home); err != nil {
						t.Fatal(err)
					}
				}
				r.start()
				r.send("who am I?")
				r.turnEnded(protocol.ReasonCompleted)
				if got := r.said(); got != "you said: who am I?" {
					t.Errorf("said %q", got)
				}
				if all := r.toldModel(); !strings.Contains(all, "my name is Ada") || !strings.Contains(all, "you said: my name is Ada") {
					t.Errorf("the model was told %s", all)
				}
				replayed := 0
				for _, e := range r.seen {
					if e.Type != protocol.MessageUser && strings.Contains(string(e.Data), "my name is Ada") {
						replayed++
					}
				}
				if replayed > 1 {
					t.Errorf("the replay is in the log:\n%s", r.story())
				}
			})
		})
	}
}

// toldModel is the conversation as the model was told it last.
func (r *rig) toldModel() string {
	told := ""
	for _, req := range r.model.Requests() {
		if req.Offers(r.agent.shell) {
			told = fmt.Sprint(req.Messages)
		}
	}
	return told
}

func TestARestoredSessionAndItsOriginBothGoOn(t *testing.T) {
	a := &realAgents[1] // the one that can fork a conversation
	r := open(t, a, plays(a))
	r.send("my name is Ada")
	r.turnEnded(protocol.ReasonCompleted)
	var state protocol.ExportResult
	r.do(protocol.DoExport, protocol.Empty{}, &state)
	other := *r
	other.seen = nil
	other.session = ""
	var made protocol.CreateResult
	other.do(protocol.DoRestore, protocol.RestoreData{State: state.State}, &made)
	other.follow(made)

	other.send("who am I?")
	other.turnEnded(protocol.ReasonCompleted)
	if all := r.toldModel(); !strings.Contains(all, "my name is Ada") || !strings.Contains(all, "who am I?") {
		t.Errorf("the restored session told the model %s", all)
	}
	r.send("still me")
	r.turnEnded(protocol.ReasonCompleted)
	if all := r.toldModel(); !strings.Contains(all, "my name is Ada") || strings.Contains(all, "who am I?") {
		t.Errorf("the first session told the model %s", all)
	}
}

func TestATurnThatAKilledServerCutEndsAndTheNextRuns(t *testing.T) {
	each(t, plays, func(t *testing.T, r *rig) {
		r.send("drip")
		r.awaitWhere("the fifth drop", func(e *protocol.Event) bool { return strings.Contains(string(e.Data), "drop 5") })
		r.kill()
		r.start()
		r.turnEnded(protocol.ReasonError)
		if !strings.HasPrefix(r.said(), "drop 1 drop 2 drop 3 drop 4 drop 5") {
			t.Errorf("kept %q", r.said())
		}
		r.send("still there?")
		r.turnEnded(protocol.ReasonCompleted)
		if got := r.said(); got != "you said: still there?" {
			t.Errorf("said %q", got)
		}
	})
}
