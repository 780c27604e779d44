package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"agentctl/protocol"
	"agentctl/wsclient"
)

// readHistory reads a session's history backwards, limit turns at a time, and returns a summary of
// each turn.
func readHistory(t *testing.T, c *wsclient.Client, id string, limit int) (messages []string) {
	t.Helper()
	d := protocol.HistoryData{Limit: limit}
	for {
		r := do[protocol.HistoryResult](t, c, protocol.DoHistory, id, d)
		transcript, first := &protocol.Transcript{}, uint64(0)
		for _, line := range r.Events {
			var e protocol.Event
			if err := json.Unmarshal(line, &e); err != nil {
				t.Fatal(err)
			}
			if first == 0 {
				first = e.First()
			}
			if d.Before > 0 && e.Seq >= d.Before {
				t.Fatalf("event %d is not before %d", e.Seq, d.Before)
			}
			if _, err := transcript.Apply(&e); err != nil {
				t.Fatal(err)
			}
		}
		if len(transcript.Turns) > limit {
			t.Fatalf("%d turns, want at most %d", len(transcript.Turns), limit)
		}
		var page []string
		for _, turn := range transcript.Turns {
			page = append(page, turn.Message.Text+": "+summarizeTurn(turn))
		}
		messages = append(page, messages...)
		if !r.More || len(r.Events) == 0 {
			return messages
		}
		d.Before = first
	}
}

// A late joiner reads each finished turn once from the history, in pages, also after a reconnect
// and after a server restart, in the dialects that have a history.
func TestALateJoinerReadsTheHistory(t *testing.T) {
	for _, name := range []string{native, "myagent", "sandcastle"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newTestServer(t, `{"on":"*"}`, `{"say":"You said: {message}"}`)
				ann := w.client("ann")
				id := w.create(ann)
				reference := follow(t, native, ann, id)
				var want []string
				turn := func(c *wsclient.Client) {
					t.Helper()
					text := fmt.Sprintf("message %d", len(want))
					w.send(c, id, text)
					reference.waitFor(protocol.TurnEnded)
					synctest.Wait()
					want = append(want, text+": You said: "+text+" |  | completed")
				}
				for range 3 {
					turn(ann)
				}
				proxy := newCutProxy(w)
				c := w.dialectClient(name, id, func(o *wsclient.Options) { o.Dial = proxy.Dial })
				s := follow(t, name, c, id)
				sees := func(when string) {
					t.Helper()
					for _, limit := range []int{1, 2, 100} {
						if got := readHistory(t, c, id, limit); !slices.Equal(got, want) {
							t.Errorf("%s, %d at a time:\n%q\nwant\n%q", when, limit, got, want)
						}
					}
				}
				sees("late")
				turn(c)
				turn(ann)
				sees("after turns of its own")
				proxy.cut()
				turn(ann)
				proxy.restore()
				s.waitFor(protocol.CaughtUp)
				sees("after a reconnect")
				proxy.cut()
				turn(ann)
				w.stop()
				w.start()
				proxy.restore()
				s.waitFor(protocol.CaughtUp)
				turn(c)
				sees("after a restart")
			})
		})
	}
}
