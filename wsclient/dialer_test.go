package wsclient

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"agentctl/protocol"
)

func TestURLsNameAServerAndAPath(t *testing.T) {
	for _, c := range []struct{ raw, url, socket, err string }{
		{"ws://host:1", "ws://host:1/v1/ws", "", ""},
		{"wss://host/", "wss://host/v1/ws", "", ""},
		{"http://host/other?token=t", "http://host/other?token=t", "", ""},
		{"https://host", "https://host/v1/ws", "", ""},
		{"unix:///run/a b%/s.sock", "ws://localhost/v1/ws", "/run/a b%/s.sock", ""},
		{"unix://rel.sock", "ws://localhost/v1/ws", "rel.sock", ""},
		{"ssh://ada@box", "ws://localhost/v1/ws", "ssh", ""},
		{"unix://", "", "", "socket path"},
		{"host:1", "", "", "scheme"},
		{"", "", "", "scheme"},
		{"ws:///v1/ws", "", "", "without a host"},
		{"ws://user:secret@ho st", "", "", "malformed"},
	} {
		u, socket, err := parseURL(c.raw, "", strings.HasPrefix(c.raw, "ssh:"))
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: %v", c.raw, err)
			}
		case err != nil || u.String() != c.url || socket != c.socket:
			t.Errorf("%s: %v at %q, %v", c.raw, u, socket, err)
		}
	}
}

// MA-1, MA-4: without a path the URL means the path of that system. HTTP 403 at another path is
// about the path, not about the credential.
func TestAMultiAgentURLWithoutAPathIsThatOfTheSystem(t *testing.T) {
	for url, want := range map[string]protocol.Code{
		"ws://server": protocol.CodeForbidden, "ws://server/": protocol.CodeForbidden,
		"ws://server/ws": protocol.CodeForbidden, "ws://server/socket": protocol.CodeUnsupported,
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFakeServer(t)
			defer f.close()
			asked := make(chan string, 1)
			f.setHandler(func(w http.ResponseWriter, r *http.Request) {
				asked <- r.URL.Path
				w.WriteHeader(http.StatusForbidden)
			})
			c := New(url, Options{Dialect: "multiagent", Dial: f.dial})
			defer c.Close()
			var why *ConnectError
			if err := c.Connect(t.Context()); !errors.As(err, &why) || !why.Refused() || why.Code != want {
				t.Errorf("%s: %v", url, err)
			}
			path := <-asked
			if want == protocol.CodeForbidden && path != "/ws" {
				t.Errorf("%s: dialed %s", url, path)
			}
			if text := why.Error(); want == protocol.CodeUnsupported &&
				(!strings.Contains(text, `"/socket"`) || !strings.Contains(text, "path /ws")) {
				t.Errorf("%s: %s", url, text)
			}
		})
	}
}

func TestABadURLIsARefusal(t *testing.T) {
	c := New("gopher://host", Options{})
	defer c.Close()
	var why *ConnectError
	if err := c.Connect(t.Context()); !errors.As(err, &why) || !why.Refused() {
		t.Errorf("connect: %v", err)
	}
}

func TestErrorsHoldNoCredentials(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := ln.Addr().String()
	_ = ln.Close()
	c := New("ws://ada:secret@"+at+"/?token=secret", Options{NoRetryFirst: true, Token: "secret"})
	defer c.Close()
	if err := c.Connect(t.Context()); err == nil || strings.Contains(err.Error(), "secret") ||
		!strings.Contains(err.Error(), at) {
		t.Errorf("connect: %v", err)
	}
}

func TestADialectsConnectionFollowsItsOptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeServer(t)
		defer f.close()
		asked := make(chan *http.Request, 1)
		f.setHandler(
			func(w http.ResponseWriter, r *http.Request) { asked <- r; w.WriteHeader(http.StatusUnauthorized) },
		)
		for _, o := range []Options{
			{Dialect: "klingon", Token: "secret"},
			{Dialect: "multiagent", Token: "secret", DialectOptions: map[string]string{"backoff": "never"}},
		} {
			c := f.client(o)
			var why *ConnectError
			if err := c.Connect(t.Context()); !errors.As(err, &why) || why.Code != protocol.CodeUnsupported ||
				why.URL != "the server" ||
				why.Err == nil ||
				strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: %+v", o.Dialect, why)
			}
			_ = c.Close()
		}
		for query, o := range map[string]Options{
			"token=secret": {Dialect: "multiagent", Token: "secret"},
			"":             {Dialect: "multiagent"},
		} {
			c := f.client(o)
			var why *ConnectError
			if err := c.Connect(t.Context()); !errors.As(err, &why) || why.Code != protocol.CodeUnauthorized ||
				why.URL != "ws://server/ws" {
				t.Errorf("%+v", why)
			}
			_ = c.Close()
			r := <-asked
			if r.URL.RawQuery != query || r.Header.Get("Sec-WebSocket-Protocol") != "" {
				t.Errorf("requested %s with subprotocol %q", r.URL, r.Header.Get("Sec-WebSocket-Protocol"))
			}
			if got := r.Header.Get("Authorization"); (got == "Bearer secret") != (o.Token != "") ||
				got != "" && o.Token == "" {
				t.Errorf("Authorization %q", got)
			}
		}
	})
}

func TestConnectErrorsGiveTheReason(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		code   protocol.Code
		want   string
	}{
		{403, ``, protocol.CodeForbidden, "connect to ws://server/v1/ws: HTTP 403 Forbidden"},
		{
			401, `{"error":{"code":"forbidden","message":"not you"}}`, protocol.CodeUnauthorized,
			"connect to ws://server/v1/ws: not you",
		},
		{
			503, `{"error":{"code":"shutting_down","message":"draining"}}`, protocol.CodeShuttingDown,
			"connect to ws://server/v1/ws: draining",
		},
		{502, `{"error":{"message":"no code"}}`, "", "connect to ws://server/v1/ws: HTTP 502 Bad Gateway"},
		{502, `{"error":null}`, "", "connect to ws://server/v1/ws: HTTP 502 Bad Gateway"},
	} {
		withFakeServer(t, Options{NoRetryFirst: true}, func(t *testing.T, f *fakeServer, cl *Client) {
			f.setHandler(
				func(w http.ResponseWriter, _ *http.Request) {
					w.WriteHeader(c.status)
					_,
						_ = w.Write([]byte(c.body))
				},
			)
			var why *ConnectError
			err := cl.Connect(t.Context())
			if !errors.As(err, &why) || err.Error() != c.want || why.Code != c.code || why.Status != c.status ||
				why.URL != "ws://server/v1/ws" {
				t.Errorf("%d %s: %v, %+v", c.status, c.body, err, why)
			}
			err = cl.Do(t.Context(), protocol.Command{Command: protocol.DoList}, nil)
			if err == nil || err.Error() != "list: "+c.want {
				t.Errorf("a command: %v", err)
			}
		})
	}
	withFakeServer(t, Options{NoRetryFirst: true}, func(t *testing.T, f *fakeServer, c *Client) {
		go func() { _ = f.nextConn().ws.Close(protocol.ClosePolicy, "bad token") }()
		if err := c.Connect(t.Context()); err == nil ||
			err.Error() != `connect to ws://server/v1/ws: the server closed the connection: bad token` {
			t.Errorf("closed: %v", err)
		}
	})
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		f.setDialError(errDown)
		waits := make(chan error, 1)
		go func() { waits <- c.Connect(t.Context()) }()
		time.Sleep(time.Minute)
		_ = c.Close()
		if err := <-waits; !errors.Is(err, ErrClosed) {
			t.Errorf("Connect of a closed client: %v", err)
		}
		if s := c.State(); s.Phase != PhaseClosed || !errors.Is(s.Err, ErrClosed) {
			t.Errorf("state %+v", s)
		}
	})
}

// helloHandler answers hello and pings on a real connection.
var helloHandler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{protocol.Subprotocol}})
	if err != nil {
		return
	}
	defer conn.CloseNow()
	for {
		_, line, err := conn.Read(r.Context())
		if err != nil {
			return
		}
		c, _ := protocol.DecodeCommand(line)
		answer := protocol.Answer{
			ID: c.ID, Result: protocol.MustEncode(protocol.HelloResult{Connection: r.Header.Get("Authorization")}),
		}
		if conn.Write(r.Context(), websocket.MessageText, protocol.MustEncode(answer)) != nil {
			return
		}
	}
})

func checkConnects(t *testing.T, url string, o Options) {
	t.Helper()
	o.Token, o.NoRetryFirst = "secret", true
	c := New(url, o)
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := c.Connect(ctx); err != nil {
		t.Fatal(err)
	}
	if got := c.Hello().Connection; got != "Bearer secret" {
		t.Errorf("Authorization %q", got)
	}
	if err := c.Do(ctx, protocol.Command{Command: protocol.DoPing}, nil); err != nil {
		t.Error(err)
	}
}

func TestConnectsToAUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.sock")
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: helloHandler}
	go func() { _ = server.Serve(ln) }()
	defer server.Close()
	checkConnects(t, "unix://"+path, Options{})
}

func TestConnectsOverTLS(t *testing.T) {
	server := httptest.NewUnstartedServer(helloHandler)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.EnableHTTP2 = true // the client must not use HTTP/2
	server.StartTLS()
	defer server.Close()
	roots := server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	checkConnects(t, strings.Replace(server.URL, "https", "wss", 1), Options{TLS: &tls.Config{RootCAs: roots}})

	untrusting := New(server.URL, Options{NoRetryFirst: true})
	defer untrusting.Close()
	var unknown *tls.CertificateVerificationError
	if err := untrusting.Connect(t.Context()); !errors.As(err, &unknown) {
		t.Errorf("connect without its certificate: %v", err)
	}
}

func TestAURLOfAnotherMachineIsRemote(t *testing.T) {
	for url, remote := range map[string]bool{
		"unix:///run/agentctl.sock": false, "ws://127.0.0.1:7777": false, "wss://localhost": false,
		"ws://[::1]:80": false,
		"ws://box:7777": true, "wss://10.0.0.7": true, "ssh://ada@box": true, "ssh://localhost": true,
	} {
		o := Options{}
		if strings.HasPrefix(url, "ssh:") {
			o.Dial = func(context.Context) (net.Conn, error) { return nil, net.ErrClosed }
		}
		if got := New(url, o).Remote(); got != remote {
			t.Errorf("%s is remote: %v, want %v", url, got, remote)
		}
	}
}
