//go:build interop

package sandcastle

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"agentctl/dialect"
	"agentctl/protocol"
	"agentctl/protocol/sandcastle"
	"agentctl/server"
	"agentctl/server/agent/script"
	"agentctl/server/session"
	"agentctl/server/sqlite"
)

// patience bounds every wait for what is not ours.
const patience = 90 * time.Second

// play is what the agent does.
const play = `
{"on":"hello"}
{"think":"a greeting"}
{"tool":"shell","id":"call-1","title":"ls","input":{"command":"ls"},"output":"a b c","exit":0}
{"say":"Hello yourself."}
{"on":"hang"}
{"say":"working"}
{"wait":"never"}
`

// A world is a server of ours with one session, reached natively through a pipe and by Sandcastle's clients through a codec.
type world struct {
	t       *testing.T
	script  *script.Script
	pipe    *server.Pipe
	url     string // of the dialect
	session string
}

func (w *world) Names() []string { return []string{"script"} }

func (w *world) Open(spec session.Spec, host session.Host) (session.Agent, error) {
	return w.script.Open(spec, host)
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, pipe: server.NewPipe()}
	var err error
	w.script, err = script.Parse("play", strings.NewReader(play))
	must(t, err)
	store, err := sqlite.Open(t.TempDir(), sqlite.Options{Boot: "here"})
	must(t, err)
	s, err := server.New(t.Context(), server.Config{
		Session: session.Config{Store: store, Agents: w, DefaultAgent: "script"}, Version: "test",
	})
	must(t, err)
	served := make(chan error, 1)
	go func() { served <- s.Serve(w.pipe.Listener) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		<-served
		if err := store.Close(); err != nil {
			t.Errorf("close store: %v", err)
		}
	})
	native := w.native()
	defer func() { _ = native.CloseNow() }()
	var made protocol.CreateResult
	ask(t, wire{native}, protocol.Command{Command: protocol.DoCreate, Data: protocol.MustEncode(protocol.CreateData{Name: "abc"})}, &made)
	w.session = made.Session

	h := httptest.NewServer(http.HandlerFunc(w.mount))
	t.Cleanup(h.Close)
	w.url = "ws" + strings.TrimPrefix(h.URL, "http") + "/ws"
	return w
}

// native connects to the server as a native client.
func (w *world) native() *websocket.Conn {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return w.pipe.Dial(ctx) }}
	ws, _, err := websocket.Dial(ctx, "ws://server"+protocol.Path, &websocket.DialOptions{
		HTTPClient: &http.Client{Transport: transport}, Subprotocols: []string{protocol.Subprotocol},
	})
	if err != nil {
		w.t.Errorf("dial our server: %v", err)
		return nil
	}
	ws.SetReadLimit(-1)
	return ws
}

// mount lets a client of Sandcastle speak with the server: what the codec says goes to the server, and back.
func (w *world) mount(rw http.ResponseWriter, r *http.Request) {
	ws, err := websocket.Accept(rw, r, nil)
	if err != nil {
		return
	}
	door := protocol.Door{By: protocol.Actor{Name: "sandcastle@peer"}, ID: session.NewID, Version: "test"}
	conn := dialect.NewConn(ws, sandcastle.Dialect.Server(door), protocol.MaxMessage)
	native := w.native()
	if native == nil {
		_ = conn.CloseNow()
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer cancel()
		for {
			_, b, err := native.Read(ctx)
			if err != nil || conn.Write(ctx, b) != nil {
				return
			}
		}
	}()
	for {
		lines, err := conn.Read(ctx)
		if err != nil || native.Write(ctx, websocket.MessageText, lines) != nil {
			break
		}
	}
	cancel()
	<-done
	_ = native.CloseNow()
	_ = conn.CloseNow()
}

// A reader is a connection that carries native messages.
type reader interface {
	Read(context.Context) ([]byte, error)
	Write(context.Context, []byte) error
}

// wire is a native WebSocket as a reader.
type wire struct{ *websocket.Conn }

func (w wire) Read(ctx context.Context) ([]byte, error) {
	_, b, err := w.Conn.Read(ctx)
	return b, err
}

func (w wire) Write(ctx context.Context, b []byte) error {
	return w.Conn.Write(ctx, websocket.MessageText, b)
}

// ask sends one command and waits for its result. Nothing else comes meanwhile.
func ask(t *testing.T, c reader, cmd protocol.Command, into any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd.ID = "ask"
	must(t, c.Write(ctx, protocol.MustEncode(cmd)))
	for {
		b, err := c.Read(ctx)
		must(t, err)
		for line := range protocol.Lines(b) {
			_, a, err := protocol.DecodeIncoming(line)
			must(t, err)
			if a == nil {
				continue
			}
			if a.Error != nil {
				t.Fatal(a.Error)
			}
			must(t, json.Unmarshal(a.Result, into))
			return
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
