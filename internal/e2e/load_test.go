package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"agentctl/server"
)

// runLoad has so many AgentLoop clients at once over loopback, each in a session of its own, send so many messages, of which every turn
// wants an approval; each waits for the end of the turn before its next message, and checks that it heard its own answers, in order.
func runLoad(t testing.TB, w *testServer, clients, messages int) {
	t.Helper()
	l, err := server.ListenOpen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Dialect = "agentloop"
	w.server.Load().listen(l)
	var all sync.WaitGroup
	failed := make(chan error, clients)
	for n := range clients {
		f := dialDialect(t, fmt.Sprintf("ws://%s/load-%d", l.Addr(), n), nil)
		all.Go(func() {
			if err := runConversation(f, n, messages); err != nil {
				failed <- fmt.Errorf("client %d: %w", n, err)
			}
		})
	}
	all.Wait()
	close(failed)
	for err := range failed {
		t.Error(err)
	}
}

// runConversation is one client's conversation.
func runConversation(f *dialectConn, n, messages int) error {
	for i := range messages {
		text := fmt.Sprintf("message %d of %d", i, n)
		said, asked := "", 0
		if err := f.write(fmt.Sprintf(`{"id":"%d","type":"user_input","payload":{"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":%q}]}]}}`, i, text)); err != nil {
			return err
		}
		for done := false; !done; {
			_, raw, err := f.conn.Read(f.t.Context())
			if err != nil {
				return err
			}
			var m struct {
				Type    string
				Payload struct {
					Role    string
					Content []struct{ Text string }
					Message string
				}
			}
			if err := json.Unmarshal(raw, &m); err != nil {
				return err
			}
			switch {
			case m.Type == "approval_request":
				if asked++; asked == 1 {
					err = f.write(`{"id":"a","type":"approval_response","payload":{"review":"yes"}}`)
				}
			case m.Type == "error":
				err = fmt.Errorf("%s", raw)
			case m.Type == "agent_finished":
				done = true
			case m.Payload.Role == "assistant":
				for _, c := range m.Payload.Content {
					said += c.Text
				}
			}
			if err != nil {
				return err
			}
		}
		if want := "You said: " + text + " (allowed)"; strings.TrimSpace(said) != want || asked != 1 {
			return fmt.Errorf("said %q, asked %d times; want %q", said, asked, want)
		}
	}
	return nil
}

var loadScript = []string{`{"on":"*"}`, `{"say":"You said: {message} ","runes":1}`, `{"ask":"command","command":"ls {n}","then":[{"say":"(allowed)"}],"else":[{"say":"(denied)"}]}`}

// AL-32: many connections at once with many messages, each turn with its approval: nobody hears of anybody else's, and nothing is lost.
func TestManyAgentLoopClientsAtOnce(t *testing.T) {
	runLoad(t, newTestServer(t, loadScript...), 100, 8)
}

// BenchmarkAgentLoopLoad is a turn with an approval, of 20 clients at once over loopback.
func BenchmarkAgentLoopLoad(b *testing.B) {
	w := newTestServer(b, loadScript...)
	b.ResetTimer()
	const clients = 20
	runLoad(b, w, clients, max(1, b.N/clients))
}
