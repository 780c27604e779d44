//go:build linux

package e2e

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"agentctl/internal/dev/testbinary"
	"agentctl/protocol"
	"agentctl/wsclient"
)

// A farAgent is an ACP agent behind a WebSocket. Its one session outlives connections: a prompt
// "work" continues until it is cancelled, and goes to the connection that opened the session last.
type farAgent struct {
	mu     sync.Mutex
	seen   []string // methods and prompts
	keys   []string // of the connections
	out    chan string
	cancel chan struct{} // of the current prompt
	work   sync.WaitGroup
}

func (a *farAgent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer func() { _ = conn.CloseNow() }()
	out := make(chan string, 1000)
	a.mu.Lock()
	a.keys = append(a.keys, r.Header.Get("X-Key"))
	a.mu.Unlock()
	ctx, stop := context.WithCancel(r.Context())
	defer stop()
	a.work.Go(func() {
		for {
			select {
			case m := <-out:
				if conn.Write(ctx, websocket.MessageText, []byte(m)) != nil {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	})
	for {
		_, message, err := conn.Read(ctx)
		if err != nil {
			return
		}
		a.handle(message, out)
	}
}

func (a *farAgent) handle(message []byte, out chan string) {
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct{ Prompt []struct{ Text string } }
	}
	if json.Unmarshal(message, &m) != nil {
		return
	}
	reply := func(result string) { out <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result) }
	a.mu.Lock()
	defer a.mu.Unlock()
	seen := m.Method
	for _, block := range m.Params.Prompt {
		seen += " " + block.Text
	}
	a.seen = append(a.seen, seen)
	switch m.Method {
	case "initialize":
		reply(`{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}`)
	case "session/new", "session/load":
		a.out = out
		reply(`{"sessionId":"far"}`)
	case "session/cancel":
		if a.cancel != nil {
			close(a.cancel)
			a.cancel = nil
		}
	case "session/prompt":
		if m.Params.Prompt[0].Text != "work" {
			out <- chunk("you said: " + m.Params.Prompt[0].Text)
			reply(`{"stopReason":"end_turn"}`)
			return
		}
		a.cancel = make(chan struct{})
		cancelled := a.cancel
		a.work.Go(func() {
			tick := time.NewTicker(20 * time.Millisecond)
			defer tick.Stop()
			for {
				select {
				case <-tick.C:
					a.mu.Lock()
					select {
					case a.out <- chunk("step "):
					default: // nothing reads them any more
					}
					a.mu.Unlock()
				case <-cancelled:
					return
				}
			}
		})
	}
}

func chunk(text string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"far","update":`+
		`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%q}}}}`, text)
}

// The server is killed in the middle of a turn of an agent elsewhere, which goes on without it. The
// next server loads the session and cancels that turn; nothing of it reaches the next one. The value of
// a header is in no file of the server and in no output.
func TestAKilledServerLeavesNoTurnOfAnAgentElsewhere(t *testing.T) {
	t.Parallel() // it waits for processes
	program, err := buildProgram()
	if err != nil {
		t.Fatal(err)
	}
	far := &farAgent{}
	url := httptest.NewServer(far)
	defer func() {
		url.CloseClientConnections()
		url.Close()
		far.handle([]byte(`{"method":"session/cancel"}`), nil)
		far.work.Wait()
	}()
	const secret = "s3cret-of-the-header"
	s := &testbinary.Server{
		T: t, Program: program, Dir: t.TempDir(), Args: []string{"-v"}, Env: []string{"FAR_KEY=" + secret},
	}
	config, err := json.Marshal(map[string]any{"agents": map[string]any{"far": map[string]any{
		"url": "ws" + strings.TrimPrefix(url.URL, "http"), "headers": map[string]string{"X-Key": "${FAR_KEY}"},
	}}})
	data := filepath.Join(s.Dir, "data")
	if err == nil {
		err = cmp.Or(os.WriteFile(filepath.Join(s.Dir, "config"), config, 0o600), os.Mkdir(data, 0o700))
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(data, "server.json"), config, 0o600) // for the verbs
	}
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	defer func() { s.KillAll() }()
	c := wsclient.New(s.URL, wsclient.Options{Name: "ann"})
	id := do[protocol.CreateResult](t, c, protocol.DoCreate, "", protocol.CreateData{Agent: "far"}).Session
	// turn sends a message and follows its turn until done, and returns its text.
	turn := func(c *wsclient.Client, text string, done func(e *protocol.Event, said string) bool) (said string) {
		t.Helper()
		sub := c.Subscribe(id, wsclient.SubscribeOptions{Raw: true})
		defer sub.Close()
		do[protocol.SendResult](t, c, protocol.DoSend, id, protocol.SendData{Text: text})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		last := ""
		for it, err := range sub.Events(ctx) {
			if err != nil {
				t.Fatal(err)
			}
			if it.Event == nil {
				continue
			}
			var user protocol.MessageUserData
			if it.Event.Type == protocol.MessageUser && it.Event.Decode(&user) == nil && user.Text == text {
				last = it.Event.Turn
			}
			if it.Event.Turn != last || last == "" {
				continue
			}
			var delta protocol.PartDeltaData
			if it.Event.Type == protocol.TextDelta && it.Event.Decode(&delta) == nil {
				said += delta.Text
			}
			if done(it.Event, said) {
				return said
			}
		}
		t.Fatalf("%s: no end, it said %q", text, said)
		return ""
	}
	turn(c, "work", func(_ *protocol.Event, said string) bool { return strings.HasPrefix(said, "step step ") })
	s.Kill()
	_ = c.Close()
	s.Start()
	c = wsclient.New(s.URL, wsclient.Options{Name: "ann"})
	defer func() { _ = c.Close() }()
	said := turn(c, "hello", func(e *protocol.Event, _ string) bool { return e.Type == protocol.TurnEnded })
	if said != "you said: hello" {
		t.Errorf("after the restart it said %q", said)
	}
	snap := do[protocol.SnapshotResult](t, c, protocol.DoSnapshot, id, protocol.Empty{}).Snapshot
	if snap.State.Sandbox.Mode != protocol.SandboxRemote || snap.State.Turns != 2 {
		t.Errorf("sandbox %s, %d turns", snap.State.Sandbox, snap.State.Turns)
	}
	far.mu.Lock()
	want := []string{
		"initialize", "session/new", "session/prompt work", "initialize", "session/load", "session/cancel",
		"session/prompt hello",
	}
	if !slices.Equal(far.seen, want) || !slices.Equal(far.keys, []string{secret, secret}) {
		t.Errorf("the agent got %q with the keys %q", far.seen, far.keys)
	}
	far.mu.Unlock()

	var shown bytes.Buffer
	for _, args := range [][]string{
		{"new", "--agent", "far"}, {"agents"}, {"agents", "-o", "json"}, {"status", id}, {"ls"}, {"events", id}, {"doctor"},
	} {
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Env = append(os.Environ(), "AGENTCTL_DATA="+data, "HOME="+s.Dir, "FAR_KEY="+secret)
		cmd.Stdout, cmd.Stderr = &shown, &shown
		_ = cmd.Run() // doctor finds what this machine lacks
	}
	s.Stop()
	for _, want := range []string{"far  ", "sandbox remote; ws://127", "sandbox: remote\n"} {
		if !strings.Contains(shown.String(), want) {
			t.Errorf("%q is not in\n%s", want, shown.String())
		}
	}
	_ = filepath.WalkDir(s.Dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		shown.Write(b)
		return err
	})
	if strings.Contains(shown.String(), secret) {
		t.Error("the value of the header is stored or shown")
	}
}
