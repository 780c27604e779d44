//go:build interop

package interop

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/internal/dev/fakemodel"
	"agentctl/protocol"
)

// forEachAgent runs a test against each of restartAgents.
func forEachAgent(t *testing.T, script func(*realAgent) fakemodel.Script, test func(*testing.T, *testSession)) {
	t.Helper()
	for i := range restartAgents {
		a := &restartAgents[i]
		t.Run(a.name, func(t *testing.T) { test(t, newTestSession(t, a, script(a))) })
	}
}

// modelScript returns a model that follows the user's message: "run COMMAND" calls the shell tool,
// "write FILE" the write tool, "edit FILE" the tools that read and edit, "delegate TASK" those that give it to a sub-agent, "ask"
// the tool for questions, "drip" streams without end, "fail" fails, "limited until FILE" is at a usage limit until the file exists,
// and anything else is echoed. Requests without tools come from the agent itself, for example to generate a title.
func modelScript(a *realAgent) fakemodel.Script {
	return func(ctx context.Context, req fakemodel.Request, out *fakemodel.Reply) {
		if !req.Offers(a.shellTool) {
			out.Text("a title")
			return
		}
		message := req.LastUser()
		message = message[strings.LastIndexByte(message, '\n')+1:] // drop what agents put before it
		result, ended := req.ToolResult()
		if file, ok := strings.CutPrefix(message, "edit "); ok {
			if calls := callsSinceUser(req); calls == 0 && a.read != nil {
				out.Call(a.read(file))
				return
			} else if calls == 0 || calls == 1 && a.read != nil {
				out.Call(a.edit(file))
				return
			}
		}
		if task, ok := strings.CutPrefix(message, "delegate "); ok {
			if calls, done := a.delegate(task), callsSinceUser(req); done < len(calls) {
				out.Call(calls[done].tool, calls[done].in)
				return
			}
		}
		if ended {
			out.Text("the tool said: " + result)
			return
		}
		if command, ok := strings.CutPrefix(message, "run "); ok {
			out.Reasoning("a command it is")
			out.Text("I run it.")
			out.Call(a.shellTool, a.command(command))
			return
		}
		if file, ok := strings.CutPrefix(message, "write "); ok {
			out.Call(a.write(file))
			return
		}
		if message == "fail" {
			out.Fail(400, "no such luck")
			return
		}
		if file, ok := strings.CutPrefix(message, "limited until "); ok {
			if _, err := os.Stat(file); err != nil {
				a.limited(out)
				return
			}
		}
		if message == "ask" && a.ask != nil {
			out.Call(a.ask())
			return
		}
		if message == "drip" {
			out.Repeat(ctx, "drop ", 20*time.Millisecond)
			return
		}
		out.Text("you ")
		out.Text("said: " + message)
	}
}

// callsSinceUser returns the number of tool calls since the last message of the user.
func callsSinceUser(req fakemodel.Request) (n int) {
	for _, m := range slices.Backward(req.Messages) {
		switch {
		case m.Role == fakemodel.User:
			return n
		case m.Call != "":
			n++
		}
	}
	return n
}

func promptIsAnsweredInAStream(t *testing.T, r *testSession) {
	r.send("good morning")
	r.waitTurnEnd(protocol.ReasonCompleted)
	if got := r.agentText(); got != "you said: good morning" {
		t.Errorf("agent text %q", got)
	}
	if n := r.count(protocol.TextDelta); n < 2 {
		t.Errorf("%d deltas, want a stream", n)
	}
	var snap protocol.SnapshotResult
	r.do(protocol.DoSnapshot, protocol.Empty{}, &snap)
	o := snap.Snapshot.State.Options
	if o == nil || o.Name == "" || (o.Version == "") != r.agent.vague || len(o.Settings) == 0 {
		t.Errorf("the agent is %+v", o)
	}
	if u := snap.Snapshot.State.Usage; u == nil || u.Input == 0 || u.Output == 0 {
		t.Errorf("used %+v", u)
	}
}

// waitCommandApproval waits for the approval request of a command.
func (r *testSession) waitCommandApproval(command string) protocol.Approval {
	r.t.Helper()
	var a protocol.Approval
	r.decode(r.waitEvent(protocol.ApprovalRequested), &a)
	if a.Kind != protocol.ApproveCommand || a.Command != command || a.CWD != r.cwd || a.Tool == "" {
		r.t.Errorf("approval request %+v", a)
	}
	return a
}

// approve decides a request. An agent may send other arguments of the call before the decision
// reaches it, such as a description. The server then asks again, and waitEventWhere decides that
// request alike.
func (r *testSession) approve(d protocol.ApproveData) {
	r.t.Helper()
	r.decision, r.decided = d, ""
	for _, e := range r.seen {
		var a protocol.Approval
		if e.Type != protocol.ApprovalRequested {
			continue
		}
		if r.decode(e, &a); a.Request == d.Request {
			r.decided = a.Tool
		}
	}
	err := r.try(protocol.DoApprove, d, &protocol.ApproveResult{})
	if err != nil && protocol.AsError(err).Code != protocol.CodeConflict {
		r.t.Fatalf("%s: %v; the log is\n%s", protocol.DoApprove, err, r.logText())
	}
}

// decideAlike decides the request that replaces the one of the last decision.
func (r *testSession) decideAlike(e protocol.Event) {
	r.t.Helper()
	var a protocol.Approval
	if r.decode(e, &a); a.Tool != "" && a.Tool == r.decided {
		d := r.decision
		d.Request = a.Request
		r.approve(d)
	}
}

// waitToolEnd waits for the end of a tool call and checks its status.
func (r *testSession) waitToolEnd(tool string, want protocol.ToolStatus) {
	r.t.Helper()
	var d protocol.ToolEndedData
	e := r.waitEventWhere(
		"the end of the tool call", func(e *protocol.Event) bool { return e.Type == protocol.ToolEnded },
	)
	r.decode(e, &d)
	if d.Tool != tool || d.Status != want {
		r.t.Errorf("the tool call %s ended as %+v, want %s", tool, d, want)
	}
}

func allowedCommandRuns(t *testing.T, r *testSession) {
	r.send("run echo done > made.txt")
	a := r.waitCommandApproval("echo done > made.txt")
	if _, err := os.Stat(filepath.Join(r.cwd, "made.txt")); err == nil {
		t.Error("the command ran before it was allowed")
	}
	r.approve(protocol.ApproveData{Request: a.Request, Decision: protocol.AllowOnce})
	r.waitToolEnd(a.Tool, protocol.ToolCompleted)
	r.waitTurnEnd(protocol.ReasonCompleted)
	if b, err := os.ReadFile(filepath.Join(r.cwd, "made.txt")); err != nil || string(b) != "done\n" {
		t.Errorf("file has %q, %v", b, err)
	}
	if !strings.Contains(r.agentText(), "the tool said:") {
		t.Errorf("agent text %q", r.agentText())
	}
}

func deniedCommandDoesNotRun(t *testing.T, r *testSession) {
	r.send("run echo done > denied.txt")
	a := r.waitCommandApproval("echo done > denied.txt")
	r.approve(protocol.ApproveData{Request: a.Request, Decision: protocol.Deny, Reason: "not on a Friday"})
	r.waitToolEnd(a.Tool, protocol.ToolDenied)
	r.waitTurnEnd(cmp.Or(r.agent.denied, protocol.ReasonCompleted))
	r.waitTurnEnd(protocol.ReasonCompleted) // the turn of the reason, which is sent as the next message
	if got := r.agentText(); got != "you said: not on a Friday" {
		t.Errorf("agent text %q", got)
	}
	if _, err := os.Stat(filepath.Join(r.cwd, "denied.txt")); err == nil {
		t.Error("the denied command ran")
	}
}

func editIsShown(t *testing.T, r *testSession) {
	file := filepath.Join(r.cwd, "new.txt")
	defer r.recordEdit("write")()
	r.send("write " + file)
	var a protocol.Approval
	r.decode(r.waitEvent(protocol.ApprovalRequested), &a)
	if a.Kind != protocol.ApprovePatch || !slices.Contains(a.Paths, file) || len(a.Content) != 1 ||
		a.Content[0].Path != file || a.Content[0].New != "one\ntwo\n" {
		t.Errorf("approval request %+v", a)
	}
	r.approve(protocol.ApproveData{Request: a.Request, Decision: protocol.AllowOnce})
	r.waitToolEnd(a.Tool, protocol.ToolCompleted)
	r.waitTurnEnd(protocol.ReasonCompleted)
	if b, err := os.ReadFile(file); err != nil || string(b) != "one\ntwo\n" {
		t.Errorf("file has %q, %v", b, err)
	}
}

func denyAndStopEndsTheTurn(t *testing.T, r *testSession) {
	r.send("run echo done > stopped.txt")
	a := r.waitCommandApproval("echo done > stopped.txt")
	r.approve(protocol.ApproveData{Request: a.Request, Decision: protocol.DenyStop})
	r.waitTurnEnd(protocol.ReasonDenied)
	r.send("and now?")
	r.waitTurnEnd(protocol.ReasonCompleted)
	if got := r.agentText(); got != "you said: and now?" {
		t.Errorf("agent text %q", got)
	}
}

func ruleIsKeptByServer(t *testing.T, r *testSession) {
	for i := range 2 {
		r.send("run echo again >> again.txt")
		a := r.waitCommandApproval("echo again >> again.txt")
		if i == 0 {
			r.approve(protocol.ApproveData{Request: a.Request, Decision: protocol.AllowAlways})
		}
		r.waitTurnEnd(protocol.ReasonCompleted)
	}
	if b, err := os.ReadFile(filepath.Join(r.cwd, "again.txt")); err != nil || string(b) != "again\nagain\n" {
		t.Errorf("file has %q, %v", b, err)
	}
}

func interruptKeepsWhatWasSaid(t *testing.T, r *testSession) {
	r.drip()
	var result protocol.InterruptResult
	r.do(protocol.DoInterrupt, protocol.InterruptData{}, &result)
	r.waitTurnEnd(protocol.ReasonInterrupted)
	if !result.Interrupted || !strings.HasPrefix(r.agentText(), "drop 1 drop 2 drop 3 drop 4 drop 5") {
		t.Errorf("interrupted %v, agent text %q", result.Interrupted, r.agentText())
	}
	r.send("still there?")
	r.waitTurnEnd(protocol.ReasonCompleted)
	if got := r.agentText(); got != "you said: still there?" {
		t.Errorf("agent text %q", got)
	}
	if n := r.count(protocol.Notice); n != 0 {
		t.Errorf("the agent process was restarted:\n%s", r.logText())
	}
}

func modelFailureEndsTurn(t *testing.T, r *testSession) {
	r.send("fail")
	var end protocol.TurnEndedData
	r.decode(r.waitEvent(protocol.TurnEnded), &end)
	if end.Reason != protocol.ReasonError || end.Code != protocol.CodeAgentFailed ||
		strings.Contains(end.Message, "no such luck") == r.agent.vague {
		t.Errorf("ended %+v", end)
	}
	r.send("and now?")
	r.waitTurnEnd(protocol.ReasonCompleted)
}

// setting returns the current value of an agent setting.
func (r *testSession) setting(id string) string {
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
	forEachAgent(t, modelScript, func(t *testing.T, r *testSession) {
		r.do(protocol.DoConfigure, protocol.ConfigureData{Setting: "mode", Value: r.agent.mode}, &protocol.Empty{})
		if got := r.setting("mode"); got != r.agent.mode {
			t.Errorf("the mode is %q", got)
		}
		r.stop()
		r.start()
		r.send("good morning")
		r.waitTurnEnd(protocol.ReasonCompleted)
		if got := r.setting("mode"); got != r.agent.mode {
			t.Errorf("after the restart the mode is %q", got)
		}
	})
}

func TestAMissingLoginIsReportedWithInstructions(t *testing.T) {
	gemini := geminiAgent
	gemini.env = func(string, string) map[string]string {
		return map[string]string{"GEMINI_CLI_NO_RELAUNCH": "true", "GEMINI_API_KEY": ""}
	}
	gemini.files = func(string) map[string]any {
		return map[string]any{".gemini/settings.json": obj{
			"privacy": obj{"usageStatisticsEnabled": false}, "general": obj{"enableAutoUpdate": false},
		}}
	}
	r := newTestSession(t, &gemini, modelScript(&gemini))
	r.send("good morning")
	var end protocol.TurnEndedData
	r.decode(r.waitEvent(protocol.TurnEnded), &end)
	if end.Code != protocol.CodeAgentAuth || !strings.Contains(end.Message, "login") ||
		!strings.Contains(end.Message, "GEMINI_API_KEY") {
		t.Errorf("ended %+v", end)
	}
}

func TestAKeyInTheEnvironmentIsALogin(t *testing.T) {
	gemini := geminiAgent
	with := gemini.env
	gemini.env = func(home, endpoint string) map[string]string {
		env := with(home, endpoint)
		delete(env, "GOOGLE_GEMINI_BASE_URL") // gemini-cli treats it as another kind of login
		return env
	}
	gemini.files = func(string) map[string]any {
		return map[string]any{".gemini/settings.json": obj{
			"privacy": obj{"usageStatisticsEnabled": false}, "general": obj{"enableAutoUpdate": false},
		}}
	}
	r := newTestSession(t, &gemini, modelScript(&gemini))
	r.do(protocol.DoConfigure, protocol.ConfigureData{Setting: "mode", Value: "plan"}, &protocol.Empty{})
	if got := r.setting("mode"); got != "plan" {
		t.Errorf("the mode is %q", got)
	}
}

func TestTheConversationGoesOnAfterARestart(t *testing.T) {
	for how, down := range map[string]func(*testSession){
		"drained": (*testSession).stop,
		"killed":  (*testSession).kill,
	} {
		t.Run(how, func(t *testing.T) {
			forEachAgent(t, modelScript, func(t *testing.T, r *testSession) {
				r.send("my name is Ada")
				r.waitTurnEnd(protocol.ReasonCompleted)
				down(r)
				r.backdate()
				r.start()
				r.send("who am I?")
				r.waitTurnEnd(protocol.ReasonCompleted)
				if got := r.agentText(); got != "you said: who am I?" {
					t.Errorf("agent text %q", got)
				}
				if all := r.lastModelRequest(); !strings.Contains(all, "my name is Ada") ||
					!strings.Contains(all, "you said: my name is Ada") {
					t.Errorf("the model received %s", all)
				}
				replayed := 0
				for _, e := range r.seen {
					if e.Type != protocol.MessageUser && strings.Contains(string(e.Data), "my name is Ada") {
						replayed++
					}
				}
				if replayed > 1 {
					t.Errorf("the log contains the replay:\n%s", r.logText())
				}
			})
		})
	}
}

// lastModelRequest returns the messages of the last model request with tools.
func (r *testSession) lastModelRequest() string {
	messages := ""
	for _, req := range r.model.Requests() {
		if req.Offers(r.agent.shellTool) {
			messages = fmt.Sprint(req.Messages)
		}
	}
	return messages
}

func TestARestoredSessionAndItsOriginBothGoOn(t *testing.T) {
	a := &openCodeAgent // supports forking a conversation
	r := newTestSession(t, a, modelScript(a))
	r.send("my name is Ada")
	r.waitTurnEnd(protocol.ReasonCompleted)
	var state protocol.ExportResult
	r.do(protocol.DoExport, protocol.Empty{}, &state)
	other := *r
	other.seen = nil
	other.session = ""
	var made protocol.CreateResult
	other.do(protocol.DoRestore, protocol.RestoreData{State: state.State}, &made)
	other.follow(made)
	other.waitTurnEnd(protocol.ReasonCompleted) // of the history that the state carries

	other.send("who am I?")
	other.waitTurnEnd(protocol.ReasonCompleted)
	if all := r.lastModelRequest(); !strings.Contains(all, "my name is Ada") || !strings.Contains(all, "who am I?") {
		t.Errorf("the model received from the restored session %s", all)
	}
	r.send("still me")
	r.waitTurnEnd(protocol.ReasonCompleted)
	if all := r.lastModelRequest(); !strings.Contains(all, "my name is Ada") || strings.Contains(all, "who am I?") {
		t.Errorf("the model received from the first session %s", all)
	}
}
