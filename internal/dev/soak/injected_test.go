//go:build linux && soak

package soak

import (
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/wsclient"
)

// A small soak finds each fault that is injected into it, and names its session, client and seq.
func TestASoakFindsInjectedFaults(t *testing.T) {
	r := newRun(t, options{
		Seed: 1, For: 4 * time.Second, Sessions: 6, Clients: 24, Rate: 10, Slow: 25, Cut: 5,
		KillMean: 2 * time.Second, ACP: 1,
	})
	// A native client of the first session loses an event, and the clients of the others get one
	// twice. A client of a dialect gets a word of a text changed.
	const at = 40
	var mu sync.Mutex
	done := map[string]string{} // fault by client
	r.injected.item = func(c *client, it wsclient.Item) []wsclient.Item {
		e := it.Event
		if e == nil || !e.Durable() || c.delivered() < at {
			return []wsclient.Item{it}
		}
		mu.Lock()
		defer mu.Unlock()
		if done[c.name] != "" {
			return []wsclient.Item{it}
		}
		switch {
		case c.native && c.session == r.sessions[0]:
			done[c.name] = "gap"
			return nil
		case c.native:
			done[c.name] = "repeat"
			return []wsclient.Item{it, it}
		case e.Type == protocol.TextDelta:
			done[c.name] = "text"
			lost := *e
			lost.Data = protocol.MustEncode(protocol.PartDeltaData{Part: partOf(t, e), Text: "?"})
			return []wsclient.Item{{Event: &lost, Raw: it.Raw}}
		}
		return []wsclient.Item{it}
	}
	const sockets = 10
	r.injected.leaving = func() {
		r.check.acknowledge(r.sessions[2], "k9.999", "started")
		for range sockets {
			conn, err := net.Dial("unix", r.socket)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = conn.Close() })
		}
	}
	r.soak()

	var found []string
	for _, v := range r.check.violations {
		found = append(found, v.String())
	}
	injected, seen := map[string]int{}, map[string]int{} // clients by fault
	for name, fault := range done {
		injected[fault]++
		session := r.clients[slices.IndexFunc(r.clients, func(c *client) bool { return c.name == name })].session
		if slices.ContainsFunc(found, func(s string) bool {
			return strings.HasPrefix(s, "session "+session+", client "+name+", seq ") && strings.Contains(s, fault)
		}) {
			seen[fault]++
		}
	}
	// A dialect that sends the turn again after a lost connection repairs the text.
	all := func(fault string) bool { return seen[fault] > 0 && seen[fault] == injected[fault] }
	if !all("gap") || !all("repeat") || seen["text"] == 0 {
		t.Errorf("injected %v, found %v", injected, seen)
	}
	lost := "session " + r.sessions[2] + ", client k9: message k9.999 was acknowledged with started and is lost"
	if !slices.Contains(found, lost) {
		t.Errorf("the lost message was not found")
	}
	leaks := strings.Join(r.leaks, "\n")
	if !strings.Contains(leaks, "10 sockets more") || !strings.Contains(leaks, "goroutines of net/http") {
		t.Errorf("found the leaks %q, want 10 sockets and their goroutines", leaks)
	}
	if t.Failed() {
		t.Logf("found\n%s", strings.Join(found, "\n"))
	}
}

func partOf(t *testing.T, e *protocol.Event) string {
	var d protocol.PartDeltaData
	if err := e.Decode(&d); err != nil {
		t.Error(err)
	}
	return d.Part
}
