//go:build linux && crash

package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"agentctl/internal/dev/testbinary"
	"agentctl/protocol"
	"agentctl/wsclient"
)

// A receiver that fails now and then, and a server that is killed again and again: each turn
// that ended is received, and a repeated notification has the id of the first.
func TestAKilledServerLosesNoNotification(t *testing.T) {
	var mu sync.Mutex
	received := map[string]string{} // by turn: the id
	rng := rand.New(rand.NewPCG(1, 1))
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var n struct {
			ID   string
			Turn struct{ ID string }
		}
		mu.Lock()
		defer mu.Unlock()
		if rng.IntN(8) == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		if err != nil || json.Unmarshal(body, &n) != nil {
			return // of a killed server
		}
		if former := received[n.Turn.ID]; former != "" && former != n.ID {
			t.Errorf("turn %s is notified of as %s and as %s", n.Turn.ID, former, n.ID)
		}
		received[n.Turn.ID] = n.ID
	}))
	defer receiver.Close()

	s := &testbinary.Server{T: t, Dir: t.TempDir()}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(s.Dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("secret", "a secret of the tests, long enough")
	write("a.script", `{"on":"*"}`+"\n"+`{"say":"{message}"}`)
	write("config", fmt.Sprintf(`{"agents": {"a": {"script": "a.script"}}, "hooks": {"x": {
		"url": %q, "secret_file": "secret", "events": ["turn.ended", "error"]}}}`, receiver.URL))
	t.Cleanup(s.KillAll)
	s.Start()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var id string
	for kill := range 4 {
		client := wsclient.New(s.URL, wsclient.Options{Name: "ann"})
		if kill == 0 {
			r, err := wsclient.Call[protocol.CreateResult](ctx, client, protocol.DoCreate, "",
				protocol.CreateData{Agent: "a"})
			if err != nil {
				t.Fatal(err)
			}
			id = r.Session
		}
		if _, err := wsclient.Call[json.RawMessage](ctx, client, protocol.DoQueueRelease, id, struct{}{}); err != nil {
			t.Log("release:", err) // nothing is held
		}
		for i := range 8 {
			text := fmt.Sprintf("%d.%d", kill, i)
			_, err := wsclient.Call[protocol.SendResult](ctx, client, protocol.DoSend, id,
				protocol.SendData{Text: text})
			if err != nil {
				t.Fatal(err)
			}
		}
		pause(ctx, time.Duration(rng.IntN(300))*time.Millisecond)
		_ = client.Close()
		s.Kill()
		s.Start()
	}
	client := wsclient.New(s.URL, wsclient.Options{Name: "ann"})
	defer client.Close()
	for missing := -1; missing != 0; pause(ctx, 50*time.Millisecond) {
		missing = 0
		page, err := wsclient.Call[protocol.HistoryResult](ctx, client, protocol.DoHistory, id,
			protocol.HistoryData{Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		for _, raw := range page.Events {
			var e protocol.Event
			if err := json.Unmarshal(raw, &e); err != nil {
				t.Fatal(err)
			}
			if e.Type == protocol.TurnEnded && received[e.Turn] == "" {
				missing++
			}
		}
		mu.Unlock()
		if ctx.Err() != nil {
			t.Fatalf("%d turns are not notified of", missing)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	t.Logf("%d turns", len(received))
	if len(received) < 4 {
		t.Errorf("only %d turns ended", len(received))
	}
}
