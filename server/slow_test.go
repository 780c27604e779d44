package server

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"agentctl/protocol"
)

// A client that never reads is closed after Limits.Write. Other clients see that and are not
// delayed.
func TestClientThatNeverReadsIsCut(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		dead, other := w.dial(), w.dial().collect()
		id := result[protocol.CreateResult](other.testClient, other.ask(protocol.DoCreate, "", nil)).Session
		other.ask(protocol.DoSubscribe, id, protocol.SubscribeData{})
		dead.hello(protocol.HelloData{Name: "dead"})
		dead.subscribe(id, "")
		begun := time.Now()
		other.ask(protocol.DoSend, id, protocol.SendData{Text: "large"})
		list, bytes := events(other.all(), id)
		if list[len(list)-1].Type != protocol.TurnEnded || bytes < 2<<20 {
			t.Errorf("the other client received %d bytes up to %s", bytes, list[len(list)-1].Type)
		}
		if took := time.Since(begun); took > 0 {
			t.Errorf("the other client waited %v", took)
		}
		time.Sleep(time.Minute - time.Second)
		if gone := ofType(other.all(), protocol.ClientDetached); len(gone) != 0 {
			t.Error("closed too early")
		}
		time.Sleep(2 * time.Second)
		gone := ofType(other.all(), protocol.ClientDetached)
		if len(gone) != 1 {
			t.Fatalf("%d client.detached", len(gone))
		}
		if d := decode[protocol.Client](t, gone[0]); d.By.Name != "dead" || d.Reason == "" {
			t.Errorf("detached %+v", d)
		}
		if n := w.clients(); n != 1 {
			t.Errorf("%d clients", n)
		}
	})
}

func TestClientThatNeverReadsHoldsLittleMemory(t *testing.T) {
	w := newTestServer(t)
	c := w.dial()
	id := c.create("")
	c.subscribe(id, "")
	const dead = 20
	for range dead {
		w.dial().subscribe(id, "")
	}
	before := liveHeapBytes()
	c.send(protocol.DoSend, id, protocol.SendData{Text: "large"})
	c.waitForType(protocol.TurnEnded)
	// Each holds at most one write; the tail of the log exists once.
	if grown := liveHeapBytes() - before; grown > dead*2*maxWrite+(4<<20) {
		t.Errorf("%d clients that do not read hold %d KiB", dead, grown>>10)
	}
}

func liveHeapBytes() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// The server stops reading from a client that does not read its answers.
func TestClientThatReadsNoAnswersIsNotListenedTo(t *testing.T) {
	for _, tt := range []struct {
		name, line string
		kind       websocket.MessageType
	}{
		{"pings", `{"id":"x","command":"ping"}`, websocket.MessageText},
		{"errors", `{"id":"x","command":"fly"}`, websocket.MessageText},
		{"errors without an id", `{"command":"fly"}`, websocket.MessageText},
		{"bad JSON", `{`, websocket.MessageText},
		{"bad acks", `{"command":"ack","session":"s_none"}`, websocket.MessageText},
		{"sends that fail", `{"id":"x","command":"send","session":"s_none"}`, websocket.MessageText},
		{"lists", `{"id":"x","command":"list"}`, websocket.MessageText},
		{"binary messages", `{"id":"x","command":"ping"}`, websocket.MessageBinary},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *testServer) {
				c := w.dial()
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				taken := 0
				for c.ws.Write(ctx, tt.kind, []byte(tt.line)) == nil {
					if taken++; taken > 1000 {
						t.Fatal("the server reads messages without end")
					}
				}
			})
		})
	}
}

// A client that sends more commands than Limits.InFlight and reads late receives every answer.
func TestCommandsBeyondTheSlotsWait(t *testing.T) {
	w := newTestServer(t, withLimits(Limits{InFlight: 3}))
	c := w.dial()
	id := c.create("hang")
	const n = 200
	sent := make(chan error, 1)
	go func() {
		var all strings.Builder
		for i := range n {
			fmt.Fprintf(&all, `{"id":"q%d","command":"send","session":%q,"data":{"text":"%d"}}`+"\n", i, id, i)
		}
		sent <- c.ws.Write(t.Context(), websocket.MessageText, []byte(all.String()))
	}()
	for i := range n {
		m := c.next()
		r := result[protocol.SendResult](c, m)
		if m.ID != fmt.Sprintf("q%d", i) || r.Index == nil || *r.Index != i {
			t.Fatalf("answer %d is %s at %v", i, m.ID, r.Index)
		}
	}
	must(t, <-sent)
}

func TestSlotsOfDeadClientsDoNotHoldSessions(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		c := w.dial().collect()
		id := result[protocol.CreateResult](
			c.testClient,
			c.ask(protocol.DoCreate, "", protocol.CreateData{Prompt: "hang"}),
		).Session
		dead := w.dial()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		line := []byte(fmt.Sprintf(`{"id":"x","command":"snapshot","session":%q}`, id))
		for dead.ws.Write(ctx, websocket.MessageText, line) == nil {
		}
		if m := c.ask(protocol.DoSnapshot, id, nil); m.Error != nil {
			t.Error(m.Error)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if n := w.clients(); n != 1 {
			t.Errorf("%d clients are left", n)
		}
	})
}

func TestMessageOverTheLimitEndsItsConnectionAlone(t *testing.T) {
	w := newTestServer(t)
	other := w.dial()
	id := other.create("")
	other.subscribe(id, "")
	for _, size := range []int{protocol.MaxMessage + 1, 10 << 20} {
		c := w.dial()
		c.subscribe(id, "")
		ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
		go func() {
			defer cancel()
			_ = c.ws.Write(
				ctx,
				websocket.MessageText,
				[]byte(strings.Repeat(" ", size)),
			) // fails when the connection closes
		}()
		m, _ := c.waitFor("an error", func(m serverMessage) bool { return m.isAnswer() })
		c.refused(m, protocol.CodeTooLarge)
		if m.Error.Limit != protocol.MaxMessage {
			t.Errorf("limit %d", m.Error.Limit)
		}
		if code := c.closeCode(); code != protocol.CloseTooLarge {
			t.Errorf("a message of %d bytes: closed with %d", size, code)
		}
		<-ctx.Done()
		other.ask(protocol.DoPing, "", nil)
	}
}

func TestMessageAtTheLimitIsTaken(t *testing.T) {
	w := newTestServer(t)
	c := w.dial()
	line := `{"id":"x","command":"ping"}`
	c.write(line + strings.Repeat(" ", protocol.MaxMessage-len(line)))
	if m := c.next(); m.ID != "x" || m.Error != nil {
		t.Errorf("got %+v", m)
	}
}

func TestConnectionsBeyondTheLimitAreRefused(t *testing.T) {
	w := newTestServer(t, withLimits(Limits{Connections: 1, Reserve: 1}))
	addr := w.tcp("secret")
	first := w.dial()
	w.dial()
	full := func() (int, protocol.Code) {
		status, code, _ := get(t, addr, "/api/sessions?token=secret", "Host: localhost")
		return status, code
	}
	if status, code := full(); status != 503 || code != protocol.CodeConnectionLimit {
		t.Errorf("third connection: %d %s", status, code)
	}
	if status, _, _ := get(t, addr, "/healthz", "Host: localhost"); status != 200 {
		t.Errorf("health: %d", status)
	}
	must(t, first.ws.Close(websocket.StatusNormalClosure, ""))
	for begun := time.Now(); ; {
		if status, _ := full(); status == 200 {
			break
		}
		if time.Since(begun) > testTimeout {
			t.Fatal("refused after another connection closed")
		}
	}
}

func TestLargeAnswersAreMessagesOfTheirOwn(t *testing.T) {
	w := newTestServer(t)
	id := w.runTurn("large")
	c := w.dial()
	const n = 4
	for range n {
		c.send(protocol.DoHistory, id, nil)
	}
	for answers := 0; answers < n; {
		_, b, err := c.ws.Read(t.Context())
		must(t, err)
		if len(b) > 2<<20 {
			t.Fatalf("a message of %d bytes", len(b))
		}
		answers += strings.Count(string(b), `"result"`)
	}
}
