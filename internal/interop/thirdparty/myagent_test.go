//go:build interop

package thirdparty

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"agentctl/protocol"
)

// MY-1 to MY-26, MY-33 to MY-36: every exchange of the document, by a client of theirs.
func TestAClientOfMyAgentsUsesAServerOfOurs(t *testing.T) { plays(t, "myagent", "myagent_client.py") }

// Every verb of ours, and everything that such a server can say.
func TestOurClientUsesAServerOfMyAgents(t *testing.T) {
	p := start(t, "myagent_server.py", "hush")
	s := sit(t, p.over("myagent"), "work")

	s.send("plain one")
	if got := told(s.over(1)); got != "(Thinking about step 1)你好, world: plain one | completed" {
		t.Error(got)
	}

	s.send("tool two")
	a := s.asked()
	if a.Kind != protocol.ApproveTool || a.Name != "get_weather" || a.Why != "Get the weather" || string(a.Input) != `{"city":"\u5df4\u9ece","days":2,"exact":1e+16}` {
		t.Errorf("asked %+v", a)
	}
	if o := s.decides(a, protocol.ApproveData{Decision: protocol.AllowOnce}); o != protocol.Allowed {
		t.Errorf("decided %s", o)
	}
	if got := told(s.over(2)); got != "[get_weather completed sunny ]<allowed>It is sunny. | completed" {
		t.Error(got)
	}
	s.send("tool three")
	s.decides(s.asked(), protocol.ApproveData{Decision: protocol.Deny, Reason: "不行"})
	if got := told(s.over(3)); got != "[get_weather failed  denied: 不行]<denied>As you wish. | completed" {
		t.Error(got)
	}
	s.send("tool four")
	s.decides(s.asked(), protocol.ApproveData{Decision: protocol.DenyStop})
	if got := s.over(4); got.End.Reason != protocol.ReasonInterrupted && got.End.Reason != protocol.ReasonCompleted {
		t.Error(told(got))
	}

	s.send("plan five")
	a = s.asked()
	if a.Kind != protocol.ApprovePlan || len(a.Tasks) != 3 || a.Tasks[0].Title != "生成PPT" || a.Tasks[0].ID != "1" || a.Why != "three tasks" {
		t.Errorf("asked %+v", a)
	}
	s.decides(a, protocol.ApproveData{Decision: protocol.AllowOnce, Input: &protocol.ApprovalInput{Tasks: a.Tasks[1:]}})
	contains(t, told(s.over(5)), "(about 优化样式)", "(about 导出文件)", "All is solved. | completed")
	if pl := s.state.Plan; len(pl.Tasks) != 2 || pl.Tasks[0].Status != protocol.StatusCompleted {
		t.Errorf("the plan is %s", protocol.MustEncode(s.state.Plan))
	}
	s.send("plan six")
	s.decides(s.asked(), protocol.ApproveData{Decision: protocol.Deny, Reason: "too long"})
	s.over(6)
	if s.state.Plan.Status != protocol.StatusCancelled {
		t.Errorf("the plan is %s", protocol.MustEncode(s.state.Plan))
	}

	do[protocol.SendResult](s, protocol.DoPlanRun, protocol.PlanRunData{Tasks: []protocol.Task{{ID: "7", Title: "七"}, {ID: "x", Title: "ex"}}, Question: "which?"})
	s.over(7)
	if pl := s.state.Plan; len(pl.Tasks) != 2 || pl.Tasks[0].ID != "7" || pl.Tasks[1].Status != protocol.StatusCompleted {
		t.Errorf("the plan is %s", protocol.MustEncode(s.state.Plan))
	}

	s.send("slowplan eight")
	task := func(status string) func() bool {
		return func() bool {
			return s.state.Plan != nil && len(s.state.Plan.Tasks) == 2 && s.state.Plan.Tasks[0].Status == status
		}
	}
	s.until("solving", task(protocol.StatusRunning))
	do[protocol.Empty](s, protocol.DoTaskRestart, protocol.TaskIDData{Task: "a"})
	contains(t, told(s.over(8)), "Steered. | completed")
	s.send("slowplan nine")
	s.until("solving", task(protocol.StatusRunning))
	do[protocol.Empty](s, protocol.DoTaskCancel, protocol.TaskIDData{Task: "a"})
	s.until("cancelled", task(protocol.StatusCancelled))
	do[protocol.InterruptResult](s, protocol.DoInterrupt, nil)
	if got := s.over(9); got.End.Reason != protocol.ReasonInterrupted {
		t.Error(told(got))
	}

	s.send("slow ten")
	s.until("saying", func() bool { return strings.Contains(told(s.story.Current()), "so far") })
	s.send("plain eleven") // waits with us
	if len(s.state.Queue) > 1 {
		t.Errorf("the queue is %+v", s.state.Queue)
	}
	do[protocol.InterruptResult](s, protocol.DoInterrupt, nil)
	contains(t, told(s.over(11)), "你好, world: plain eleven | completed")

	s.send("faults twelve")
	got := s.over(12)
	for _, typ := range []protocol.Type{protocol.ErrorRaised, protocol.RetryScheduled, protocol.RecoveryStarted, protocol.RecoverySucceeded, protocol.RecoveryFailed} {
		if !slices.ContainsFunc(got.Items, func(it *protocol.Item) bool { return it.Type == typ }) {
			t.Errorf("no %s in %s", typ, told(got))
		}
	}
	if got.End.Reason != protocol.ReasonError || got.End.Message != "Agent failed" {
		t.Errorf("ended %+v", got.End)
	}
	s.send("late thirteen")
	if got := s.over(13); got.End.Reason != protocol.ReasonTimeout {
		t.Error(told(got))
	}

	// A state: what Python signed it takes back from us, its numbers and letters unharmed.
	state := do[protocol.ExportResult](s, protocol.DoExport, nil)
	made := do[protocol.CreateResult](&seat{t: t, client: s.client}, protocol.DoRestore, protocol.RestoreData{State: state.State, Name: "again"})
	again := sit(t, s.client, "again")
	if made.Session == s.state.Session {
		t.Error("restored into itself")
	}
	again.send("plain more")
	contains(t, told(again.over(1)), "你好, world: plain more | completed")

	for _, verb := range []protocol.Verb{protocol.DoCompact, protocol.DoSearch, protocol.DoRulesList, protocol.DoClose, protocol.DoQueueHold} {
		if _, err := try[protocol.Empty](s, verb, nil); protocol.CodeOf(err) != protocol.CodeUnsupported {
			t.Errorf("%s: %v", verb, err)
		}
	}
	s.send("bye fourteen")
	s.until("closed", func() bool { return s.state.Closed })
}

// MY-7, MY-9, MY-35: a link that breaks in mid-turn ends the session there; its exported state brings it back, with what was missed.
func TestACutCostsNothingAtAServerOfMyAgents(t *testing.T) {
	p := start(t, "myagent_server.py", "hush")
	s := sit(t, p.over("myagent"), "work")
	s.send("plain one")
	s.over(1)
	s.send("cut two")
	if got := told(s.over(2)); !strings.HasPrefix(got, "(the link will break)") || strings.Count(got, "missed this") != 1 || !strings.HasSuffix(got, "| completed") {
		t.Error(got)
	}
	s.until("attached again", func() bool { return len(s.ways) == 2 })
	if s.ways[1] != protocol.ModeResume+" "+protocol.ResumeRestored {
		t.Errorf("attached by %v", s.ways)
	}
	s.send("plain three")
	contains(t, told(s.over(3)), "你好, world: plain three | completed")
}

// A server that was restarted knows no session. One with the same secret takes the exported state; to another it means nothing, and the
// session is begun anew, which our client is told.
func TestARestartedServerOfMyAgents(t *testing.T) {
	for _, secret := range []string{"hush", "other"} {
		t.Run(secret, func(t *testing.T) {
			p := start(t, "myagent_server.py", "hush")
			s := sit(t, p.over("myagent"), "work")
			s.send("plain one")
			s.over(1)
			s.send("slow two")
			s.until("saying", func() bool { return strings.Contains(told(s.story.Current()), "so far") })
			p.kill()
			p.args[1] = secret
			p.start()
			s.until("attached again", func() bool { return len(s.ways) == 2 })
			if secret == "hush" {
				if s.ways[1] != protocol.ModeResume+" "+protocol.ResumeRestored {
					t.Errorf("attached by %v", s.ways)
				}
				if end := s.over(2).End; end.Reason != protocol.ReasonError || end.Code != protocol.CodeServerRestart {
					t.Errorf("ended %+v", end)
				}
				s.send("plain three")
				contains(t, told(s.over(3)), "你好, world: plain three | completed")
				return
			}
			if !strings.HasPrefix(s.ways[1], protocol.ModeReset) {
				t.Errorf("attached by %v", s.ways)
			}
			s.send("plain three")
			s.until("answered", func() bool {
				n := len(s.story.Turns)
				return n > 0 && s.story.Turns[n-1].End != nil && s.state.Turn == nil
			})
			contains(t, told(s.story.Turns[len(s.story.Turns)-1]), "你好, world: plain three | completed")
			if past := string(protocol.MustEncode(do[protocol.HistoryResult](s, protocol.DoHistory, nil))); !strings.Contains(past, "plain one") || !strings.Contains(past, "server_restart") {
				t.Errorf("the history is %s", past)
			}
			if c := do[protocol.ListResult](s, protocol.DoList, nil); len(c.Sessions) == 0 {
				t.Error("no session is known")
			}
			if log := fmt.Sprint(p.said()); strings.Count(log, "user.create_session") < 2 {
				t.Error("it was not begun anew")
			}
		})
	}
}
