package session

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/session/record"
)

func TestATurnThatIsCutOffEndsTheTasksThatRun(t *testing.T) {
	for _, c := range []struct {
		cut  func(r *testHub, id string)
		want string
	}{
		{func(r *testHub, id string) {
			r.do(anna, newCommand(protocol.DoInterrupt, id, protocol.InterruptData{}))
		}, protocol.StatusCancelled},
		{func(r *testHub, _ string) {
			r.agents.run().finish(agent.End{Reason: protocol.ReasonError, Code: protocol.CodeAgentFailed, Message: "gone"},
				nil)
		}, protocol.StatusFailed},
		{func(r *testHub, _ string) { r.agents.run().finish(agent.End{}, nil) }, protocol.StatusRunning},
	} {
		bubble(t, Config{}, func(t *testing.T, r *testHub) {
			id := r.create()
			r.send(id, "plan it")
			r.agents.run().emit(
				agent.Event{Type: protocol.PlanStarted, Data: protocol.PlanStartedData{}},
				agent.Event{
					Type: protocol.PlanUpdated,
					Data: protocol.PlanTasksData{Tasks: []protocol.Task{{ID: "a"}, {ID: "b"}, {ID: "c"}}},
				},
				agent.Event{Type: protocol.TaskStarted, Task: "a", Data: protocol.TaskData{Task: "a"}},
				agent.Event{Type: protocol.TaskStarted, Task: "b", Data: protocol.TaskData{Task: "b"}},
				agent.Event{Type: protocol.TaskCompleted, Task: "a", Data: protocol.TaskData{Task: "a"}},
			)
			r.waitIdle()
			c.cut(r, id)
			r.waitIdle()
			tasks := r.state(id).Plan.Tasks
			if tasks[0].Status != protocol.StatusCompleted || tasks[1].Status != c.want ||
				tasks[2].Status == protocol.StatusRunning {
				t.Errorf("%s: %+v", c.want, tasks)
			}
		})
	}
}

func TestWhatIsOpenEndsWithTheTurnAsItEnds(t *testing.T) {
	for reason, status := range map[protocol.Reason]protocol.ToolStatus{
		protocol.ReasonInterrupted: protocol.ToolCancelled, protocol.ReasonDenied: protocol.ToolCancelled,
		protocol.ReasonError: protocol.ToolUnknown, protocol.ReasonCompleted: protocol.ToolUnknown,
	} {
		bubble(t, Config{}, func(t *testing.T, r *testHub) {
			id := r.create()
			sent := r.send(id, "go")
			run := r.agents.run()
			time.Sleep(1500 * time.Millisecond)
			run.emit(
				agent.Event{Type: protocol.TextDelta, Task: "k", Data: protocol.PartDeltaData{Part: "p", Text: "x"}},
				agent.Event{Type: protocol.TextDelta, Task: "k", Data: protocol.PartDeltaData{Part: "p", Text: "y"}},
				agent.Event{Type: protocol.ReasoningDelta, Data: protocol.PartDeltaData{Part: "r", Text: "x"}},
				agent.Event{
					Type:   protocol.ToolOutput,
					Task:   "k",
					Parent: "up",
					Data:   protocol.ToolOutputData{Tool: "t", Text: "x"},
				},
			)
			switch reason {
			case protocol.ReasonInterrupted:
				r.do(anna, newCommand(protocol.DoInterrupt, id, protocol.InterruptData{}))
			case protocol.ReasonDenied:
				run.ask(protocol.Approval{Request: "q", Kind: protocol.ApproveQuestion})
				r.waitIdle()
				r.do(bert, approve(id, protocol.ApproveData{Decision: protocol.DenyStop}))
			default:
				run.finish(agent.End{Reason: reason, Usage: &protocol.Usage{Input: 3}}, nil)
			}
			r.waitIdle()
			ends := map[protocol.Type]protocol.Event{}
			starts := map[protocol.Type]int{}
			for _, e := range r.events(id, false) {
				ends[e.Type] = e
				starts[e.Type]++
			}
			if starts[protocol.TextStart] != 1 || starts[protocol.ReasoningStart] != 1 ||
				starts[protocol.ToolStarted] != 1 {
				t.Errorf("%s: started %v", reason, starts)
			}
			var tool protocol.ToolEndedData
			e := ends[protocol.ToolEnded]
			if _ = e.Decode(&tool); tool.Tool != "t" || tool.Status != status || e.Task != "k" || e.Parent != "up" {
				t.Errorf("%s: tool %+v of %s, %s", reason, tool, e.Task, e.Parent)
			}
			if e := ends[protocol.TextEnd]; e.Task != "k" || e.Seq == 0 || ends[protocol.ReasoningEnd].Seq == 0 {
				t.Errorf("%s: text %+v", reason, e)
			}
			var end protocol.TurnEndedData
			e = ends[protocol.TurnEnded]
			if _ = e.Decode(&end); end.DurationMS != 1500 {
				t.Errorf("%s: took %d ms", reason, end.DurationMS)
			}
			if end.Reason != reason || (e.By != nil) != (status == protocol.ToolCancelled) ||
				(end.Usage != nil) != (e.By == nil) {
				t.Errorf("%s: ended %s by %v, %+v", reason, end.Reason, e.By, end.Usage)
			}
			rows, err := r.store.Turns(t.Context(), id, 0, 9)
			if err != nil || len(rows) != 1 || rows[0].Reason != string(reason) || rows[0].Turn != sent.Turn ||
				rows[0].MessageID != sent.MessageID ||
				rows[0].Last != e.Seq ||
				rows[0].First >= e.Seq ||
				!rows[0].Ended.Equal(e.Time) {
				t.Errorf("%s: rows %+v, %v", reason, rows, err)
			}
		})
	}
}

func TestWhyATurnEndedIsBounded(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		for reason, c := range map[string]struct {
			end  agent.End
			err  error
			code protocol.Code
		}{
			"reported": {
				agent.End{Reason: protocol.ReasonError, Code: protocol.CodeTimeout, Message: "late"},
				nil,
				protocol.CodeTimeout,
			},
			"broken": {agent.End{}, errors.New("pipe \xff broke"), protocol.CodeAgentFailed},
			"coded": {
				agent.End{},
				fmt.Errorf("run: %w", protocol.Errorf(protocol.CodeAgentAuth, "log in")),
				protocol.CodeAgentAuth,
			},
			"endless": {agent.End{Reason: protocol.ReasonError, Message: strings.Repeat("漢", record.LongText)}, nil, ""},
		} {
			r.send(id, "go")
			r.agents.run().finish(c.end, c.err)
			r.waitIdle()
			last := r.state(id).Last
			want := map[string]string{
				"reported": "late", "broken": "pipe \uFFFD broke", "coded": "log in",
				"endless": strings.Repeat("漢", record.LongText/3),
			}[reason]
			if last.Reason != protocol.ReasonError || last.Code != c.code || last.Message != want {
				t.Errorf("%s: %s %s %.40s (%d bytes)", reason, last.Reason, last.Code, last.Message, len(last.Message))
			}
		}
	})
}

func TestAnAgentRunsWhatIsKeptAndStillWantedAlone(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		r.failOnce()
		refused(r, r.do(anna, newCommand(protocol.DoSend, id, protocol.SendData{Text: "lost"})), protocol.CodeStorage)
		r.store.set(func() { r.store.latency = time.Second })
		send := r.start(anna, newCommand(protocol.DoSend, id, protocol.SendData{Text: "taken back"}))
		synctest.Wait() // its commit is in flight
		interrupt := r.start(anna, newCommand(protocol.DoInterrupt, id, protocol.InterruptData{}))
		r.waitIdle()
		if got := must[protocol.InterruptResult](r, interrupt); !got.Interrupted ||
			got.Turn != must[protocol.SendResult](r, send).Turn {
			t.Errorf("interrupted %+v", got)
		}
		if runs := r.agents.runs(); len(runs) != 0 {
			t.Errorf("the agent received %+v", runs)
		}
		if st := r.state(id); st.Turn != nil || st.Turns != 1 || st.Last.Reason != protocol.ReasonInterrupted {
			t.Errorf("state %s", encodeState(st))
		}
	})
}

func TestATurnIsOverForItsAgentWhenItEnds(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		r.send(id, "one")
		run := r.agents.run()
		events := r.events(id, false)
		var start protocol.TurnStartedData
		if _ = events[len(events)-1].Decode(&start); start.Agent != "fake" ||
			start.MessageID != run.turn.Message.MessageID || start.Resumed {
			t.Errorf("started %+v", start)
		}
		run.finish(agent.End{}, nil)
		r.waitIdle()
		if run.ctx.Err() == nil {
			t.Error("the context was not canceled")
		}
	})
}
