package session

import (
	"slices"
	"testing"

	"agentctl/protocol"
)

// hubVerbs lists the commands that Hub.do or server/history carries out.
var hubVerbs = []protocol.Verb{
	protocol.DoList, protocol.DoHistory, protocol.DoBlob, protocol.DoSearch, protocol.DoCreate, protocol.DoRestore,
	protocol.DoImport,
	protocol.DoFork,
}

func TestEveryCommandHasAHandler(t *testing.T) {
	for _, c := range protocol.Commands {
		handled, hub := handlers[c.Verb] != nil, slices.Contains(hubVerbs, c.Verb)
		switch {
		case c.Connection && (handled || hub):
			t.Errorf("%s is carried out by the connection: it must not have a handler", c.Verb)
		case !c.Connection && handled == hub:
			t.Errorf("%s: add it to handlers (command.go), or to Hub.do (hub_commands.go) or server/history "+
				"and to hubVerbs in this test", c.Verb)
		case hub && c.Session && c.Changes && c.Verb != protocol.DoFork: // which leaves its session as it is
			t.Errorf("%s changes a session: its handler must run on the session's goroutine", c.Verb)
		}
	}
}
