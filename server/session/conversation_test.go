package session

import (
	"strings"
	"testing"

	"agentctl/protocol"
)

func TestAConversationIsInOneOpenSession(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		load := func(name, conversation string) *testCall {
			return r.do(anna, newCommand(protocol.DoCreate, "", protocol.CreateData{Name: name, Load: conversation}))
		}
		refusedFor := func(conversation, holder string) {
			t.Helper()
			k := load("refused", conversation)
			refused(r, k, protocol.CodeConflict)
			if !strings.Contains(k.err.Error(), "session "+holder+" has this conversation") {
				t.Errorf("%v does not name %s", k.err, holder)
			}
		}
		first := must[protocol.CreateResult](r, load("first", "c1")).Session
		refusedFor("c1", "first")
		must[protocol.CreateResult](r, load("other", "c2"))
		refused(r, load("other", "c3"), protocol.CodeNameTaken)
		must[protocol.CreateResult](r, load("third", "c3")) // the refused session holds nothing

		own := r.create()
		if err := r.agents.opened[len(r.agents.opened)-1].host.Save([]byte("c4")); err != nil {
			t.Fatal(err)
		}
		r.waitIdle()
		refusedFor("c4", own)
		r.kill()
		refusedFor("c1", "first")
		refusedFor("c4", own)

		must[protocol.Empty](r, r.do(anna, newCommand(protocol.DoClose, first, protocol.CloseData{})))
		second := must[protocol.CreateResult](r, load("again", "c1")).Session
		must[protocol.Empty](r, r.do(anna, newCommand(protocol.DoClose, second, protocol.CloseData{Delete: true})))
		must[protocol.CreateResult](r, load("again", "c1"))
		r.kill()
		refusedFor("c1", "again") // the closed session does not count
	})
}

// The state of a model's session is its whole conversation: the start of the server does not decode
// it.
func TestTheStateOfAnAgentWithoutConversationsIsNotDecodedAtTheStart(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		load := func(agent string) *testCall {
			return r.do(anna, newCommand(protocol.DoCreate, "", protocol.CreateData{Agent: agent, Load: "c"}))
		}
		must[protocol.CreateResult](r, load(noConversations))
		r.kill()
		must[protocol.CreateResult](r, load("fake"))
		r.kill()
		refused(r, load("fake"), protocol.CodeConflict)
	})
}
