//go:build interop

package sandcastle

import (
	"context"
	"encoding/json"
	"net"
	"strings"
	"sync"
	"testing"

	"agentctl/protocol"
	"agentctl/wsclient"
)

// A road is a way to a server that can be cut.
type road struct {
	mu    sync.Mutex
	addr  string
	conns []net.Conn
}

// dial connects, through what can be cut.
func (r *road) dial(ctx context.Context) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, "tcp", r.addr)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conns = append(r.conns, c)
	return c, nil
}

// cut breaks what was dialed, without a word.
func (r *road) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.conns {
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		_ = c.Close()
	}
	r.conns = nil
}

// SC-25, SC-26, SC-42: the link breaks in mid-turn, again and again: our client is back by itself, with all that was said.
func TestACutLinkCostsOurClientNothing(t *testing.T) {
	w := newWorld(t)
	r := &road{addr: w.addr}
	s := sit(t, over(t, w.addr, wsclient.Options{Dial: r.dial}), "abc")
	s.send("hello")
	s.until("over", s.ended("hello"))
	s.send("gated")
	s.until("said", func() bool { return s.said("gated") == "one two three " })
	for n := 1; n <= 3; n++ {
		r.cut()
		s.until("back", func() bool { return s.resets == n && s.said("gated") == "one two three " })
		if s.said("hello") != "Hello yourself." || s.turn("gated").End != nil || s.state.Turn == nil {
			t.Errorf("after the cut:\n%s", protocol.MustEncode(s.story))
		}
	}
	r.cut()
	w.open() // while nobody is there
	s.until("over", s.ended("gated"))
	if s.said("gated") != "one two three four five six" || s.state.Turn != nil || s.said("hello") != "Hello yourself." {
		t.Errorf("in the end:\n%s", protocol.MustEncode(s.story))
	}
}

// SC-25, SC-26, SC-42: their client's link breaks in mid-turn: its library dials again, and a new stream has the turn from its start,
// in either set of names; nobody else notices.
func TestACutLinkCostsTheirClientNothing(t *testing.T) {
	w := newWorld(t)
	n := theirs(t, w)
	n.link("b")
	one, other := n.opens("a", "one", "abc"), n.opens("b", "other", "abc")
	n.sends("a", "abc", "gated", "temp_1")
	n.until("said", one.says("three "))
	for i, tag := range []string{"SubscribeSession", "chat.subscribe"} {
		n.does("cut", args{"link": "a"})
		n.until("broken off", func() bool { return one.end == "RpcClientError" })
		n.does("back", args{"link": "a"})
		one = n.opensAs("a", "again"+tag, "abc", tag)
		if one.text() != "one two three " || one.first().Snapshot.Status != "streaming" {
			t.Errorf("after cut %d: %q, %+v", i, one.text(), one.first().Snapshot)
		}
	}
	w.open()
	for _, s := range []*stream{one, other} {
		n.until("stopped", s.has("SessionStopped", 1))
		if s.text() != "one two three four five six" || s.end != "" {
			t.Errorf("%q, %s", s.text(), s.end)
		}
	}
}

// SC-26, SC-37, SC-39, SC-42: the server is killed in mid-turn and starts again. Their client has to ask for its streams anew, ours
// is there by itself; both see what was accepted and said, and go on.
func TestAKilledServerLosesNothingThatWasSaid(t *testing.T) {
	w := newWorld(t)
	n := theirs(t, w)
	one := n.opens("a", "one", "abc")
	s := sit(t, over(t, w.addr, wsclient.Options{}), "abc")
	s.send("hello")
	s.until("over", s.ended("hello"))
	s.send("gated")
	n.sends("a", "abc", "hello", "temp_2")
	n.until("said", one.says("three "))
	s.until("said", func() bool { return s.said("gated") == "one two three " && len(s.state.Queue) == 1 })

	w.kill()
	n.until("broken off", func() bool { return one.end != "" })
	if one.end != "RpcClientError" {
		t.Errorf("their stream ended with %s", one.end)
	}
	w.start()
	s.until("back", func() bool { return s.resets == 1 })
	s.until("told", func() bool { return len(s.story.Turns) == 2 })
	if s.said("gated") != "one two three " || s.state.Turn != nil || len(s.state.Queue) != 1 || s.state.Queue[0].Text != "hello" {
		t.Errorf("after the restart:\n%s\n%s", protocol.MustEncode(s.state), protocol.MustEncode(s.story))
	}
	n.does("back", args{"link": "a"})
	two := n.opens("a", "two", "abc")
	if f := two.first(); f.Snapshot.Status != "idle" || len(f.Buffer) != 0 || len(f.Snapshot.Queue) != 1 || f.Snapshot.HistoryCursor.LastMessageID == nil {
		t.Errorf("after the restart they see %+v", f)
	}
	var list []struct {
		ID    string
		Parts []struct{ Text string }
	}
	must(t, json.Unmarshal([]byte(n.call("a", "chat.getHistory", args{"sessionId": "abc"})), &list))
	if len(list) != 4 || !strings.HasPrefix(list[3].Parts[0].Text, "one two three") || list[3].ID != *two.first().Snapshot.HistoryCursor.LastMessageID {
		t.Errorf("history is %+v", list)
	}

	// The queue is held over a restart, which they cannot say; whoever can releases it.
	do[protocol.QueueReleaseResult](t, w.native(), protocol.DoQueueRelease, w.session, nil)
	n.until("stopped", two.has("SessionStopped", 1))
	s.until("over", func() bool { return len(s.story.Turns) == 3 && s.story.Turns[2].End != nil })
	n.sends("a", "abc", "hang", "temp_3")
	s.until("working", func() bool { return s.said("hang") == "working" })
	if r := s.interrupt(); !r.Interrupted {
		t.Errorf("interrupt: %+v", r)
	}
	n.until("stopped", two.has("SessionStopped", 2))
	if two.text() != "Hello yourself.working" {
		t.Errorf("they heard %q", two.text())
	}
}

// SC-36, SC-39: a message that our client sends while nobody is there is sent when somebody is, once.
func TestWhatIsSentWhileTheServerIsAwayArrivesOnce(t *testing.T) {
	w := newWorld(t)
	s := sit(t, over(t, w.addr, wsclient.Options{}), "abc")
	s.send("hello")
	s.until("over", s.ended("hello"))
	w.kill()
	sent := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		_, err := wsclient.Call[protocol.SendResult](ctx, s.client, protocol.DoSend, "abc", protocol.SendData{Text: "much"})
		sent <- err
	}()
	w.start()
	must(t, <-sent)
	s.until("over", s.ended("much"))
	native := sit(t, w.native(), w.session)
	native.until("caught up", native.ended("much"))
	if got, want := s.said("much"), native.said("much"); got != want || len(native.story.Turns) != 2 {
		t.Errorf("%d bytes came, want %d; %d turns", len(got), len(want), len(native.story.Turns))
	}
}
