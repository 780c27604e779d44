//go:build interop

package interop

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/wsclient"
)

// in executes a command in another session, as do.
func (r *testSession) in(session string, verb protocol.Verb, data, result any) {
	r.t.Helper()
	own := r.session
	r.session = session
	defer func() { r.session = own }()
	r.do(verb, data, result)
}

// snapshot returns the state of a session.
func (r *testSession) snapshot(session string) *protocol.State {
	r.t.Helper()
	var snap protocol.SnapshotResult
	r.in(session, protocol.DoSnapshot, protocol.Empty{}, &snap)
	return snap.Snapshot.State
}

// subAgents returns the ids of the sub-agents of the session.
func (r *testSession) subAgents() (ids []string) {
	r.t.Helper()
	var list protocol.ListResult
	r.do(protocol.DoList, protocol.ListData{Closed: true}, &list)
	for i := range list.Sessions {
		if s := &list.Sessions[i]; s.SubAgent && s.Parent == r.session {
			ids = append(ids, s.Session)
		}
	}
	return ids
}

// waitSubAgent waits for the call that stands for a turn of a sub-agent, and returns its session.
func (r *testSession) waitSubAgent() (line protocol.ToolStartedData) {
	r.t.Helper()
	r.waitEventWhere("the call of a sub-agent", func(e *protocol.Event) bool {
		return e.Type == protocol.ToolStarted && e.Decode(&line) == nil && line.Session != ""
	})
	return line
}

// waitSubAgentRequest waits for the request of a sub-agent to run a command.
func (r *testSession) waitSubAgentRequest(command string) (a protocol.Approval) {
	r.t.Helper()
	r.decode(r.waitEvent(protocol.ApprovalRequested), &a)
	if a.Kind != protocol.ApproveCommand || a.Command != command || a.SubAgent == nil || a.Tool != "" {
		r.t.Fatalf("approval request %+v", a)
	}
	return a
}

// attachLate attaches to a session and waits for a snapshot or an event.
func (r *testSession) attachLate(session string, ok func(st *protocol.State, e *protocol.Event) bool) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), agentTimeout)
	defer cancel()
	late := r.client.Subscribe(session, wsclient.SubscribeOptions{})
	defer late.Close()
	for it, err := range late.Events(ctx) {
		if err != nil {
			r.t.Fatal(err)
		}
		st := &protocol.State{}
		if it.Attached != nil && it.Attached.Snapshot != nil {
			st = it.Attached.Snapshot.State
		}
		if ok(st, it.Event) {
			return
		}
	}
	r.t.Fatalf("a late client of %s waits in vain", session)
}

// lateRequest attaches to a session and returns its request, or the first that follows.
func (r *testSession) lateRequest(session string) (a protocol.Approval) {
	r.t.Helper()
	r.attachLate(session, func(st *protocol.State, e *protocol.Event) bool {
		if len(st.Approvals) > 0 {
			a = st.Approvals[0]
			return true
		}
		return e != nil && e.Type == protocol.ApprovalRequested && e.Decode(&a) == nil
	})
	return a
}

// announcesNoSubAgents checks that the capabilities of the agent name no sub-agents.
func announcesNoSubAgents(t *testing.T, r *testSession) {
	r.send("hello")
	r.waitTurnEnd(protocol.ReasonCompleted)
	answers := 0
	for _, f := range readFrames(t, r.frames) {
		if f.Dir != toClient || !strings.Contains(f.Line, `"agentCapabilities"`) {
			continue
		}
		answers++
		if strings.Contains(strings.ToLower(f.Line), "subagent") {
			t.Errorf("the agent announces %s", f.Line)
		}
	}
	if answers == 0 {
		t.Error("no answer to initialize")
	}
}

// A sub-agent has a session, which a client that comes late sees. Its request is decided there.
func subAgentHasASession(t *testing.T, r *testSession) {
	before := len(r.subAgents())
	r.send("delegate run echo done > delegated.txt")
	line := r.waitSubAgent()
	a := r.waitSubAgentRequest("echo done > delegated.txt")
	if got := r.subAgents(); len(got) != before+1 || a.SubAgent.Session != line.Session {
		t.Errorf("the request is of %+v, the call of %s; sessions %q", a.SubAgent, line.Session, got)
	}
	if own := r.lateRequest(line.Session); own.Request != a.Request || own.Tool == "" {
		t.Errorf("the sub-agent has the request %+v", own)
	}
	r.in(line.Session, protocol.DoApprove, protocol.ApproveData{Request: a.Request, Decision: protocol.AllowOnce},
		&protocol.ApproveResult{})
	r.waitToolEnd(line.Tool, protocol.ToolCompleted)
	r.waitTurnEnd(protocol.ReasonCompleted)
	if b, err := os.ReadFile(filepath.Join(r.cwd, "delegated.txt")); err != nil || string(b) != "done\n" {
		t.Errorf("file has %q, %v", b, err)
	}
	st := r.snapshot(line.Session)
	if st.Parent != r.session || st.Turn != nil || st.Turns != 1 || st.Last.Reason != protocol.ReasonCompleted ||
		len(st.Approvals)+len(r.snapshot(r.session).Approvals) > 0 {
		t.Errorf("in the end the sub-agent is %+v, %+v", st.Attributes, st.Last)
	}
	var page protocol.HistoryResult
	r.in(line.Session, protocol.DoHistory, protocol.HistoryData{}, &page)
	if text := string(protocol.MustEncode(page)); !strings.Contains(text, "delegated.txt") || !strings.Contains(text, "the tool said:") {
		t.Errorf("its history is %s", text)
	}
}

func TestASubAgentIsInterruptedAlone(t *testing.T) {
	for _, a := range []realAgent{claudeAgent, codexAgent} {
		t.Run(a.name, func(t *testing.T) {
			r := newTestSession(t, &a, modelScript(&a))
			r.send("delegate drip")
			line := r.waitSubAgent()
			if a.name == codexAgent.name { // it says later that it can stop a sub-agent; Claude sends whole texts only
				r.attachLate(line.Session, func(_ *protocol.State, e *protocol.Event) bool {
					return e != nil && e.Type == protocol.TextDelta
				})
			}
			var result protocol.InterruptResult
			r.in(line.Session, protocol.DoInterrupt, protocol.InterruptData{}, &result)
			if !result.Interrupted {
				t.Errorf("%+v", result)
			}
			r.waitToolEnd(line.Tool, protocol.ToolCancelled)
			r.waitTurnEnd(protocol.ReasonCompleted)
			if st := r.snapshot(line.Session); st.Last.Reason != protocol.ReasonInterrupted {
				t.Errorf("it ended as %+v", st.Last)
			}
		})
	}
}

// The turns of an agent and of its sub-agent end with the server. What both showed stays, and the next
// task belongs to another sub-agent.
func TestSubAgentsOfAKilledServer(t *testing.T) {
	for _, a := range []realAgent{claudeAgent, codexAgent} {
		t.Run(a.name, func(t *testing.T) {
			r := newTestSession(t, &a, modelScript(&a))
			r.send("delegate run touch delegated.txt")
			line := r.waitSubAgent()
			r.waitSubAgentRequest("touch delegated.txt")
			r.kill()
			r.start()
			r.waitTurnEnd(protocol.ReasonError)
			for _, session := range []string{r.session, line.Session} {
				st := r.snapshot(session)
				if st.Turn != nil || st.Turns != 1 || st.Last.Code != protocol.CodeServerRestart || len(st.Approvals) > 0 {
					t.Errorf("%s: %+v, pending %+v", session, st.Last, st.Approvals)
				}
			}
			if _, err := os.Stat(filepath.Join(r.cwd, "delegated.txt")); err == nil {
				t.Error("the command ran without a decision")
			}
			r.backdate()
			r.send("who am I?")
			r.waitTurnEnd(protocol.ReasonCompleted)
			subAgentHasASession(t, r)
			if got := r.subAgents(); len(got) != 2 || r.snapshot(line.Session).Turns != 1 {
				t.Errorf("the sub-agents are %q", got)
			}
		})
	}
}

// Without sessions of sub-agents Claude names the call that each of their calls is nested in.
func TestCallsOfAClaudeSubAgentAreNested(t *testing.T) {
	a := claudeAgent
	a.nest = true
	r := newTestSession(t, &a, modelScript(&a))
	r.send("delegate run echo done > nested.txt")
	var task protocol.ToolStartedData
	r.decode(r.waitEvent(protocol.ToolStarted), &task)
	request := r.waitCommandApproval("echo done > nested.txt")
	nested := false
	for _, e := range r.seen {
		var d protocol.ToolStartedData
		if e.Type == protocol.ToolStarted {
			r.decode(e, &d)
			nested = nested || d.Tool == request.Tool && e.Parent == task.Tool
		}
	}
	if !nested || request.SubAgent != nil || len(r.subAgents()) > 0 {
		t.Errorf("the call of %+v is not nested in %s; the log is\n%s", request, task.Tool, r.logText())
	}
	r.approve(protocol.ApproveData{Request: request.Request, Decision: protocol.AllowOnce})
	r.waitTurnEnd(protocol.ReasonCompleted)
}
