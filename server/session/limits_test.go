package session

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/session/item"
)

// The message that a full queue refuses changes nothing, and there is room again after a turn. The
// package queue tests each limit; these are the default ones.
func TestAQueueIsBounded(t *testing.T) {
	const fit = 16
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		r.send(id, "go")
		send := newCommand(protocol.DoSend, id, protocol.SendData{Text: strings.Repeat("x", 240<<10)})
		for range fit {
			must[protocol.SendResult](r, r.do(anna, send))
		}
		before := r.state(id)
		if e := refused(r, r.do(anna, send), protocol.CodeQueueFull); e.Limit != 4<<20 {
			t.Errorf("limit %d", e.Limit)
		}
		if after := r.state(id); len(after.Queue) != fit || after.Seq != before.Seq {
			t.Errorf("%d queued, seq %d: want %d, %d", len(after.Queue), after.Seq, fit, before.Seq)
		}
		r.agents.run().finish(agent.End{}, nil)
		r.waitIdle()
		must[protocol.SendResult](r, r.do(anna, send))
	})
}

// A reason that a full queue cannot take is shown, because the decision stands.
func TestAReasonThatDoesNotFitTheQueueIsANotice(t *testing.T) {
	bubble(t, Config{Limits: Limits{Queue: 1}}, func(t *testing.T, r *testHub) {
		id := startAsking(r, protocol.Approval{Request: "q", Kind: protocol.ApproveTool, Name: "rm"})
		r.send(id, "next")
		must[protocol.ApproveResult](r, r.do(anna, approve(id, protocol.ApproveData{
			Request: "q", Decision: protocol.Deny, Reason: "not this one",
		})))
		var notice protocol.NoticeData
		for _, e := range r.events(id, false) {
			if e.Type == protocol.Notice {
				if err := e.Decode(&notice); err != nil {
					t.Fatal(err)
				}
			}
		}
		if notice.Code != protocol.CodeQueueFull || !strings.Contains(notice.Message, "not this one") {
			t.Errorf("notice %+v", notice)
		}
		if v, _ := r.agents.run().verdict("q"); v.Outcome != protocol.Denied {
			t.Errorf("the agent received %+v", v)
		}
	})
}

func TestPendingRequestsAreBounded(t *testing.T) {
	for name, limits := range map[string]Limits{"count": {Requests: 2}, "bytes": {Bytes: protocol.MaxEvent + 40<<10}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, Config{Limits: limits}, func(t *testing.T, r *testHub) {
				id := r.create()
				r.send(id, "go")
				run := r.agents.run()
				for i := range 4 {
					run.ask(protocol.Approval{
						Request: fmt.Sprint(i), Kind: protocol.ApproveTool, Name: "rm",
						Input: protocol.MustEncode(strings.Repeat("x", 15<<10)),
					})
					synctest.Wait()
				}
				if n := len(r.state(id).Approvals); n != 2 {
					t.Errorf("%d pending requests", n)
				}
				if v, ok := run.verdict("3"); !ok || v.Outcome != protocol.Denied ||
					!strings.Contains(v.Reason, "too many requests") {
					t.Errorf("the agent received %+v, %t", v, ok)
				}
			})
		})
	}
}

func TestRulesAreBounded(t *testing.T) {
	bubble(t, Config{Limits: Limits{Rules: 1}}, func(t *testing.T, r *testHub) {
		id := startAsking(r,
			protocol.Approval{Request: "a", Kind: protocol.ApproveTool, Name: "one", Input: []byte(`{"a":1}`)},
			protocol.Approval{Request: "b", Kind: protocol.ApproveTool, Name: "two", Input: []byte(`{"a":1}`)},
		)
		always := func(request string) *testCall {
			return r.do(anna, approve(id, protocol.ApproveData{Request: request, Decision: protocol.AllowAlways}))
		}
		must[protocol.ApproveResult](r, always("a"))
		refused(r, always("b"), protocol.CodeTooMany)
		if st := r.state(id); len(st.Rules) != 1 || len(st.Approvals) != 1 {
			t.Errorf("%d rules, %d pending requests", len(st.Rules), len(st.Approvals))
		}
	})
}

func TestSessionsAreBounded(t *testing.T) {
	bubble(t, Config{Limits: Limits{Sessions: 2}}, func(t *testing.T, r *testHub) {
		one := r.create()
		r.create()
		create := newCommand(protocol.DoCreate, "", protocol.CreateData{Name: "three"})
		if e := refused(r, r.do(anna, create), protocol.CodeSessionLimit); e.Limit != 2 {
			t.Errorf("limit %d", e.Limit)
		}
		must[protocol.Empty](r, r.do(anna, newCommand(protocol.DoClose, one, protocol.CloseData{Delete: true})))
		must[protocol.CreateResult](r, r.do(anna, create))
	})
}

func TestProcessesOfAgentsAreBounded(t *testing.T) {
	bubble(t, Config{Limits: Limits{Agents: 1}}, func(t *testing.T, r *testHub) {
		s := &Session{id: r.create(), hub: r.hub}
		h := &host{s: s}
		if err := h.RecordProcessGroup(agent.ProcessGroup{PID: 1}); err != nil {
			t.Fatal(err)
		}
		if err := h.RecordProcessGroup(agent.ProcessGroup{PID: 2}); protocol.CodeOf(err) != protocol.CodeAgentLimit {
			t.Errorf("a second process: %v", err)
		}
		for _, g := range []agent.ProcessGroup{{PID: 1, Ended: true}, {PID: 2}, {PID: 2, Ended: true}} {
			if err := h.RecordProcessGroup(g); err != nil {
				t.Error(err)
			}
		}
	})
}

// Open parts and tools of an agent are in every snapshot.
func TestOpenPartsAndToolsAreBounded(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		r.send(id, "go")
		run := r.agents.run()
		for i := range 2 * item.MaxOpen {
			run.emit(
				agent.Event{Type: protocol.TextStart, Data: protocol.PartStartData{Part: fmt.Sprint("p", i)}},
				agent.Event{Type: protocol.ToolStarted, Data: protocol.ToolStartedData{
					Tool: fmt.Sprint("t", i), Title: strings.Repeat("x", 10<<10),
				}},
			)
		}
		r.waitIdle()
		st := r.state(id)
		if len(st.Turn.Parts) != item.MaxOpen || len(st.Turn.Tools) != item.MaxOpen {
			t.Errorf("%d parts and %d tools are open", len(st.Turn.Parts), len(st.Turn.Tools))
		}
		if n := len(encodeState(st)); n > 1<<20 {
			t.Errorf("the state has %d bytes", n)
		}
	})
}

// sizedStore is a store of one byte per session.
type sizedStore struct{ Store }

func (s sizedStore) Size(ctx context.Context) (int64, error) {
	n := int64(0)
	for _, err := range s.Sessions(ctx) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

// While the store is too large, messages and sessions are refused. Running turns continue, and
// removing a session makes room.
func TestDiskUseIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := newMemStore()
		agents := &fakeAgents{}
		hub, err := NewHub(t.Context(), Config{
			Store: sizedStore{mem}, Agents: agents, DefaultAgent: "fake", Limits: Limits{Disk: 1}, // one session
		})
		if err != nil {
			t.Fatal(err)
		}
		r := &testHub{t: t, store: mem, agents: agents, hub: hub}
		defer r.close()
		one, two := r.create(), r.create()
		r.send(one, "goes on")
		time.Sleep(time.Minute)
		send := newCommand(protocol.DoSend, one, protocol.SendData{Text: "x"})
		if e := refused(r, r.do(anna, send), protocol.CodeDiskLimit); e.Limit != 1 {
			t.Errorf("limit %d", e.Limit)
		}
		refused(r, r.do(anna, newCommand(protocol.DoCreate, "", protocol.CreateData{})), protocol.CodeDiskLimit)
		r.agents.run().finish(agent.End{}, nil)
		r.waitIdle()
		if last := r.state(one).Last; last == nil || last.Reason != protocol.ReasonCompleted {
			t.Errorf("the turn ended with %+v", last)
		}
		must[protocol.Empty](r, r.do(anna, newCommand(protocol.DoClose, two, protocol.CloseData{Delete: true})))
		time.Sleep(time.Minute)
		must[protocol.SendResult](r, r.do(anna, send))
	})
}
