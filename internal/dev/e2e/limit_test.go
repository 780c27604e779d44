package e2e

import (
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
	"agentctl/wsclient"
)

// limitScript ends the first message at a limit that resets in an hour, and answers the others.
var limitScript = []string{
	`{"turn":1}`, `{"end":"limited","message":"used up","resets_in":"1h"}`,
	`{"on":"*"}`, `{"say":"You said: {message}"}`,
}

// A client that watches, one that joins while the queue is held, and one that joins after the end see
// the same of a limit, of the continuation and of the turn after it.
func TestEveryClientSeesALimitAndTheContinuation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestServer(t, limitScript...)
		ann := w.client("ann")
		id := do[protocol.CreateResult](t, ann, protocol.DoCreate, "", protocol.CreateData{
			Settings: map[string]string{protocol.ContinueSetting: "2"},
		}).Session
		all := map[string]<-chan *observer{}
		follow := func(name string) {
			c := w.client(name)
			last := ""
			all[name] = async(func() *observer {
				return observe(t.Context(), c, id, wsclient.SubscribeOptions{}, func(e *protocol.Event) bool {
					var d protocol.MessageUserData
					if e.Type == protocol.MessageUser && e.Decode(&d) == nil && d.Text == "third" {
						last = e.Turn
					}
					return e.Type == protocol.TurnEnded && e.Turn == last
				})
			})
		}
		follow("watches")
		w.send(ann, id, "first")
		synctest.Wait()
		w.send(ann, id, "second")
		follow("joins while it is held")
		synctest.Wait()
		held := do[protocol.SnapshotResult](t, w.client("late"), protocol.DoSnapshot, id, protocol.Empty{}).Snapshot.State
		h := held.LimitHold()
		if h == nil || h.Until == nil || h.By.Name != "ann" || len(held.Queue) != 2 || held.Queue[0].Text != "first" {
			t.Fatalf("%s", protocol.MustEncode(held))
		}
		if list := do[protocol.ListResult](t, ann, protocol.DoList, "", protocol.ListData{}).Sessions; list[0].ResetsAt == nil ||
			list[0].Reason != protocol.ReasonLimited || !list[0].Scheduled.Equal(*h.Until) {
			t.Errorf("listed %+v", list[0])
		}
		time.Sleep(time.Until(*h.Until) + time.Second)
		synctest.Wait()
		follow("joins after it")
		synctest.Wait()
		w.send(ann, id, "third")
		var want string
		for name, c := range all {
			got := <-c
			if got.err != nil {
				t.Fatalf("%s: %v", name, got.err)
			}
			if state := string(protocol.MustEncode(got.state)); want == "" {
				want = state
			} else if state != want {
				t.Errorf("%s ends with\n%s\nnot\n%s", name, state, want)
			}
			if len(got.state.Holds) != 0 || len(got.state.Queue) != 0 {
				t.Errorf("%s: %s", name, protocol.MustEncode(got.state))
			}
		}
	})
}
