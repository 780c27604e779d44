package e2e

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
	"agentctl/wsclient"
)

// A rich turn has every kind of event.
var rich = []string{
	`{"window":1000}`,
	`{"pace":{"words":1,"delay":"20ms"}}`,
	`{"on":"*"}`,
	`{"think":"one two three four five six seven eight"}`,
	`{"burst":200,"size":20,"parts":3,"delay":"1ms"}`,
	`{"tool":"shell","kind":"execute","title":"{message}","input":{"a":1},"stream":true,"output":"o1 o2 o3 o4","exit":0}`,
	`{"ask":"command","command":"ls","then":[{"say":"allowed by {by}"}]}`,
	`{"plan":"Q","parallel":2,"tasks":[{"id":"a","title":"A","steps":[{"say":"in a, word by word"}]},{"id":"b","title":"B","steps":[{"think":"in b, word by word"},{"tool":"t","output":"x y z"}]},{"id":"c","title":"C","after":["a"],"steps":[{"fail":"no"}]}]}`,
	`{"say":"the end of {n}"}`,
}

func TestFollowersAScreenAndALateJoinerEndWithTheSameStateAndSequence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestServer(t, rich...)
		ann := w.client("ann")
		id := w.create(ann)
		w.send(ann, id, "first")
		approve := func() {
			mustObserve(
				t, w.client("approver"), id, wsclient.SubscribeOptions{}, eventOfType(protocol.ApprovalRequested),
			)
			do[protocol.ApproveResult](
				t, ann, protocol.DoApprove, id, protocol.ApproveData{Decision: protocol.AllowOnce},
			)
		}
		approve()
		mustObserve(t, w.client("first"), id, wsclient.SubscribeOptions{Since: logStart()}, turnsEnded(1))

		follow := func(name string, o wsclient.SubscribeOptions, n int) <-chan *observer {
			c := w.client(name)
			return async(func() *observer { return observe(t.Context(), c, id, o, turnsEnded(n)) })
		}
		all := map[string]<-chan *observer{
			"raw follower":    follow("raw", wsclient.SubscribeOptions{Since: logStart(), Raw: true}, 2),
			"folded follower": follow("folded", wsclient.SubscribeOptions{Since: logStart()}, 2),
			"screen":          follow("screen", wsclient.SubscribeOptions{}, 1),
		}
		w.send(ann, id, "second")
		time.Sleep(170 * time.Millisecond)
		all["late joiner"] = follow("late", wsclient.SubscribeOptions{}, 1)
		time.Sleep(111 * time.Millisecond)
		all["later joiner"] = follow("later", wsclient.SubscribeOptions{}, 1)
		approve()

		var want *observer
		seen := map[string]*observer{}
		for name, c := range all {
			got := <-c
			if got.err != nil {
				t.Fatalf("%s: %v", name, got.err)
			}
			seen[name] = got
		}
		want = seen["raw follower"]
		if n := len(want.raw); uint64(n) != want.state.Seq || n < 500 {
			t.Errorf("the raw follower got %d events up to %d", n, want.state.Seq)
		}
		for name, got := range seen {
			if got.encode(t) != want.encode(t) {
				t.Errorf("%s ends with\n%s\nthe raw follower with\n%s", name, got.encode(t), want.encode(t))
			}
			if got.next != want.next {
				t.Errorf("%s ends at %d, the raw follower at %d", name, got.next, want.next)
			}
		}
		if text := want.text(); !strings.Contains(text, "allowed by ann") || !strings.Contains(text, "the end of 2") {
			t.Errorf("%q", text)
		}
		raw := strings.Join(want.raw, "\n")
		for name, got := range seen { // events that are not folded are the same bytes
			for _, line := range got.raw {
				if !strings.Contains(line, `"first_seq"`) && !strings.Contains(raw, line) {
					t.Errorf("%s got a line that the raw follower did not: %s", name, line)
				}
			}
		}
	})
}
