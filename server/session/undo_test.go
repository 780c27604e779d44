package session

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// While the agent forgets a turn no other starts: a message waits in the queue until the end.
func TestNoTurnStartsDuringAnUndo(t *testing.T) {
	for _, verb := range []protocol.Verb{protocol.DoUndo, protocol.DoRetry} {
		for name, failure := range map[string]error{
			"done": nil, "failed": protocol.Errorf(protocol.CodeConflict, "nothing to forget"),
		} {
			t.Run(string(verb)+" "+name, func(t *testing.T) {
				bubble(t, Config{}, func(t *testing.T, r *testHub) {
					release := make(chan struct{})
					r.agents.capable = func(_ context.Context, what string) error {
						if strings.HasPrefix(what, "undo") {
							<-release
							return failure
						}
						return nil
					}
					id := r.create()
					r.send(id, "first")
					r.agents.run().finish(agent.End{}, nil)
					synctest.Wait()

					k := r.do(anna, newCommand(verb, id, protocol.Empty{}))
					if sent := r.send(id, "second"); sent.Status != protocol.SendQueued || r.agents.run() != nil {
						t.Errorf("the message was %s during the undo", sent.Status)
					}
					refused(r, r.do(bert, newCommand(protocol.DoUndo, id, protocol.Empty{})), protocol.CodeConflict)
					close(release)
					r.waitIdle()
					if (k.err != nil) != (failure != nil) {
						t.Errorf("answer %v", k.err)
					}
					want := "second"
					if verb == protocol.DoRetry && failure == nil {
						want = "first" // before the queue
					}
					run := r.agents.run()
					if run == nil || run.turn.Message.Text != want {
						t.Fatalf("the turn of %q did not start", want)
					}
					run.finish(agent.End{}, nil)
					synctest.Wait()
					if next := r.agents.run(); (next != nil) != (want == "first") {
						t.Errorf("then: %v", next)
					}
				})
			})
		}
	}
}
