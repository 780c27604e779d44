package session

import (
	"strings"
	"testing"
	"testing/synctest"

	"agentctl/protocol"
)

// agentOf returns the agent of a session as a caller.
func (r *testHub) agentOf(session string) Caller {
	sum, _ := r.hub.list.Summary(session)
	return Caller{By: protocol.AgentActor(session, sum.Name), Conn: "c " + session, Agent: session}
}

// createBy creates a session as a caller.
func (r *testHub) createBy(who Caller, d protocol.CreateData) string {
	r.t.Helper()
	return must[protocol.CreateResult](r, r.do(who, newCommand(protocol.DoCreate, "", d))).Session
}

func TestAnAgentSteersTheSessionsThatDescendFromItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestHub(t, Config{})
		defer func() { r.close() }()
		boss, other := r.create(), r.create()
		child := r.createBy(r.agentOf(boss), protocol.CreateData{Name: "child"})
		grandchild := r.createBy(r.agentOf(child), protocol.CreateData{})
		stranger := r.createBy(r.agentOf(other), protocol.CreateData{})
		r.restart()
		for session, parent := range map[string]string{boss: "", child: boss, grandchild: child, stranger: other} {
			if got := r.state(session).Parent; got != parent {
				t.Errorf("%s has the parent %q, want %q", session, got, parent)
			}
		}
		for _, sum := range r.hub.Sessions().List(true) {
			if sum.Session == grandchild && sum.Parent != child {
				t.Errorf("the list has the parent %q", sum.Parent)
			}
		}
		agent := r.agentOf(boss)
		for session, own := range map[string]bool{
			boss: false, other: false, stranger: false, child: true, grandchild: true, "child": true,
		} {
			k := r.do(agent, newCommand(protocol.DoSend, session, protocol.SendData{Text: "go on"}))
			if own {
				must[protocol.SendResult](r, k)
				continue
			}
			if e := refused(r, k, protocol.CodeForbidden); !strings.Contains(e.Message, "sessions that it created") {
				t.Error(e.Message)
			}
			if s := r.state(session); s.Turn != nil || len(s.Queue) > 0 {
				t.Errorf("%s was sent a message", session)
			}
		}
		refused(r, r.do(r.agentOf(child), newCommand(protocol.DoInterrupt, boss, protocol.InterruptData{})),
			protocol.CodeForbidden)
		refused(r, r.do(agent, newCommand(protocol.DoSend, "none", protocol.SendData{Text: "x"})),
			protocol.CodeNoSession)
	})
}

func TestAnAgentDecidesNothingByASessionThatItCreates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestHub(t, Config{})
		defer r.close()
		boss := r.createBy(anna, protocol.CreateData{Agent: "acp:mine"})
		state := func(session string) protocol.SignedState {
			k := r.do(anna, newCommand(protocol.DoExport, session, protocol.Empty{}))
			return must[protocol.ExportResult](r, k).State
		}
		foreign := r.createBy(anna, protocol.CreateData{Agent: "acp:command"})
		agent := r.agentOf(boss)
		child := r.createBy(agent, protocol.CreateData{Agent: "acp:mine"})
		r.createBy(agent, protocol.CreateData{Agent: "fake"})
		must[protocol.CreateResult](r, r.do(agent, newCommand(protocol.DoRestore, "",
			protocol.RestoreData{State: state(boss)})))
		for _, c := range []protocol.Command{
			newCommand(protocol.DoCreate, "", protocol.CreateData{Agent: "acp:rm -rf build"}),
			newCommand(protocol.DoCreate, "", protocol.CreateData{Agent: "script:x"}),
			newCommand(protocol.DoCreate, "", protocol.CreateData{Settings: map[string]string{"mode": "full"}}),
			newCommand(protocol.DoRestore, "", protocol.RestoreData{State: state(foreign)}),
			newCommand(protocol.DoConfigure, child, protocol.ConfigureData{Setting: "mode", Value: "full"}),
			newCommand(protocol.DoApprove, child, protocol.ApproveData{Decision: protocol.AllowOnce}),
			newCommand(protocol.DoRulesRevoke, child, protocol.RulesRevokeData{Rule: "r"}),
			newCommand(protocol.DoExport, foreign, protocol.Empty{}),
		} {
			refused(r, r.do(agent, c), protocol.CodeForbidden)
		}
	})
}

func TestAnAgentPassesOnlyKeysToASessionThatItCreates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestHub(t, Config{})
		defer r.close()
		boss := r.createBy(anna, protocol.CreateData{Env: map[string]string{"PATH": "/opt/bin"}})
		agent := r.agentOf(boss)
		r.createBy(agent, protocol.CreateData{Env: map[string]string{"FAKE_KEY": "k"}})
		if got := r.agents.opened[len(r.agents.opened)-1].spec.Env["FAKE_KEY"]; got != "k" {
			t.Errorf("the key is %q", got)
		}
		for _, name := range []string{
			"BASH_ENV", "NODE_OPTIONS", "LD_PRELOAD", "PATH", "CODEX_HOME", "ANTHROPIC_BASE_URL", "AGENTCTL_SESSION", "fake_key",
		} {
			for _, value := range []string{"x", ""} {
				d := protocol.CreateData{Env: map[string]string{"FAKE_KEY": "k", name: value}}
				for _, c := range []protocol.Command{
					newCommand(protocol.DoCreate, "", d), newCommand(protocol.DoImport, "", protocol.ImportData{CreateData: d}),
				} {
					if e := refused(r, r.do(agent, c), protocol.CodeForbidden); !strings.Contains(e.Message, `"`+name+`"`) {
						t.Errorf("%s: %s", c.Command, e.Message)
					}
				}
			}
		}
	})
}

func TestARequestNamesTheAgentThatAskedForItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestHub(t, Config{})
		defer r.close()
		boss := r.createBy(anna, protocol.CreateData{Name: "boss"})
		child := r.createBy(r.agentOf(boss), protocol.CreateData{})
		for _, c := range []struct {
			who  Caller
			want *protocol.Actor
		}{
			{anna, nil},
			{r.agentOf(boss), &protocol.Actor{Name: "agent of session boss", Subject: "agent:" + boss}},
		} {
			must[protocol.SendResult](r, r.do(c.who, newCommand(protocol.DoSend, child, protocol.SendData{Text: "x"})))
			forged := protocol.Approval{Kind: protocol.ApproveCommand, Title: "ls", Command: "ls"}
			forged.AskedBy = &protocol.Actor{Name: "a user"}
			r.agents.run().ask(forged)
			r.waitIdle()
			got := r.state(child).Approvals[0].AskedBy
			if (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
				t.Errorf("asked by %+v, want %+v", got, c.want)
			}
			r.do(anna, newCommand(protocol.DoInterrupt, child, protocol.InterruptData{}))
		}
	})
}
