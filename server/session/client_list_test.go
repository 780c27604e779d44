package session

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// attachMany attaches n subscribers and returns them with their answers.
func attachMany(
	t *testing.T, r *testHub, id string, n int,
) (all []*testSubscriber, results []protocol.SubscribeResult) {
	for i := range n {
		l := &testSubscriber{name: fmt.Sprintf("c%03d", i)}
		l.acked.Store(1 << 40)
		r.hub.Attach(t.Context(), id, l, &protocol.SubscribeData{}, func(a *Attachment, err error) {
			if err != nil {
				t.Error(err)
				return
			}
			results = append(results, a.Result)
		})
		synctest.Wait()
		all = append(all, l)
	}
	return all, results
}

// received returns the subjects of the events of a type that a subscriber was sent.
func (l *testSubscriber) received(typ protocol.Type) (clients []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.notified {
		if strings.Contains(line, `"type":"`+string(typ)+`"`) {
			_, rest, _ := strings.Cut(line, `"client":"`)
			client, _, _ := strings.Cut(rest, `"`)
			clients = append(clients, client)
		}
	}
	return clients
}

func TestPresenceOfManyClientsIsLinear(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		const n = 200
		id := r.create()
		all, results := attachMany(t, r, id, n)
		total := 0
		for _, l := range all {
			total += len(l.received(protocol.ClientAttached))
		}
		if want := maxListed * (maxListed - 1) / 2; total != want {
			t.Errorf("%d events of %d attachments, want %d", total, n, want)
		}
		for i, a := range results {
			want, count := min(i+1, maxListed+1), 0
			if i+1 > want {
				count = i + 1
			}
			own := slices.ContainsFunc(a.Clients, func(c protocol.Client) bool { return c.Client == all[i].name })
			if len(a.Clients) != want || a.ClientCount != count || !own {
				t.Fatalf("client %d gets %d clients of %d, itself: %v", i, len(a.Clients), a.ClientCount, own)
			}
		}
		for _, l := range all[maxListed:] {
			r.hub.Detach(id, l.name, "gone")
		}
		synctest.Wait()
		if got := all[0].received(protocol.ClientDetached); len(got) != 0 {
			t.Errorf("detached clients that were not listed are announced: %q", got)
		}
	})
}

func TestAClientTakesThePlaceOfADetachedOneOnTheList(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		all, _ := attachMany(t, r, id, maxListed+10)
		last := all[len(all)-1]
		for _, l := range all[:3] {
			r.hub.Detach(id, l.name, "gone")
		}
		synctest.Wait()
		if got := last.received(protocol.ClientDetached); len(got) != 3 {
			t.Errorf("detached: %q", got)
		}
		if got := last.received(protocol.ClientAttached); len(got) != 0 {
			t.Errorf("attached at once: %q", got)
		}
		time.Sleep(listingPeriod)
		synctest.Wait()
		want := []string{all[maxListed].name, all[maxListed+1].name, all[maxListed+2].name}
		if got := last.received(protocol.ClientAttached); !slices.Equal(got, want) {
			t.Errorf("attached: %q, want %q", got, want)
		}
		r.hub.Detach(id, all[maxListed].name, "gone")
		synctest.Wait()
		if got := last.received(protocol.ClientDetached); len(got) != 4 {
			t.Errorf("detached: %q", got)
		}
	})
}

func TestAClientOfManyIsSentOnlyItsOwnLag(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		all, _ := attachMany(t, r, id, maxListed+2)
		slow := all[5]
		slow.acked.Store(0)
		r.send(id, "go")
		for range 100 {
			r.agents.run().emit(agent.Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "p", Text: "x"}})
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		for _, l := range all {
			if got := l.received(protocol.ClientLag); l == slow && len(got) == 0 || l != slow && len(got) > 0 {
				t.Errorf("%s is sent the lag of %q", l.name, got)
			}
		}
	})
}

func TestTheDetachOfAnEditorIsAnnounced(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		all, _ := attachMany(t, r, id, maxListed+2)
		editor := all[len(all)-1]
		r.send(id, "one")
		queued := r.send(id, "two").MessageID
		r.do(Caller{By: anna.By, Conn: editor.name}, newCommand(protocol.DoQueueHold, id, protocol.QueueHoldData{
			MessageID: queued,
		}))
		r.hub.Detach(id, editor.name, "gone")
		synctest.Wait()
		if got := all[0].received(protocol.ClientDetached); !slices.Equal(got, []string{editor.name}) {
			t.Errorf("detached: %q", got)
		}
	})
}
