package presence

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
)

// testClient is a Subscriber that acknowledges up to a seq set by the test.
type testClient struct {
	name     string
	acked    uint64
	notified []string
}

func (c *testClient) Notify(_ string, line []byte) { c.notified = append(c.notified, string(line)) }
func (c *testClient) ID() string                   { return c.name }
func (c *testClient) Actor() protocol.Actor        { return protocol.Actor{Name: c.name} }
func (c *testClient) Program() string              { return "test" }
func (c *testClient) Acked(string) (uint64, int64) { return c.acked, 0 }

// received returns the subjects of the events of a type that a client was sent.
func (c *testClient) received(typ protocol.Type) (clients []string) {
	for _, line := range c.notified {
		if strings.Contains(line, `"type":"`+string(typ)+`"`) {
			_, rest, _ := strings.Cut(line, `"client":"`)
			name, _, _ := strings.Cut(rest, `"`)
			clients = append(clients, name)
		}
	}
	return clients
}

// add adds n clients to a list, and calls added after each.
func add(l *List[*testClient], n int, added func(i int, c *testClient)) (all []*testClient) {
	for i := range n {
		c := &testClient{name: fmt.Sprintf("c%03d", i), acked: 1 << 40}
		l.Add(c)
		added(i, c)
		all = append(all, c)
	}
	return all
}

func TestPresenceOfManyClientsIsLinear(t *testing.T) {
	const n = 200
	l := New[*testClient]("s")
	all := add(l, n, func(i int, c *testClient) {
		clients, got := l.Clients(c.name, 0)
		want, count := min(i+1, MaxListed+1), 0
		if i+1 > want {
			count = i + 1
		}
		own := slices.ContainsFunc(clients, func(o protocol.Client) bool { return o.Client == c.name })
		if len(clients) != want || got != count || !own {
			t.Fatalf("client %d gets %d clients of %d, itself: %v", i, len(clients), got, own)
		}
	})
	total := 0
	for _, c := range all {
		total += len(c.received(protocol.ClientAttached))
	}
	if want := MaxListed * (MaxListed - 1) / 2; total != want {
		t.Errorf("%d events of %d attachments, want %d", total, n, want)
	}
	for _, c := range all[MaxListed:] {
		l.Remove(c.name, "gone", false)
	}
	if got := all[0].received(protocol.ClientDetached); len(got) != 0 {
		t.Errorf("detached clients that were not listed are announced: %q", got)
	}
}

func TestAClientTakesThePlaceOfADetachedOneOnTheList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New[*testClient]("s")
		all := add(l, MaxListed+10, func(int, *testClient) {})
		last := all[len(all)-1]
		for _, c := range all[:3] {
			l.Remove(c.name, "gone", false)
		}
		if got := last.received(protocol.ClientDetached); len(got) != 3 {
			t.Errorf("detached: %q", got)
		}
		l.Check(time.Now(), 0)
		if got := last.received(protocol.ClientAttached); len(got) != 0 {
			t.Errorf("attached immediately: %q", got)
		}
		time.Sleep(time.Until(l.Deadline()))
		l.Check(time.Now(), 0)
		want := []string{all[MaxListed].name, all[MaxListed+1].name, all[MaxListed+2].name}
		if got := last.received(protocol.ClientAttached); !slices.Equal(got, want) {
			t.Errorf("attached: %q, want %q", got, want)
		}
		l.Remove(all[MaxListed].name, "gone", false)
		if got := last.received(protocol.ClientDetached); len(got) != 4 || !l.Deadline().After(time.Now()) {
			t.Errorf("detached: %q, next %v", got, l.Deadline())
		}
	})
}

func TestAClientOfManyIsSentOnlyItsOwnLag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New[*testClient]("s")
		all := add(l, MaxListed+2, func(int, *testClient) {})
		slow := all[5]
		slow.acked = 0
		l.Grown()
		time.Sleep(time.Until(l.Deadline()))
		l.Check(time.Now(), 100)
		for _, c := range all {
			if got := c.received(protocol.ClientLag); c == slow && len(got) != 1 || c != slow && len(got) > 0 {
				t.Errorf("%s is sent the lag of %q", c.name, got)
			}
		}
		slow.acked = 100
		time.Sleep(time.Until(l.Deadline()))
		l.Check(time.Now(), 100)
		if got := slow.received(protocol.ClientLag); len(got) != 2 || !l.Deadline().IsZero() {
			t.Errorf("after it caught up: %q, next %v", got, l.Deadline())
		}
	})
}
