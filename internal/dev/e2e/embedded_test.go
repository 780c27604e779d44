package e2e

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"agentctl/dialect"
	"agentctl/protocol"
	"agentctl/server"
	"agentctl/server/agent/script"
	"agentctl/server/archive"
	"agentctl/server/embedded"
	"agentctl/server/session"
	"agentctl/server/sqlite"
	"agentctl/wsclient"
)

// EA-22: a server runs in this process with every dialect, and the URL alone selects it or a remote
// one.
func TestAURLSwitchesBetweenEmbeddedAndRemote(t *testing.T) {
	agents := &agents{scripts: map[string]*script.Script{}}
	agents.add(t, "main", `{"on":"*"}`, `{"say":"You text: {message}"}`)
	mock := map[string]string{"ws://localhost:12345/mock": "effectiveagent", "ws://localhost:8080": "agentloop"}
	here, err := embedded.Start(
		t.Context(), embedded.Options{Agents: agents, DefaultAgent: "main", URLs: mock, Secret: []byte("secret")},
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = here.Close() })
	there := remote(t, agents)
	ids := map[string]string{}
	for _, url := range []string{"ws://" + embedded.Host, there} {
		c := wsclient.New(url, wsclient.Options{Dial: here.Dialer(url)})
		ids[url] = do[protocol.CreateResult](t, c, protocol.DoCreate, "", protocol.CreateData{}).Session
		_ = c.Close()
	}
	// talk uses the client and does not depend on the server's location.
	talk := func(t *testing.T, name, url, id string) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if name == "agentloop" {
			url += "/" + id
		}
		c := wsclient.New(url, wsclient.Options{Name: "ann", Dialect: name, Dial: here.Dialer(url)})
		defer c.Close()
		sub := c.Subscribe(id, wsclient.SubscribeOptions{})
		defer sub.Close()
		text := ""
		for it, err := range sub.Events(ctx) {
			if err != nil {
				t.Fatal(err)
			}
			if it.Event == nil {
				continue
			}
			var d protocol.PartDeltaData
			switch it.Event.Type {
			case protocol.CaughtUp:
				if _, err := wsclient.Call[protocol.SendResult](ctx, c, protocol.DoSend, id,
					protocol.SendData{Text: "hi"}); err != nil {
					t.Fatal(err)
				}
			case protocol.TextDelta:
				_ = it.Event.Decode(&d)
				text += d.Text
			}
			if it.Event.Type == protocol.TurnEnded {
				break
			}
		}
		if text != "You text: hi" {
			t.Errorf("%s at %s: got %q", name, url, text)
		}
	}
	for base, id := range ids {
		talk(t, "", base, id)
		for _, name := range dialect.Names() {
			talk(t, name, base+"/dialect/"+name, id)
		}
	}
	for url, name := range mock {
		talk(t, name, url, ids["ws://"+embedded.Host])
	}
	if here.Dialer(there) != nil || here.Dialer("://") != nil {
		t.Error("a URL of another server is this one")
	}
	if err := errors.Join(here.Close(), here.Close()); err != nil {
		t.Error(err)
	}
	if _, err := here.Dialer("ws://" + embedded.Host)(t.Context()); err == nil {
		t.Error("a closed server was dialed")
	}
}

// remote starts a server behind a socket and returns its URL.
func remote(t *testing.T, of session.Agents) string {
	t.Helper()
	store, err := sqlite.Open(t.TempDir(), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(
		t.Context(),
		server.Config{
			Session: session.Config{
				Store: store, Agents: of, DefaultAgent: "main", Signing: archive.Signing{Secret: []byte("secret")},
			},
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(&server.Listener{Listener: ln}) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		<-served
		_ = store.Close()
	})
	return "ws://" + ln.Addr().String()
}

func TestAnEmbeddedServerLeavesNothing(t *testing.T) {
	temp, file := t.TempDir(), filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", temp)
	agents := &agents{scripts: map[string]*script.Script{}}
	for _, o := range []embedded.Options{
		{Agents: agents, URLs: map[string]string{"nowhere": ""}},
		{Agents: agents, URLs: map[string]string{"ws://x": "esperanto"}},
		{Agents: agents, Dir: file},
	} {
		if s, err := embedded.Start(t.Context(), o); err == nil {
			t.Errorf("%+v started", o)
			_ = s.Close()
		}
	}
	s, err := embedded.Start(t.Context(), embedded.Options{Agents: agents})
	if err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(temp); len(left) != 1 {
		t.Errorf("%d directories while it runs", len(left))
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(temp); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}
