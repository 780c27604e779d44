package server

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"agentctl/protocol"
)

// tcp serves a loopback port with a token and returns its address.
func (w *testServer) tcp(token string, change ...func(*Listener)) string {
	w.t.Helper()
	l, err := ListenTCP("127.0.0.1:0", TCPOptions{Token: token})
	must(w.t, err)
	for _, f := range change {
		f(l)
	}
	return w.serve(l)
}

// get sends a request with the path unchanged and returns the status, the error code in the body
// and the headers.
func get(t *testing.T, addr, path string, header ...string) (int, protocol.Code, http.Header) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	must(t, err)
	defer conn.Close()
	_, err = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\n%s\r\n\r\n", path, strings.Join(header, "\r\n"))
	must(t, err)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	must(t, err)
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return resp.StatusCode, "", resp.Header
	}
	b, err := io.ReadAll(resp.Body)
	must(t, err)
	var body struct {
		Error protocol.Error `json:"error"`
	}
	if resp.StatusCode >= 400 {
		if err := json.Unmarshal(b, &body); err != nil || body.Error.Code == "" {
			t.Errorf("GET %s: status %d without a coded error: %.100q", path, resp.StatusCode, b)
		}
	}
	return resp.StatusCode, body.Error.Code, resp.Header
}

func TestHostOfThisListenerAloneIsAnswered(t *testing.T) {
	w := newTestServer(t)
	addr := w.tcp("secret")
	tests := []struct {
		host string
		want int
	}{
		{"127.0.0.1", 200},
		{addr, 200},
		{"localhost", 200},
		{"LocalHost:1234", 200},
		{"localhost:", 200},
		{"[::1]", 200},
		{"[::1]:80", 200},
		{"evil.example", 403},
		{"evil.example:80", 403},
		{"localhost.evil.example", 403},
		{"evil-localhost", 403},
		{"127.0.0.1.evil.example", 403},
		{"127.0.0.2", 403},
		{"localhost.", 403},
		{"0.0.0.0", 403},
		{"[::]", 403},
		{"[::ffff:127.0.0.1]", 403},
		{"2130706433", 403},
		{"", 403},
	}
	for _, tt := range tests {
		for _, path := range []string{"/healthz", "/readyz", "/api/sessions?token=secret"} {
			status, code, _ := get(t, addr, path, "Host: "+tt.host)
			if status != tt.want || status == 403 && code != protocol.CodeForbidden {
				t.Errorf("GET %s for host %q: %d %s, want %d", path, tt.host, status, code, tt.want)
			}
		}
	}
}

func TestTokenLetsIn(t *testing.T) {
	w := newTestServer(t)
	addr := w.tcp("secret")
	tests := []struct {
		name, path, header string
		want               int
	}{
		{"missing", "/api/sessions", "", 401},
		{"empty in the query", "/api/sessions?token=", "", 401},
		{"empty in the header", "/api/sessions", "Authorization: Bearer ", 401},
		{"wrong in the query", "/api/sessions?token=secreT", "", 401},
		{"wrong in the header", "/api/sessions", "Authorization: Bearer secret2", 401},
		{"wrong in the header, right in the query", "/api/sessions?token=secret", "Authorization: Bearer no", 401},
		{"a prefix", "/api/sessions?token=secre", "", 401},
		{"basic", "/api/sessions", "Authorization: Basic c2VjcmV0", 401},
		{"in the query", "/api/sessions?token=secret", "", 200},
		{"in the header", "/api/sessions", "Authorization: Bearer secret", 200},
		{"in the header, scheme in lower case", "/api/sessions", "Authorization: bearer secret", 200},
		{"none for what is not there", "/nothing", "", 401},
		{"none for a socket", protocol.Path, "", 401},
		{"health needs none", "/healthz", "", 200},
		{"readiness needs none", "/readyz", "", 200},
		{"nothing beside health", "/healthz/", "", 401},
		{"nothing above health", "/healthz/../api/sessions", "", 401},
		{"no other spelling of health", "//healthz", "", 401},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			header := []string{"Host: localhost"}
			if tt.header != "" {
				header = append(header, tt.header)
			}
			status, code, answer := get(t, addr, tt.path, header...)
			if status != tt.want {
				t.Errorf("status %d, want %d", status, tt.want)
			}
			if status == 401 && (code != protocol.CodeUnauthorized || answer.Get("WWW-Authenticate") != "Bearer") {
				t.Errorf("code %s, header %v", code, answer)
			}
		})
	}
}

func TestOriginsAreRefusedUnlessAllowed(t *testing.T) {
	w := newTestServer(t)
	origins := NewOrigins("https://good.example", "http://localhost:7000")
	addr := w.tcp("secret", func(l *Listener) { l.Origins = origins })
	tests := []struct {
		name    string
		origins []string
		want    int
	}{
		{"none", nil, 200},
		{"allowed", []string{"https://good.example"}, 200},
		{"evil", []string{"https://evil.example"}, 403},
		{"null", []string{"null"}, 403},
		{"file", []string{"file://"}, 403},
		{"empty", []string{""}, 403},
		{"another port", []string{"http://localhost:7001"}, 403},
		{"another scheme", []string{"http://good.example"}, 403},
		{"lookalike suffix", []string{"https://good.example.evil.example"}, 403},
		{"lookalike prefix", []string{"https://evilgood.example"}, 403},
		{"user info", []string{"https://good.example@evil.example"}, 403},
		{"allowed and evil", []string{"https://good.example", "https://evil.example"}, 403},
		{"evil and allowed", []string{"https://evil.example", "https://good.example"}, 403},
		{"in one header", []string{"https://good.example https://evil.example"}, 403},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			header := []string{"Host: localhost"}
			for _, o := range tt.origins {
				header = append(header, "Origin: "+o)
			}
			status, code, answer := get(t, addr, "/api/sessions?token=secret", header...)
			if status != tt.want || status == 403 && code != protocol.CodeForbidden {
				t.Errorf("status %d %s, want %d", status, code, tt.want)
			}
			if answer.Get("Access-Control-Allow-Origin") != "" && tt.want != 200 {
				t.Errorf("header %v", answer)
			}
			handshake := append(
				header,
				"Connection: Upgrade",
				"Upgrade: websocket",
				"Sec-WebSocket-Version: 13",
				"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
			)
			if status, _, _ := get(
				t,
				addr,
				protocol.Path+"?token=secret",
				handshake...); status != map[int]int{200: 101, 403: 403}[tt.want] {
				t.Errorf("WebSocket: status %d", status)
			}
		})
	}
}

// Origins that are replaced apply to the next request, and end the connections of pages that are
// not among them.
func TestOriginsCanBeReplaced(t *testing.T) {
	w := newTestServer(t)
	origins := NewOrigins("https://old.example")
	addr := w.tcp("secret", func(l *Listener) { l.Origins = origins })
	check := func(origin string, want int) {
		t.Helper()
		status, _, _ := get(t, addr, "/api/sessions?token=secret", "Host: localhost", "Origin: https://"+origin)
		if status != want {
			t.Errorf("%s: status %d, want %d", origin, status, want)
		}
	}
	dial := func(header http.Header) *websocket.Conn {
		t.Helper()
		c, _, err := websocket.Dial(t.Context(), "ws://"+addr+protocol.Path+"?token=secret",
			&websocket.DialOptions{HTTPHeader: header, Host: "localhost", Subprotocols: []string{protocol.Subprotocol}})
		must(t, err)
		t.Cleanup(func() { _ = c.CloseNow() })
		return c
	}
	check("old.example", 200)
	check("new.example", 403)
	page, program := dial(http.Header{"Origin": {"https://old.example"}}), dial(nil)
	origins.Set([]string{"https://new.example"})
	check("old.example", 403)
	check("new.example", 200)
	if _, _, err := page.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusPolicyViolation {
		t.Errorf("the connection of a page whose origin was removed: %v", err)
	}
	must(t, program.Write(t.Context(), websocket.MessageText, []byte(`{"id":1,"do":"hello"}`)))
	if _, _, err := program.Read(t.Context()); err != nil {
		t.Errorf("the connection of a program: %v", err)
	}
}

// TestAPageThatMayConnectReadsWhatItIsAnswered checks the CORS headers and the preflight request.
func TestAPageThatMayConnectReadsWhatItIsAnswered(t *testing.T) {
	w := newTestServer(t)
	addr := w.tcp("secret", func(l *Listener) { l.Origins = NewOrigins("https://good.example") })
	ask := func(method, origin string, header ...string) *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(
			t.Context(),
			method,
			"http://"+addr+"/api/sessions?token=secret",
			http.NoBody,
		)
		if err != nil {
			t.Fatal(err)
		}
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		for _, name := range header {
			r.Header.Set(name, "POST")
		}
		r.Close = true
		answer, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := answer.Body.Close(); err != nil {
			t.Fatal(err)
		}
		return answer
	}
	const allowed, asks = "Access-Control-Allow-Origin", "Access-Control-Request-Method"
	if a := ask("GET", "https://good.example"); a.StatusCode != 200 ||
		a.Header.Get(allowed) != "https://good.example" || a.Header.Get("Vary") != "Origin" {
		t.Errorf("allowed origin: %d %v", a.StatusCode, a.Header)
	}
	if a := ask("OPTIONS", "https://good.example", asks); a.StatusCode != 204 ||
		a.Header.Get(allowed) != "https://good.example" ||
		!strings.Contains(a.Header.Get("Access-Control-Allow-Headers"), "Authorization") ||
		a.Header.Get("Access-Control-Allow-Methods") != "GET, POST, PUT, PATCH, DELETE" {
		t.Errorf("preflight of an allowed origin: %d %v", a.StatusCode, a.Header)
	}
	if a := ask("OPTIONS", "https://evil.example", asks); a.StatusCode != 403 || a.Header.Get(allowed) != "" {
		t.Errorf("refused origin: %d %v", a.StatusCode, a.Header)
	}
	if a := ask("GET", ""); a.StatusCode != 200 || a.Header.Get(allowed) != "" {
		t.Errorf("no origin: %d %v", a.StatusCode, a.Header)
	}
	if a := ask("OPTIONS", "", asks); a.StatusCode == 204 {
		t.Errorf("preflight without an origin: %d", a.StatusCode)
	}
}

func TestNothingRedirects(t *testing.T) {
	w := newTestServer(t)
	addr := w.tcp("secret")
	for _, path := range []string{
		"/", "/api", "/api/", "/api/sessions/", "//api/sessions", "/api//sessions", "/api/../api/sessions", "/healthz/",
		"/v1/ws/", "/v1",
		"//evil.example/", "/api/sessions/%2e%2e", "/./healthz",
	} {
		if status, _, header := get(t, addr, path, "Host: localhost", "Authorization: Bearer secret"); status != 404 ||
			header.Get("Location") != "" {
			t.Errorf("GET %s: %d to %q", path, status, header.Get("Location"))
		}
	}
}

func TestListenTCPRefusesToBeOpen(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:0", "example.com:0"} {
		l, err := ListenTCP(addr, TCPOptions{Token: "secret"})
		if !errors.Is(err, ErrExposed) {
			t.Errorf("%s: %v", addr, err)
		}
		if err == nil {
			_ = l.Close()
		}
	}
	for _, addr := range []string{"127.0.0.1", "127.0.0.1:99999", "localhost:x"} {
		if _, err := ListenTCP(addr, TCPOptions{Token: "secret"}); err == nil || errors.Is(err, ErrExposed) {
			t.Errorf("%s: %v", addr, err)
		}
	}
	if _, err := ListenTCP("127.0.0.1:0", TCPOptions{}); err == nil {
		t.Error("listens without a token")
	}
	l, err := ListenTCP("0.0.0.0:0", TCPOptions{Token: "secret", Insecure: true})
	must(t, err)
	must(t, l.Close())
}
