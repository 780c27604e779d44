//go:build interop

package sandcastle

import (
	"context"
	"encoding/json"
	"net"
	"strings"
	"sync"
	"testing"

	"agentctl/internal/dev/interop/interoptest"
	"agentctl/protocol"
	"agentctl/wsclient"
)

// A cuttableDialer dials connections that can be cut.
type cuttableDialer struct {
	mu    sync.Mutex
	addr  string
	conns []net.Conn
}

// dial connects to addr.
func (r *cuttableDialer) dial(ctx context.Context) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, "tcp", r.addr)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conns = append(r.conns, c)
	return c, nil
}

// cut resets all connections.
func (r *cuttableDialer) cut() {
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

// SC-25, SC-26, SC-42: the connection breaks repeatedly during a turn. The client reconnects by
// itself and misses nothing.
func TestACutConnectionCostsTheClientNothing(t *testing.T) {
	server := newTestServer(t)
	r := &cuttableDialer{addr: server.addr}
	s := follow(t, dialectClient(t, server.addr, wsclient.Options{Dial: r.dial}), "abc")
	s.Send("hello")
	s.WaitFor("ended", s.ended("hello"))
	s.Send("gated")
	s.WaitFor("at the gate", func() bool { return s.agentText("gated") == "one two three " })
	for n := 1; n <= 3; n++ {
		r.cut()
		s.WaitFor("reconnected", func() bool { return s.Resets == n && s.agentText("gated") == "one two three " })
		if s.agentText("hello") != "Hello yourself." || s.turn("gated").End != nil || s.State.Turn == nil {
			t.Errorf("after the cut:\n%s", protocol.MustEncode(s.Transcript))
		}
	}
	r.cut()
	server.openGate() // while no client is connected
	s.WaitFor("ended", s.ended("gated"))
	if s.agentText("gated") != "one two three four five six" || s.State.Turn != nil ||
		s.agentText("hello") != "Hello yourself." {
		t.Errorf("finally:\n%s", protocol.MustEncode(s.Transcript))
	}
}

// SC-25, SC-26, SC-42: the third-party client's connection breaks during a turn. Its library
// reconnects, and a new stream has the turn from its start, with either set of request names. Other
// clients are not affected.
func TestACutConnectionCostsAThirdPartyClientNothing(t *testing.T) {
	server := newTestServer(t)
	n := newThirdPartyClient(t, server)
	n.connect("b")
	one, other := n.subscribe("a", "one", "abc"), n.subscribe("b", "other", "abc")
	n.sendMessage("a", "abc", "gated", "temp_1")
	n.waitFor("at the gate", one.hasText("three "))
	for i, tag := range []string{"SubscribeSession", "chat.subscribe"} {
		n.run("cut", args{"connection": "a"})
		n.waitFor("disconnected", func() bool { return one.end == "RpcClientError" })
		n.run("waitOpen", args{"connection": "a"})
		one = n.subscribeWith("a", "again"+tag, "abc", tag)
		if one.text() != "one two three " || one.first().Snapshot.Status != "streaming" {
			t.Errorf("after cut %d: %q, %+v", i, one.text(), one.first().Snapshot)
		}
	}
	server.openGate()
	for _, s := range []*stream{one, other} {
		n.waitFor("stopped", s.has("SessionStopped", 1))
		if s.text() != "one two three four five six" || s.end != "" {
			t.Errorf("%q, %s", s.text(), s.end)
		}
	}
}

// SC-26, SC-37, SC-39, SC-42: the server is killed during a turn and restarts. The third-party
// client subscribes again, agentctl's client resumes by itself. Both see all accepted messages and
// all output.
func TestAKilledServerLosesNoOutput(t *testing.T) {
	server := newTestServer(t)
	n := newThirdPartyClient(t, server)
	one := n.subscribe("a", "one", "abc")
	s := follow(t, dialectClient(t, server.addr, wsclient.Options{}), "abc")
	s.Send("hello")
	s.WaitFor("ended", s.ended("hello"))
	s.Send("gated")
	n.sendMessage("a", "abc", "hello", "temp_2")
	n.waitFor("at the gate", one.hasText("three "))
	s.WaitFor("at the gate", func() bool { return s.agentText("gated") == "one two three " && len(s.State.Queue) == 1 })

	server.kill()
	n.waitFor("disconnected", func() bool { return one.end != "" })
	if one.end != "RpcClientError" {
		t.Errorf("the third-party stream ended with %s", one.end)
	}
	server.start()
	s.WaitFor("reconnected", func() bool { return s.Resets == 1 })
	s.WaitFor("complete", func() bool { return len(s.Transcript.Turns) == 2 })
	if s.agentText("gated") != "one two three " || s.State.Turn != nil || len(s.State.Queue) != 1 ||
		s.State.Queue[0].Text != "hello" {
		t.Errorf("after the restart:\n%s\n%s", protocol.MustEncode(s.State), protocol.MustEncode(s.Transcript))
	}
	n.run("waitOpen", args{"connection": "a"})
	two := n.subscribe("a", "two", "abc")
	if f := two.first(); f.Snapshot.Status != "idle" || len(f.Buffer) != 0 || len(f.Snapshot.Queue) != 1 ||
		f.Snapshot.HistoryCursor.LastMessageID == nil {
		t.Errorf("after the restart the third-party client sees %+v", f)
	}
	var history struct {
		Messages []struct {
			ID    string
			Parts []struct{ Text string }
		}
	}
	interoptest.Must(t, json.Unmarshal([]byte(n.call("a", "chat.getHistory", args{"sessionId": "abc"})), &history))
	list := history.Messages
	if len(list) != 4 || !strings.HasPrefix(list[3].Parts[0].Text, "one two three") ||
		list[3].ID != *two.first().Snapshot.HistoryCursor.LastMessageID {
		t.Errorf("history is %+v", list)
	}

	// A restart holds the queue. The dialect cannot release it, a native client can.
	interoptest.Call[protocol.QueueReleaseResult](
		t, server.nativeClient(), protocol.DoQueueRelease, server.session, nil,
	)
	n.waitFor("stopped", two.has("SessionStopped", 1))
	s.WaitFor("ended", func() bool { return len(s.Transcript.Turns) == 3 && s.Transcript.Turns[2].End != nil })
	n.sendMessage("a", "abc", "hang", "temp_3")
	s.WaitFor("working", func() bool { return s.agentText("hang") == "working" })
	if r := s.interrupt(); !r.Interrupted {
		t.Errorf("interrupt: %+v", r)
	}
	n.waitFor("stopped", two.has("SessionStopped", 2))
	if two.text() != "Hello yourself.working" {
		t.Errorf("the third-party client got %q", two.text())
	}
}

// SC-36, SC-39: a message sent while the server is down is delivered once after its start.
func TestAMessageSentWhileTheServerIsDownArrivesOnce(t *testing.T) {
	server := newTestServer(t)
	s := follow(t, dialectClient(t, server.addr, wsclient.Options{}), "abc")
	s.Send("hello")
	s.WaitFor("ended", s.ended("hello"))
	server.kill()
	sent := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(t.Context(), interoptest.Timeout)
		defer cancel()
		_, err := wsclient.Call[protocol.SendResult](
			ctx, s.Client, protocol.DoSend, "abc", protocol.SendData{Text: "much"},
		)
		sent <- err
	}()
	server.start()
	interoptest.Must(t, <-sent)
	s.WaitFor("ended", s.ended("much"))
	native := follow(t, server.nativeClient(), server.session)
	native.WaitFor("caught up", native.ended("much"))
	if got, want := s.agentText("much"), native.agentText("much"); got != want || len(native.Transcript.Turns) != 2 {
		t.Errorf("got %d bytes, want %d; %d turns", len(got), len(want), len(native.Transcript.Turns))
	}
}
