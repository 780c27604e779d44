//go:build unix

package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// A hookReceiver is a receiver of notifications. It takes a notification once by its id, as the
// documentation says.
type hookReceiver struct {
	secret []byte

	mu      sync.Mutex
	down    bool
	refused int // while down
	seen    map[string]bool
	list    []json.RawMessage // not waited for
	problem string
}

// ServeHTTP implements http.Handler.
func (h *hookReceiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	id := r.Header.Get("Webhook-Id")
	mac := hmac.New(sha256.New, h.secret)
	fmt.Fprintf(mac, "%s.%s.%s", id, r.Header.Get("Webhook-Timestamp"), body)
	seconds, _ := strconv.ParseInt(r.Header.Get("Webhook-Timestamp"), 10, 64)
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.down:
		h.refused++
		w.WriteHeader(http.StatusInternalServerError)
	case err != nil || time.Since(time.Unix(seconds, 0)) > time.Minute ||
		r.Header.Get("Webhook-Signature") != "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)):
		h.problem = fmt.Sprintf("notification %s is not signed: %v", id, err)
		w.WriteHeader(http.StatusUnauthorized)
	case !h.seen[id]:
		h.seen[id] = true
		h.list = append(h.list, body)
	}
}

// take removes the first notification of a type.
func (h *hookReceiver) take(typ string) (json.RawMessage, string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, raw := range h.list {
		var n struct{ Type string }
		if json.Unmarshal(raw, &n) == nil && n.Type == typ {
			h.list = append(h.list[:i], h.list[i+1:]...)
			return raw, h.problem
		}
	}
	return nil, h.problem
}

// receiver starts a receiver and writes its URL into a configuration, makes it fail (and waits
// until it has failed a notification) or work, or prints the next notification of a type:
// receiver start SECRET CONFIG | down | failed | up | wait TYPE
func (c *hookCommands) receiver(ts *testscript.TestScript, neg bool, args []string) {
	switch {
	case neg || len(args) == 0:
		ts.Fatalf("usage: receiver start SECRET CONFIG | down | failed | up | wait TYPE")
	case args[0] == "start":
		h := &hookReceiver{secret: []byte(strings.TrimSpace(ts.ReadFile(args[1]))), seen: map[string]bool{}}
		server := httptest.NewServer(h)
		ts.Defer(server.Close)
		c.receivers.Store(ts, h)
		ts.Defer(func() { c.receivers.Delete(ts) })
		text := strings.ReplaceAll(ts.ReadFile(args[2]), "RECEIVER", server.URL)
		ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(text), 0o600))
		return
	}
	value, _ := c.receivers.Load(ts)
	h := value.(*hookReceiver)
	switch args[0] {
	case "down", "up":
		h.mu.Lock()
		h.down, h.refused = args[0] == "down", 0
		h.mu.Unlock()
	case "failed":
		c.wait(ts, "a failed notification", func() bool {
			h.mu.Lock()
			defer h.mu.Unlock()
			return h.refused > 0
		})
	case "wait":
		c.wait(ts, args[1], func() bool {
			raw, problem := h.take(args[1])
			if problem != "" {
				ts.Fatalf("%s", problem)
			}
			fmt.Fprintf(ts.Stdout(), "%s", raw)
			return raw != nil
		})
	}
}

// hookCommands are the commands of scripts with hooks.
type hookCommands struct{ receivers sync.Map }

func (*hookCommands) wait(ts *testscript.TestScript, what string, done func() bool) {
	ctx, cancel := context.WithTimeout(context.Background(), scriptTimeout)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			ts.Fatalf("no %s", what)
		case <-tick.C:
		}
	}
}

// link requests a link at the server and requires a status: link METHOD LINK STATUS [ORIGIN]
func (*hookCommands) link(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: link METHOD LINK STATUS [ORIGIN]")
	}
	u, err := url.Parse(args[1])
	ts.Check(err)
	ctx, cancel := context.WithTimeout(context.Background(), scriptTimeout)
	defer cancel()
	at := "http" + strings.TrimPrefix(ts.Getenv("URL"), "ws") + u.Path
	r, err := http.NewRequestWithContext(ctx, args[0], at, http.NoBody)
	ts.Check(err)
	r.Host = u.Host
	if len(args) > 3 {
		r.Header.Set("Origin", args[3])
	}
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	ts.Check(err)
	body, err := io.ReadAll(answer.Body)
	ts.Check(err)
	ts.Check(answer.Body.Close())
	_, _ = ts.Stdout().Write(body)
	if got := strconv.Itoa(answer.StatusCode); got != args[2] {
		ts.Fatalf("%s %s: status %s, want %s\n%s", args[0], u.Path, got, args[2], body)
	}
}
