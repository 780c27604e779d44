package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"agentctl/internal/dev/thorough"
	"agentctl/server"
)

// runLoad runs concurrent AgentLoop clients over loopback, each with its own session. Each client
// sends messages one after the other, approves once per turn, and checks that it receives its own
// answers in order.
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

// runConversation runs one client.
func runConversation(f *dialectConn, n, messages int) error {
	for i := range messages {
		text := fmt.Sprintf("message %d of %d", i, n)
		answer, approvals := "", 0
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
				if approvals++; approvals == 1 {
					err = f.write(`{"id":"a","type":"approval_response","payload":{"review":"yes"}}`)
				}
			case m.Type == "error":
				err = fmt.Errorf("%s", raw)
			case m.Type == "agent_finished":
				done = true
			case m.Payload.Role == "assistant":
				for _, c := range m.Payload.Content {
					answer += c.Text
				}
			}
			if err != nil {
				return err
			}
		}
		if want := "You said: " + text + " (allowed)"; strings.TrimSpace(answer) != want || approvals != 1 {
			return fmt.Errorf("answer %q after %d approvals; want %q", answer, approvals, want)
		}
	}
	return nil
}

var loadScript = []string{
	`{"on":"*"}`,
	`{"say":"You said: {message} ","runes":1}`,
	`{"ask":"command","command":"ls {n}","then":[{"say":"(allowed)"}],"else":[{"say":"(denied)"}]}`,
}

// AL-32: many concurrent connections with approvals in every turn receive only their own output,
// completely.
func TestManyAgentLoopClientsAtOnce(t *testing.T) {
	runLoad(t, newTestServer(t, loadScript...), thorough.Rounds(30, 100), 8)
}

// BenchmarkAgentLoopLoad measures a turn with an approval, with 20 concurrent clients over
// loopback.
func BenchmarkAgentLoopLoad(b *testing.B) {
	w := newTestServer(b, loadScript...)
	b.ResetTimer()
	const clients = 20
	runLoad(b, w, clients, max(1, b.N/clients))
}
