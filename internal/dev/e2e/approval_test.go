package e2e

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"agentctl/internal/dev/thorough"
	"agentctl/protocol"
	"agentctl/wsclient"
)

func TestOfTwoConcurrentDecisionsOneWinsAndTheOtherGetsTheWinner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asks := thorough.Rounds(200, 1000)
		lines := []string{`{"on":"*"}`}
		for i := range asks {
			branch := fmt.Sprintf(`[{"say":"%d {by} {decision}\n","words":9}]`, i)
			lines = append(
				lines,
				fmt.Sprintf(`{"ask":"command","command":"c","request":"r%d","then":%s,"else":%s}`, i, branch, branch),
			)
		}
		w := newTestServer(t, lines...)
		users := []struct {
			name     string
			client   *wsclient.Client
			decision protocol.Decision
		}{{"ann", w.client("ann"), protocol.AllowOnce}, {"bob", w.client("bob"), protocol.Deny}}
		id := w.create(users[0].client)
		w.send(users[0].client, id, "go")

		wins, text := map[string]int{}, ""
		n := 0
		got := mustObserve(t, w.client("eve"), id, wsclient.SubscribeOptions{}, func(e *protocol.Event) bool {
			if e.Type != protocol.ApprovalRequested {
				return e.Type == protocol.TurnEnded
			}
			request := fmt.Sprint("r", n)
			errs := make([]<-chan error, len(users))
			for i, p := range users {
				errs[i] = async(func() error {
					_, err := wsclient.Call[protocol.ApproveResult](t.Context(), p.client, protocol.DoApprove, id,
						protocol.ApproveData{Request: request, Decision: p.decision})
					return err
				})
			}
			a, b := <-errs[0], <-errs[1]
			winner, loser := 0, b
			if a != nil {
				winner, loser = 1, a
			}
			if (a == nil) == (b == nil) {
				t.Fatalf("%s: ann got %v, bob got %v", request, a, b)
			}
			var e2 *protocol.Error
			if !errors.As(loser, &e2) || e2.Code != protocol.CodeConflict || e2.Winner == nil ||
				e2.Winner.By.Name != users[winner].name || e2.Winner.Decision != users[winner].decision {
				t.Fatalf("%s: %s won, the loser got %+v", request, users[winner].name, loser)
			}
			wins[users[winner].name]++
			text += fmt.Sprintf("%d %s %s\n", n, users[winner].name, users[winner].decision)
			n++
			return false
		})
		if n != asks || got.text() != text {
			t.Errorf("%d requests; the agent got\n%s\nthe winners were\n%s", n, got.text(), text)
		}
		if len(got.state.Approvals) != 0 {
			t.Errorf("pending: %+v", got.state.Approvals)
		}
		t.Logf("won: %v", wins)
	})
}
