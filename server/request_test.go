package server

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
	"agentctl/server/login"
	"agentctl/server/web"
)

// send sends a request with a body and returns the status and the body of the answer.
func send(t *testing.T, client *http.Client, method, url, body string, header ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	must(t, err)
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := client.Do(r)
	must(t, err)
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	must(t, err)
	return resp.StatusCode, string(b)
}

// A page of another site changes nothing, even with the token.
func TestAForeignPageChangesNothing(t *testing.T) {
	w := newTestServer(t)
	addr := w.tcp("secret", func(l *Listener) { l.Origins = NewOrigins("https://good.example") })
	id := w.runTurn("few")
	before := w.server.hub.Sessions().List(true)
	for i := range web.Routes() {
		route := &web.Routes()[i]
		url := "http://" + addr + strings.NewReplacer("{id}", id, "{blob}", "b", "{message_id}", "m", "{request}", "r",
			"{rule}", "r", "{task}", "t", "{setting}", "model").Replace(route.Path) + "?token=secret"
		for _, header := range [][]string{
			{"Origin", "https://evil.example"},
			{"Origin", "null"},
			{"Sec-Fetch-Site", "cross-site"},
			{"Sec-Fetch-Site", "same-site"},
			{"Origin", "http://" + addr},
		} {
			if status, body := send(t, http.DefaultClient, route.Method, url, "{}", header...); status != 403 {
				t.Errorf("%s with %s: %d %s", route.Pattern(), header, status, body)
			}
		}
		preflight := []string{"Origin", "https://evil.example", "Access-Control-Request-Method", route.Method}
		if status, _ := send(t, http.DefaultClient, http.MethodOptions, url, "", preflight...); status != 403 {
			t.Errorf("preflight of %s: %d", route.Pattern(), status)
		}
		status, body := send(t, http.DefaultClient, route.Method, "http://"+addr+route.Path, "{}")
		if status != http.StatusUnauthorized {
			t.Errorf("%s without a token: %d %s", route.Pattern(), status, body)
		}
	}
	after := w.server.hub.Sessions().List(true)
	if len(after) != len(before) || after[0].Seq != before[0].Seq {
		t.Errorf("the sessions changed from %+v to %+v", before, after)
	}
	good := []string{"Origin", "https://good.example"}
	url := "http://" + addr + "/api/sessions?token=secret"
	status, body := send(t, http.DefaultClient, http.MethodPost, url, "{}", good...)
	if status != http.StatusCreated {
		t.Errorf("an allowed page: %d %s", status, body)
	}
}

func TestARequestActsAsItsSender(t *testing.T) {
	c := newProtectedServer(t)
	id := c.runTurn("few")
	_, user := c.login("the operator", "open sesame")
	url := "http://server/api/sessions/" + id + "/labels"
	for _, tt := range []struct{ token, name, want string }{
		{"house", "ada", "ada"},
		{"house", "", "anonymous"},
		{user.Access_token, "ada", "the operator"},
	} {
		labels := `{"labels":{"for":"` + strings.ReplaceAll(tt.want, " ", "-") + `"}}`
		status, text := send(t, c.http, http.MethodPut, url, labels,
			"Authorization", "Bearer "+tt.token, nameHeader, tt.name)
		if status != http.StatusOK {
			t.Fatalf("%d %s", status, text)
		}
		client := c.testServer.dial()
		client.subscribe(id, "0")
		_, before := client.waitForType(protocol.CaughtUp)
		last := before[len(before)-1]
		if last.Type != protocol.SessionUpdated || last.By == nil || last.By.Name != tt.want {
			t.Errorf("%s by %+v, want %s", last.Type, last.By, tt.want)
		}
	}
	if status, _ := send(t, c.http, http.MethodPut, url, `{"labels":{}}`, "Authorization", "Bearer house",
		nameHeader, strings.Repeat("x", maxClientName+1)); status != http.StatusBadRequest {
		t.Errorf("a long name: %d", status)
	}
}

func TestRequestsOfAConnectionAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestServer(t, withLimits(Limits{Rate: 10}))
		id := w.runTurn("few")
		dial := func(ctx context.Context, _, _ string) (net.Conn, error) { return w.pipe.Dial(ctx) }
		transport := &http.Transport{DialContext: dial}
		defer transport.CloseIdleConnections()
		client := &http.Client{Transport: transport} // one connection for all requests
		get := func() int {
			status, _ := send(t, client, http.MethodGet, "http://server/api/sessions/"+id+"/state", "")
			return status
		}
		for i := range 10 {
			if status := get(); status != http.StatusOK {
				t.Errorf("request %d: %d", i, status)
			}
		}
		if status := get(); status != http.StatusTooManyRequests {
			t.Errorf("one too many: %d", status)
		}
		time.Sleep(time.Second)
		if status := get(); status != http.StatusOK {
			t.Errorf("a second later: %d", status)
		}
	})
}

func TestACredentialOfOneSessionSendsThereAlone(t *testing.T) {
	c := newProtectedServer(t)
	mine, other := c.runTurn("few"), c.runTurn("few")
	token := madeToken(t, login.TokenRequest{Role: protocol.RoleAdmin, Session: mine, TTL: time.Hour})
	for _, tt := range []struct {
		method, path, body string
		want               int
	}{
		{"POST", "/api/sessions/" + mine + "/messages", `{"text":"few"}`, 200},
		{"GET", "/api/sessions/" + mine, "", 200},
		{"PATCH", "/api/sessions/" + mine, `{"title":"x"}`, 200},
		{"POST", "/api/sessions/" + other + "/messages", `{"text":"few"}`, 403},
		{"DELETE", "/api/sessions/" + other, "", 403},
		{"GET", "/api/sessions/" + other + "/export", "", 403},
		{"POST", "/api/sessions/" + mine + "%2f..%2f" + other + "/messages", `{"text":"few"}`, 404},
		{"POST", "/api/sessions", "{}", 403},
		{"POST", "/api/sessions/restore", "{}", 403},
		{"GET", "/api/sessions/events", "", 403},
		{"GET", "/api/search?query=x", "", 403},
	} {
		if status, body := send(t, c.http, tt.method, "http://server"+tt.path, tt.body,
			"Authorization", "Bearer "+token); status != tt.want {
			t.Errorf("%s %s: %d %s, want %d", tt.method, tt.path, status, body, tt.want)
		}
	}
}

// A wait and a stream get a complete answer from a server that stops.
func TestRequestsEndWithTheServer(t *testing.T) {
	w := newTestServer(t)
	client := httpClient(w.pipe.Dial)
	id := w.runTurn("few")
	type answer struct {
		status int
		body   string
	}
	answers := make(chan answer, 2)
	ask := func(method, path, body string) (*http.Response, error) {
		r, err := http.NewRequestWithContext(t.Context(), method, "http://server"+path, strings.NewReader(body))
		must(t, err)
		r.Header.Set("Content-Type", "application/json")
		return client.Do(r)
	}
	read := func(resp *http.Response, err error) {
		if err != nil {
			answers <- answer{0, err.Error()}
			return
		}
		defer func() { _ = resp.Body.Close() }()
		b, _ := io.ReadAll(resp.Body) // a stream is cut after its last event
		answers <- answer{resp.StatusCode, string(b)}
	}
	events, err := ask(http.MethodGet, "/api/sessions/events", "") // running when its header is here
	go read(events, err)
	go func() { read(ask(http.MethodPost, "/api/sessions/"+id+"/messages?wait=turn", `{"text":"hang"}`)) }()
	c := w.dial()
	c.subscribe(id, "")
	c.waitForType(protocol.TurnStarted)
	c.collect() // Shutdown waits for the last writes
	w.stop()
	for range 2 {
		a := <-answers
		var m web.MessageResult
		switch {
		case strings.Contains(a.body, "event: failed") && strings.Contains(a.body, `"shutting_down"`):
		case a.status == http.StatusServiceUnavailable && strings.Contains(a.body, `"shutting_down"`):
		case a.status == http.StatusOK && json.Unmarshal([]byte(a.body), &m) == nil && m.Outcome != nil:
		default:
			t.Errorf("%d %s", a.status, a.body)
		}
	}
}

func TestABodyThatDoesNotArriveIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestServer(t)
		conn, err := w.pipe.Dial(t.Context())
		must(t, err)
		_, err = io.WriteString(conn, "POST /api/sessions HTTP/1.1\r\nHost: server\r\nContent-Type: application/json\r\n"+
			"Content-Length: 1000\r\n\r\n{")
		must(t, err)
		began := time.Now()
		b, err := io.ReadAll(conn)
		must(t, err)
		if !strings.HasPrefix(string(b), "HTTP/1.1 408 ") || time.Since(began) > bodyTimeout+time.Second {
			t.Errorf("after %v: %s", time.Since(began), b)
		}
		must(t, conn.Close())
		if n := len(w.server.hub.Sessions().List(true)); n != 0 {
			t.Errorf("%d sessions", n)
		}
	})
}
