package session

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/server/agent"
)

func TestAgentFailuresAreLoggedWithoutTheEnvironment(t *testing.T) {
	secrets := secretsOf(&agent.Spec{Agent: "mine", Env: map[string]string{
		"KEY": "swordfish-1234", "LONGER": "swordfish-1234-longer", "MODE": "fast",
	}})
	if got := secrets.Hide("it is swordfish-1234-longer"); got != "it is [hidden]" {
		t.Errorf("a secret that begins with another: %q", got)
	}
	if got := secrets.Hide("swordfish-1234 is fast"); got != "[hidden] is fast" {
		t.Errorf("%q", got)
	}
}

func TestTheLifeOfASessionIsLoggedWithItsUserAndAgent(t *testing.T) {
	var log bytes.Buffer // of the session's goroutine, which waits when it is read
	logger := slog.New(slog.NewTextHandler(&log, nil))
	bubble(t, Config{Log: logger}, func(t *testing.T, r *testHub) {
		id := must[protocol.CreateResult](r, r.createWith(protocol.CreateData{
			Env: map[string]string{"KEY": "swordfish-1234"},
		})).Session
		r.send(id, "private text")
		r.agents.run().emit(agent.Event{Type: protocol.UsageUpdated, Data: protocol.Usage{Input: 5, Output: 2}})
		r.agents.run().finish(agent.End{
			Reason: protocol.ReasonError, Code: protocol.CodeAgentFailed, Message: "refused swordfish-1234",
		}, nil)
		r.waitIdle()
		r.do(bert, newCommand(protocol.DoClose, id, protocol.CloseData{}))
		for _, want := range []string{
			"msg=session.created session=" + id + " agent=fake actor=anna",
			`msg="turn failed" session=` + id + " agent=fake turn=",
			`actor=anna reason=error code=agent_failed err="refused [hidden]"`,
			"msg=session.closed session=" + id + " agent=fake actor=bert",
		} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("no %s in\n%s", want, log.String())
			}
		}
		if strings.Contains(log.String(), "private") || strings.Contains(log.String(), "swordfish") {
			t.Errorf("logged\n%s", log.String())
		}
		m := r.hub.Metrics()
		if m.Turns.Of("error").Value() != 1 || m.TurnErrors.Of("agent_failed").Value() != 1 ||
			m.Input.Value() != 5 || m.Output.Value() != 2 || m.Commits.Value() == 0 {
			t.Errorf("turns %v, tokens %v", m.Turns.Of("error").Value(), m.Input.Value())
		}
	})
}

func TestTheAgeOfAQueueSurvivesARestart(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		r.send(id, "one")
		r.send(id, "two")
		before := r.hub.list.OldestQueued()
		if before.IsZero() {
			t.Fatal("no age")
		}
		r.restart()
		if after := r.hub.list.OldestQueued(); !after.Equal(before) {
			t.Errorf("%v, before %v", after, before)
		}
		r.do(anna, newCommand(protocol.DoClose, id, protocol.CloseData{}))
		if after := r.hub.list.OldestQueued(); !after.IsZero() {
			t.Errorf("%v after the session was closed", after)
		}
	})
}
