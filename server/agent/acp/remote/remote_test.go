package remote

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A farAgent is a server with both transports. It answers initialize and session/new, asks for
// permission during a prompt, and then answers that with what it was answered.
type farAgent struct {
	t *testing.T

	mu      sync.Mutex
	streams map[string]chan string // events by session
	prompt  json.RawMessage        // id of the current prompt
	owned   bool                   // the connection may have the stream of the session
	deleted bool
	seen    []string // methods of messages
	refuse  int      // status of the next prompt over HTTP; 0: none
}

func newFarAgent(t *testing.T) (*farAgent, *httptest.Server) {
	t.Helper()
	a := &farAgent{t: t, streams: map[string]chan string{"": make(chan string, 9), "s": make(chan string, 9)}}
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	return a, server
}

// handle returns the messages that follow one of the client, by session.
func (a *farAgent) handle(message []byte) map[string]string {
	var m struct {
		ID     json.RawMessage
		Method string
		Result json.RawMessage
	}
	if err := json.Unmarshal(message, &m); err != nil {
		a.t.Errorf("%s: %v", message, err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seen = append(a.seen, m.Method)
	switch m.Method {
	case "initialize":
		return map[string]string{
			"": fmt.Sprintf("{\n \"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"protocolVersion\":1}}", m.ID),
		}
	case "session/load":
		a.owned = true
		return map[string]string{
			"":  fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, m.ID),
			"s": `{"jsonrpc":"2.0","method":"session/update"}`,
		}
	case "session/new":
		a.owned = true
		return map[string]string{"": fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"sessionId":"s"}}`, m.ID)}
	case "session/prompt":
		a.prompt = m.ID
		return map[string]string{
			"s": `{"jsonrpc":"2.0","id":"ask","method":"session/request_permission","params":{"sessionId":"s"}}`,
		}
	case "":
		return map[string]string{"s": fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, a.prompt, m.Result)}
	}
	return nil
}

func (a *farAgent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if got := r.Header.Get("Authorization"); got != "Bearer key" {
		http.Error(w, "no key: "+got, http.StatusUnauthorized)
		return
	}
	if r.Header.Get("Upgrade") != "" {
		a.serveSocket(w, r)
		return
	}
	session := r.Header.Get(sessionHeader)
	if id := r.Header.Get(connectionHeader); r.Method != http.MethodPost && id != "c" {
		a.t.Errorf("%s has the connection %q", r.Method, id)
	}
	switch r.Method {
	case http.MethodGet:
		a.mu.Lock()
		owned := session == "" || a.owned
		a.mu.Unlock()
		if !owned {
			http.Error(w, "not owned", http.StatusForbidden)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		rc := http.NewResponseController(w)
		_ = rc.Flush()
		for {
			select {
			case event, ok := <-a.streams[session]:
				if !ok {
					return
				}
				_, _ = fmt.Fprintf(
					w, ": keep alive\n\nid: 1\ndata: %s\n\n", strings.ReplaceAll(event, "\n", "\ndata: "),
				)
				_ = rc.Flush()
			case <-r.Context().Done():
				return
			}
		}
	case http.MethodDelete:
		a.mu.Lock()
		a.deleted = true
		a.mu.Unlock()
		w.WriteHeader(http.StatusAccepted)
	case http.MethodPost:
		body, _ := io.ReadAll(r.Body)
		a.mu.Lock()
		refuse := a.refuse
		a.mu.Unlock()
		prompt := strings.Contains(string(body), "session/prompt")
		if prompt && refuse != 0 {
			http.Error(w, "busy", refuse)
			return
		}
		prompt = prompt || strings.Contains(string(body), "session/load")
		if want := map[bool]string{true: "s"}[prompt || strings.Contains(string(body), `"id":"ask"`)]; session != want {
			a.t.Errorf("%s has the session %q", body, session)
		}
		out := a.handle(body)
		if strings.Contains(string(body), `"initialize"`) {
			w.Header().Set(connectionHeader, "c")
			_, _ = io.WriteString(w, out[""])
			return
		}
		w.WriteHeader(http.StatusAccepted)
		for session, event := range out {
			a.streams[session] <- event
		}
	}
}

func (a *farAgent) serveSocket(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		a.t.Error(err)
		return
	}
	defer func() { _ = conn.CloseNow() }()
	for {
		_, message, err := conn.Read(r.Context())
		if err != nil {
			return
		}
		for _, out := range a.handle(message) {
			if conn.Write(r.Context(), websocket.MessageText, []byte(out)) != nil {
				return
			}
		}
	}
}

// dialTest connects to a server by a transport, until the end of the test.
func dialTest(t *testing.T, server *httptest.Server, socket bool, key string) (io.ReadWriteCloser, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	url := server.URL
	if socket {
		url = "ws" + strings.TrimPrefix(url, "http")
	}
	conn, err := Dial(ctx, Address{URL: url + "/acp", Headers: http.Header{"Authorization": {"Bearer " + key}}})
	if err == nil {
		t.Cleanup(func() { _ = conn.Close() }) // the server's end waits for its connections
	}
	return conn, err
}

func TestMessagesPassThroughBothTransports(t *testing.T) {
	for name, socket := range map[string]bool{"HTTP": false, "WebSocket": true} {
		t.Run(name, func(t *testing.T) {
			agent, server := newFarAgent(t)
			conn, err := dialTest(t, server, socket, "key")
			if err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewReader(conn)
			for _, step := range [][2]string{
				{
					`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`,
					`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}`,
				},
				{
					`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{}}`,
					`{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}`,
				},
				{
					`{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s"}}`,
					`{"jsonrpc":"2.0","id":"ask","method":"session/request_permission","params":{"sessionId":"s"}}`,
				},
				{
					`{"jsonrpc":"2.0","id":"ask","result":{"outcome":"yes"}}`,
					`{"jsonrpc":"2.0","id":3,"result":{"outcome":"yes"}}`,
				},
			} {
				written := write(t, conn, step[0])
				if got, err := lines.ReadString('\n'); err != nil || got != step[1]+"\n" {
					t.Fatalf("after %s: %q, %v", step[0], got, err)
				}
				<-written
			}
			if err := conn.Close(); err != nil {
				t.Error(err)
			}
			if _, err := lines.ReadString('\n'); err == nil {
				t.Error("it is readable after its end")
			}
			if agent.mu.Lock(); !socket && !agent.deleted {
				t.Error("the server keeps the connection")
			}
			agent.mu.Unlock()
		})
	}
}

// write writes a message beside the reader: pipes have no buffer. Who closes the connection waits for
// written first.
func write(t *testing.T, w io.Writer, message string) (written chan struct{}) {
	written = make(chan struct{})
	go func() {
		defer close(written)
		if _, err := io.WriteString(w, message+"\n"); err != nil {
			t.Errorf("write %s: %v", message, err)
		}
	}()
	return written
}

func TestAWrongKeyIsReported(t *testing.T) {
	_, server := newFarAgent(t)
	if _, err := dialTest(t, server, true, "no"); err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("WebSocket: %v", err)
	}
	conn, err := dialTest(t, server, false, "wrong")
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.WriteString(conn, `{"jsonrpc":"2.0","id":1,"method":"initialize"}`+"\n")
	if err == nil || !strings.Contains(err.Error(), "401 Unauthorized: no key: [hidden]") {
		t.Errorf("HTTP: %v", err)
	}
	if _, err := conn.Read(make([]byte, 9)); err == nil {
		t.Error("the connection is open")
	}
	_ = conn.Close()
}

func TestARefusedRequestGetsAnErrorOverHTTP(t *testing.T) {
	agent, server := newFarAgent(t)
	for status, want := range map[int]string{http.StatusServiceUnavailable: `"code":-32603`, http.StatusNotFound: ""} {
		agent.refuse, agent.owned = status, true
		conn, err := dialTest(t, server, false, "key")
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(conn)
		written := write(t, conn, `{"jsonrpc":"2.0","id":1,"method":"initialize"}`)
		if _, err := lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		<-written
		go func() {
			_, _ = io.WriteString(
				conn, `{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s"}}`+"\n",
			)
		}()
		got, err := lines.ReadString('\n')
		if want == "" && (err == nil || !strings.Contains(err.Error(), "404")) || want != "" && !strings.Contains(got, want) {
			t.Errorf("%d: %q, %v", status, got, err)
		}
		_ = conn.Close()
	}
}

// openHTTP returns an initialized connection over HTTP and its lines.
func openHTTP(t *testing.T, server *httptest.Server) (io.ReadWriteCloser, *bufio.Reader) {
	t.Helper()
	conn, err := dialTest(t, server, false, "key")
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(conn)
	written := write(t, conn, `{"jsonrpc":"2.0","id":1,"method":"initialize"}`)
	if _, err := lines.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	<-written
	return conn, lines
}

// A server may refuse the stream of a session until the connection has loaded it. The answer and the
// session's events are in two streams, which have no order.
func TestTheStreamOfALoadedSessionOpensAfterItsAnswerOverHTTP(t *testing.T) {
	_, server := newFarAgent(t)
	conn, lines := openHTTP(t, server)
	written := write(t, conn, `{"jsonrpc":"2.0","id":2,"method":"session/load","params":{"sessionId":"s"}}`)
	var got [2]string
	for i := range got {
		var err error
		if got[i], err = lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	<-written
	slices.Sort(got[:])
	if !strings.Contains(got[0], `"id":2`) || !strings.Contains(got[1], `"session/update"`) {
		t.Errorf("got %q, want the answer and the update", got)
	}
	_ = conn.Close()
}

func TestTheEndOfAStreamOfEventsEndsTheConnection(t *testing.T) {
	agent, server := newFarAgent(t)
	conn, lines := openHTTP(t, server)
	close(agent.streams[""])
	if _, err := lines.ReadString('\n'); err == nil {
		t.Error("the connection is open")
	}
	_ = conn.Close()
}

func TestURLsOfAgents(t *testing.T) {
	for url, ok := range map[string]bool{
		"https://host/acp": true, "wss://host:99/acp": true, "HTTPS://host": true, "http://127.0.0.1:1/acp": true,
		"ws://localhost/acp": true, "ws://[::1]:9/": true,
		"http://host/acp": false, "ws://10.0.0.1/acp": false, "https://": false, "https://u:p@host/": false,
		"ftp://host": false, "host": false, "https://host/#x": false, "https://:80/": false,
	} {
		if err := CheckURL(url); (err == nil) != ok {
			t.Errorf("%s: %v", url, err)
		}
	}
}
