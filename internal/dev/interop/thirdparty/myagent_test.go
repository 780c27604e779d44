//go:build interop

package thirdparty

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/internal/dev/interop/interoptest"
	"agentctl/protocol"
)

// MY-1 to MY-26, MY-33 to MY-36: a third-party client runs every exchange of the document.
func TestAThirdPartyMyAgentClientUsesTheServer(t *testing.T) {
	runPythonClient(t, "myagent", "myagent_client.py")
}

// The client executes every supported command and receives every message of such a server.
func TestTheClientUsesAThirdPartyMyAgentServer(t *testing.T) {
	p := startPythonServer(t, "myagent_server.py", "hush")
	s := follow(t, p.client("myagent"), "work")

	s.Send("plain one")
	if got := summarizeTurn(s.waitTurns(1)); got != "(Thinking about step 1)你好, world: plain one | completed" {
		t.Error(got)
	}

	// The server's times are those of another zone, without its name.
	for _, it := range s.Transcript.Current().Items {
		if age := time.Since(it.Started); age < -time.Minute || age > time.Minute {
			t.Errorf("the time of %s is %s", it.Kind, it.Started)
		}
	}

	s.Send("tool two")
	a := s.waitApproval()
	if a.Kind != protocol.ApproveTool || a.Name != "get_weather" || a.Why != "Get the weather" ||
		string(a.Input) != `{"city":"\u5df4\u9ece","days":2,"exact":1e+16}` {
		t.Errorf("approval %+v", a)
	}
	if o := s.decide(a, protocol.ApproveData{Decision: protocol.AllowOnce}); o != protocol.Allowed {
		t.Errorf("outcome %s", o)
	}
	if got := summarizeTurn(s.waitTurns(2)); got != "[get_weather completed sunny ]<allowed>It is sunny. | completed" {
		t.Error(got)
	}
	s.Send("tool three")
	s.decide(s.waitApproval(), protocol.ApproveData{Decision: protocol.Deny, Reason: "不行"})
	if got := summarizeTurn(s.waitTurns(3)); got != "[get_weather denied  ]<denied>As you wish. | completed" {
		t.Error(got)
	}
	s.Send("tool four")
	s.decide(s.waitApproval(), protocol.ApproveData{Decision: protocol.DenyStop})
	if got := s.waitTurns(4); got.End.Reason != protocol.ReasonInterrupted &&
		got.End.Reason != protocol.ReasonCompleted {
		t.Error(summarizeTurn(got))
	}

	s.Send("plan five")
	a = s.waitApproval()
	if a.Kind != protocol.ApprovePlan || len(a.Tasks) != 3 || a.Tasks[0].Title != "生成PPT" || a.Tasks[0].ID != "1" ||
		a.Why != "three tasks" {
		t.Errorf("approval %+v", a)
	}
	s.decide(a, protocol.ApproveData{Decision: protocol.AllowOnce, Input: &protocol.ApprovalInput{Tasks: a.Tasks[1:]}})
	interoptest.Contains(t, summarizeTurn(s.waitTurns(5)), "(about 优化样式)", "(about 导出文件)", "All is solved. | completed")
	if pl := s.State.Plan; len(pl.Tasks) != 2 || pl.Tasks[0].Status != protocol.StatusCompleted {
		t.Errorf("the plan is %s", protocol.MustEncode(s.State.Plan))
	}
	if text := string(protocol.MustEncode(s.Transcript.Current().Items)); strings.Count(text, "优化样式 is done") != 1 ||
		!strings.Contains(text, `{"tasks":2}`) {
		t.Errorf("the results are %s", text)
	}
	s.Send("plan six")
	first := s.waitApproval()
	s.decide(first, protocol.ApproveData{
		Decision: protocol.Deny, Reason: "plan shorter", Input: &protocol.ApprovalInput{Replan: true},
	})
	s.WaitFor("a new plan", func() bool {
		return len(s.State.Approvals) == 1 && s.State.Approvals[0].Request != first.Request
	})
	if s.State.Plan.Question != "plan shorter" {
		t.Errorf("the plan is %s", protocol.MustEncode(s.State.Plan))
	}
	s.decide(s.waitApproval(), protocol.ApproveData{Decision: protocol.Deny, Reason: "too long"})
	s.waitTurns(6)
	if s.State.Plan.Status != protocol.StatusCancelled {
		t.Errorf("the plan is %s", protocol.MustEncode(s.State.Plan))
	}

	do[protocol.SendResult](
		s,
		protocol.DoPlanRun,
		protocol.PlanRunData{Tasks: []protocol.Task{{ID: "7", Title: "七"}, {ID: "x", Title: "ex"}}, Question: "which?"},
	)
	s.waitTurns(7)
	if pl := s.State.Plan; len(pl.Tasks) != 2 || pl.Tasks[0].ID != "7" ||
		pl.Tasks[1].Status != protocol.StatusCompleted {
		t.Errorf("the plan is %s", protocol.MustEncode(s.State.Plan))
	}

	s.Send("slowplan eight")
	task := func(status string) func() bool {
		return func() bool {
			return s.State.Plan != nil && len(s.State.Plan.Tasks) == 2 && s.State.Plan.Tasks[0].Status == status
		}
	}
	s.WaitFor("solving", task(protocol.StatusRunning))
	do[protocol.Empty](s, protocol.DoTaskRestart, protocol.TaskIDData{Task: "a"})
	interoptest.Contains(t, summarizeTurn(s.waitTurns(8)), "Steered. | completed")
	s.Send("slowplan nine")
	s.WaitFor("solving", task(protocol.StatusRunning))
	do[protocol.Empty](s, protocol.DoTaskCancel, protocol.TaskIDData{Task: "a"})
	s.WaitFor("cancelled", task(protocol.StatusCancelled))
	do[protocol.InterruptResult](s, protocol.DoInterrupt, nil)
	if got := s.waitTurns(9); got.End.Reason != protocol.ReasonInterrupted {
		t.Error(summarizeTurn(got))
	}

	s.Send("slow ten")
	s.WaitFor("streaming", func() bool { return strings.Contains(summarizeTurn(s.Transcript.Current()), "so far") })
	s.Send("plain eleven") // queued by the client
	if len(s.State.Queue) > 1 {
		t.Errorf("the queue is %+v", s.State.Queue)
	}
	do[protocol.InterruptResult](s, protocol.DoInterrupt, nil)
	interoptest.Contains(t, summarizeTurn(s.waitTurns(11)), "你好, world: plain eleven | completed")

	s.Send("faults twelve")
	got := s.waitTurns(12)
	for _, typ := range []protocol.Type{
		protocol.ErrorRaised, protocol.RetryScheduled, protocol.RecoveryStarted,
		protocol.RecoverySucceeded, protocol.RecoveryFailed,
	} {
		if !slices.ContainsFunc(got.Items, func(it *protocol.Item) bool { return it.Type == typ }) {
			t.Errorf("no %s in %s", typ, summarizeTurn(got))
		}
	}
	if got.End.Reason != protocol.ReasonError || got.End.Message != "Agent failed" {
		t.Errorf("ended %+v", got.End)
	}
	s.Send("late thirteen")
	if got := s.waitTurns(13); got.End.Reason != protocol.ReasonTimeout {
		t.Error(summarizeTurn(got))
	}

	// A state signed by Python comes back through the client with its numbers and text unchanged.
	state := do[protocol.ExportResult](s, protocol.DoExport, nil)
	made := interoptest.Call[protocol.CreateResult](
		t, s.Client, protocol.DoRestore, "", protocol.RestoreData{State: state.State, Name: "again"},
	)
	again := follow(t, s.Client, "again")
	if made.Session == s.State.Session {
		t.Error("restored into the same session")
	}
	again.Send("plain more")
	interoptest.Contains(t, summarizeTurn(again.waitTurns(1)), "你好, world: plain more | completed")

	for _, verb := range []protocol.Verb{
		protocol.DoCompact, protocol.DoSearch, protocol.DoRulesList, protocol.DoClose,
		protocol.DoQueueHold,
	} {
		if _, err := interoptest.Try[protocol.Empty](s.Follower, verb,
			nil); protocol.CodeOf(err) != protocol.CodeUnsupported {
			t.Errorf("%s: %v", verb, err)
		}
	}
	s.Send("bye fourteen")
	s.WaitFor("closed", func() bool { return s.State.Closed })
}

// MY-7, MY-9, MY-35: a connection that breaks during a turn ends the session on the server. The
// client restores it from its exported state, including the missed part.
func TestACutCostsNothingAtAServerOfMyAgents(t *testing.T) {
	p := startPythonServer(t, "myagent_server.py", "hush")
	s := follow(t, p.client("myagent"), "work")
	s.Send("plain one")
	s.waitTurns(1)
	s.Send("cut two")
	if got := summarizeTurn(s.waitTurns(2)); !strings.HasPrefix(got, "(the link will break)") ||
		strings.Count(got, "missed this") != 1 ||
		!strings.HasSuffix(got, "| completed") {
		t.Error(got)
	}
	s.WaitFor("attached again", func() bool { return len(s.Modes) == 2 })
	if s.Modes[1] != protocol.ModeResume+" "+protocol.ResumeRestored {
		t.Errorf("attachments %v", s.Modes)
	}
	s.Send("plain three")
	interoptest.Contains(t, summarizeTurn(s.waitTurns(3)), "你好, world: plain three | completed")
}

// A restarted server has no sessions. With the same secret it accepts the exported state. With
// another secret the session starts anew, and the client reports a reset.
func TestARestartedServerOfMyAgents(t *testing.T) {
	for _, secret := range []string{"hush", "other"} {
		t.Run(secret, func(t *testing.T) {
			p := startPythonServer(t, "myagent_server.py", "hush")
			s := follow(t, p.client("myagent"), "work")
			s.Send("plain one")
			s.waitTurns(1)
			s.Send("slow two")
			s.WaitFor(
				"streaming", func() bool { return strings.Contains(summarizeTurn(s.Transcript.Current()), "so far") },
			)
			p.kill()
			p.args[1] = secret
			p.start()
			s.WaitFor("attached again", func() bool { return len(s.Modes) == 2 })
			if secret == "hush" {
				if s.Modes[1] != protocol.ModeResume+" "+protocol.ResumeRestored {
					t.Errorf("attachments %v", s.Modes)
				}
				if end := s.waitTurns(2).End; end.Reason != protocol.ReasonError ||
					end.Code != protocol.CodeServerRestart {
					t.Errorf("ended %+v", end)
				}
				s.Send("plain three")
				interoptest.Contains(t, summarizeTurn(s.waitTurns(3)), "你好, world: plain three | completed")
				return
			}
			if !strings.HasPrefix(s.Modes[1], protocol.ModeReset) {
				t.Errorf("attachments %v", s.Modes)
			}
			s.Send("plain three")
			s.WaitFor("answered", func() bool {
				n := len(s.Transcript.Turns)
				return n > 0 && s.Transcript.Turns[n-1].End != nil && s.State.Turn == nil
			})
			interoptest.Contains(t, summarizeTurn(s.Transcript.Turns[len(s.Transcript.Turns)-1]),
				"你好, world: plain three | completed")
			if past := string(protocol.MustEncode(do[protocol.HistoryResult](s, protocol.DoHistory,
				nil))); !strings.Contains(past, "plain one") || !strings.Contains(past, "connection lost") {
				t.Errorf("the history is %s", past)
			}
			if c := do[protocol.ListResult](s, protocol.DoList, nil); len(c.Sessions) == 0 {
				t.Error("the session list is empty")
			}
			if log := fmt.Sprint(p.messages()); strings.Count(log, "user.create_session") < 2 {
				t.Error("the session was not created again")
			}
		})
	}
}
