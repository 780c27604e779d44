package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
	"agentctl/server/login"
)

// Requests that never end, of senders that are not known, keep no other client out and hold few
// connections of the server.
func TestUnfinishedRequestsKeepNobodyOut(t *testing.T) {
	const attackers = 1000 // more than connections of all kinds
	w := newProtectedServer(t, withLimits(Limits{Connections: 400}))
	addr := w.tcp("secret")
	requests := []string{
		"",
		"GET / HT",
		"GET /v1/ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: webso",
		"POST " + login.Path + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{\"username\":",
		"POST " + login.Path + " HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"us",
		"POST /api/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{",
		"GET /dialect/sandcastle?token=wrong HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n",
	}
	var dial net.Dialer
	var mu sync.Mutex
	var conns []net.Conn
	var all sync.WaitGroup
	for worker := range 50 {
		all.Go(func() {
			for i := range attackers / 50 {
				c, err := dial.DialContext(t.Context(), "tcp", addr)
				if err != nil {
					t.Errorf("attacker %d: %v", worker*100+i, err)
					return
				}
				_, _ = c.Write([]byte(requests[(worker+i)%len(requests)])) // the server may have closed it
				mu.Lock()
				conns = append(conns, c)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	defer func() {
		for _, c := range conns {
			_ = c.Close()
		}
	}()
	if status, code, _ := get(t, addr, "/api/sessions?token=secret", "Host: localhost"); status != http.StatusOK {
		t.Errorf("with the token: %d %s", status, code)
	}
	ok[protocol.ListResult](w.testServer.dial(), protocol.DoList, "", nil)
	a := w.server.admission
	a.mu.Lock()
	defer a.mu.Unlock()
	if n := a.unknown.Len(); n > a.limits.Unauthenticated {
		t.Errorf("the server holds %d connections of unknown senders", n)
	}
}

// A body that does not come ends its request, before and after authentication.
func TestABodyHasADeadline(t *testing.T) {
	for _, path := range []string{
		login.Path, "/api/sessions", "/v1/ws?token=secret", "/dialect/agentloop?token=secret",
	} {
		bubble(t, func(t *testing.T, w *testServer) {
			pipe := NewPipe()
			pipe.Listener.Token = "secret"
			w.serve(pipe.Listener)
			c, err := pipe.Dial(t.Context())
			must(t, err)
			defer c.Close()
			closed := make(chan time.Duration, 1)
			go func() {
				begun := time.Now()
				r := bufio.NewReader(c)
				for {
					if _, err := r.ReadByte(); err != nil {
						closed <- time.Since(begun)
						return
					}
				}
			}()
			_, err = fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{", path)
			must(t, err)
			if d := <-closed; d > bodyTimeout+time.Second {
				t.Errorf("%s: closed after %v", path, d)
			}
		})
	}
}

// One user's connections leave room for other users, and all users' connections leave room for the
// owner.
func TestConnectionsOfOneSenderAreBounded(t *testing.T) {
	a := newAdmission(Limits{Connections: 6, PerSender: 4, Reserve: 2, Unauthenticated: 2})
	var sockets []*socket
	admit := func(sender string, privileged bool) protocol.Code {
		c, _ := net.Pipe()
		s := a.add(c)
		err := a.admit(s, sender, privileged)
		if err != nil {
			_ = s.Close()
			return err.Code
		}
		sockets = append(sockets, s)
		return ""
	}
	for i, c := range []struct {
		sender     string
		privileged bool
		want       protocol.Code
	}{
		{"ann", false, ""},
		{"ann", false, ""},
		{"ann", false, ""},
		{"ann", false, ""},
		{"ann", false, protocol.CodeConnectionLimit},
		{"bob", false, ""},
		{"owner", true, ""},
		{"bob", false, protocol.CodeConnectionLimit},
		{"owner", true, ""},
		{"owner", true, ""},
		{"owner", true, protocol.CodeConnectionLimit},
	} {
		if got := admit(c.sender, c.privileged); got != c.want {
			t.Errorf("connection %d, of %s: %q, want %q", i, c.sender, got, c.want)
		}
	}
	if err := a.admit(sockets[0], "ann", false); err != nil {
		t.Errorf("a further request of a connection: %v", err)
	}
	for _, s := range sockets {
		must(t, s.Close())
		_ = s.Close() // counts once
	}
	if a.known != 0 || len(a.bySender) != 0 || a.unknown.Len() != 0 {
		t.Errorf("after all are closed: %d, %v, %d", a.known, a.bySender, a.unknown.Len())
	}
}

func TestTheOldestConnectionOfUnknownSendersIsClosed(t *testing.T) {
	a := newAdmission(Limits{Connections: 6, PerSender: 4, Unauthenticated: 2})
	var clients []net.Conn
	add := func() *socket {
		client, server := net.Pipe()
		clients = append(clients, client)
		return a.add(server)
	}
	first := add()
	if err := a.admit(first, "ann", false); err != nil { // known: not closed
		t.Fatal(err)
	}
	for range 3 {
		add()
	}
	open := func(c net.Conn) bool {
		_ = c.SetReadDeadline(time.Now().Add(time.Millisecond)) // fails when closed
		_, err := c.Read(make([]byte, 1))
		var timeout net.Error
		return errors.As(err, &timeout) && timeout.Timeout()
	}
	for i, want := range []bool{true, false, true, true} {
		if got := open(clients[i]); got != want {
			t.Errorf("connection %d is open: %t, want %t", i, got, want)
		}
	}
}

// A stream outlives the deadline of its request's body.
func TestAStreamOutlivesTheDeadlineOfItsBody(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		id := w.dial().create("")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet,
			"http://server/api/sessions/"+id+"/events", strings.NewReader(" "))
		must(t, err)
		resp, err := httpClient(w.pipe.Dial).Do(req)
		must(t, err)
		defer resp.Body.Close()
		ended := make(chan error, 1)
		go func() {
			_, err := bufio.NewReader(resp.Body).ReadString(0)
			ended <- err
		}()
		time.Sleep(10 * bodyTimeout)
		synctest.Wait()
		select {
		case err := <-ended:
			t.Errorf("the stream ended: %v", err)
		default:
		}
		cancel()
		<-ended
	})
}
