package e2e

import (
	"fmt"
	"testing"
	"testing/synctest"

	"agentctl/dialect"
	"agentctl/protocol"
)

// denialScript says something after a denial, or nothing.
var denialScript = []string{
	`{"on":"build"}`,
	`{"ask":"command","title":"Build","command":"make","then":[{"say":"built"}],"else":[{"say":"not built"}]}`,
	`{"on":"quiet"}`, `{"say":"I try"}`,
	`{"ask":"command","title":"Build","command":"make","then":[{"say":"built"}],"else":[{"sleep":"1ms"}]}`,
}

// A client of each dialect sees how a turn ended in which a policy or another user denied a request,
// and what was denied, as far as its protocol says so.
func TestADenialIsSeenInTheDialects(t *testing.T) {
	type seen struct {
		reason protocol.Reason
		denied int
	}
	for _, name := range append([]string{native}, dialect.Names()...) {
		for _, byUser := range []bool{false, true} {
			for prompt, want := range map[string]seen{
				"build": {protocol.ReasonCompleted, 1}, "quiet": {protocol.ReasonDenied, 1},
			} {
				t.Run(fmt.Sprint(name, " ", prompt, ", by a user ", byUser), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						w := newTestServer(t, denialScript...)
						ann := w.client("ann")
						var d protocol.CreateData
						if !byUser {
							d.Settings = map[string]string{"policy": "deny"}
						}
						id := do[protocol.CreateResult](t, ann, protocol.DoCreate, "", d).Session
						there, here := follow(t, native, ann, id), follow(t, name, w.dialectClient(name, id), id)
						synctest.Wait()
						w.send(here.client, id, prompt)
						there.waitFor(protocol.ApprovalRequested)
						if byUser {
							do[protocol.ApproveResult](t, ann, protocol.DoApprove, id, protocol.ApproveData{Decision: protocol.Deny})
						}
						here.waitFor(protocol.TurnEnded)
						if name == "agentloop" && !byUser {
							want.denied = 0 // a request that is decided immediately is not shown
						}
						got := seen{here.state.Last.Reason, len(protocol.Denials(here.transcript.Current().Items))}
						if got != want {
							t.Errorf("ended %+v, want %+v", got, want)
						}
					})
				})
			}
		}
	}
}
