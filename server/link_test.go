package server

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent/process"
	"agentctl/server/hook"
)

func withHooks(hooks ...hook.Hook) func(*testServer) {
	return func(w *testServer) { w.hooks = hooks }
}

// A link is its own credential: it opens only its page. An agent gets neither.
func TestALinkNeedsNoTokenAndAnAgentMayNotUseIt(t *testing.T) {
	got := make(chan hook.Notification, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var n hook.Notification
		if b, err := io.ReadAll(r.Body); err != nil || json.Unmarshal(b, &n) != nil {
			t.Error("no notification")
		}
		got <- n
	}))
	defer receiver.Close()
	w := newTestServer(t, withHooks(hook.Hook{
		Name: "phone", URL: receiver.URL, Secret: []byte("a secret of the tests"),
		Filter: hook.Filter{Types: []string{hook.TypeRequested}}, Links: hook.Links{Base: "http://localhost"},
	}))
	tcp, err := ListenTCP("127.0.0.1:0", TCPOptions{Token: "secret"})
	must(t, err)
	base := "http://" + w.serve(tcp)
	var id string
	agents := NewPipe()
	agents.Ancestry = func(net.Conn) ([]process.Ancestor, error) { return []process.Ancestor{{Session: id}}, nil }
	w.serve(agents.Listener)
	foreign, err := ListenTCP("127.0.0.1:0", TCPOptions{Token: "secret"})
	must(t, err)
	foreign.Dialect = "myagent"
	foreignBase := "http://" + w.serve(foreign)

	user := w.dial()
	id = user.create("")
	user.ask(protocol.DoSend, id, protocol.SendData{Text: "ask"})
	var n hook.Notification
	select {
	case n = <-got:
	case <-time.After(testTimeout):
		t.Fatal("no notification")
	}
	link, err := url.Parse(n.Approval.Links["allow_once"])
	must(t, err)
	request := func(client *http.Client, method, at string) int {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, at, http.NoBody)
		must(t, err)
		answer, err := client.Do(r)
		must(t, err)
		must(t, answer.Body.Close())
		return answer.StatusCode
	}
	plain := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	agent := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return agents.Dial(ctx) },
	}}
	for _, c := range []struct {
		client     *http.Client
		method, at string
		want       int
	}{
		{agent, http.MethodGet, "http://localhost" + link.Path, 403},
		{agent, http.MethodPost, "http://localhost" + link.Path, 403},
		{plain, http.MethodPost, foreignBase + link.Path, 401},
		{plain, http.MethodGet, base + link.Path, 200},
		{plain, http.MethodGet, base + "/api/sessions", 401},
		{plain, http.MethodGet, base + hook.Path + "../api/sessions", 404},
		{plain, http.MethodGet, base + link.Path + "?token=x", 200},
		{plain, http.MethodPost, base + link.Path, 200},
		{plain, http.MethodPost, base + link.Path, 404},
	} {
		if status := request(c.client, c.method, c.at); status != c.want {
			t.Errorf("%s %s: %d, want %d", c.method, c.at, status, c.want)
		}
	}
}

// Without links no path is open.
func TestWithoutLinksNoPathIsOpen(t *testing.T) {
	w := newTestServer(t)
	tcp, err := ListenTCP("127.0.0.1:0", TCPOptions{Token: "secret"})
	must(t, err)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
		"http://"+w.serve(tcp)+hook.Path+"0123456789abcdef0123456789abcdef", http.NoBody)
	must(t, err)
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	must(t, err)
	must(t, answer.Body.Close())
	if answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("status %d", answer.StatusCode)
	}
}
