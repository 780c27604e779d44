package e2e

import (
	"bufio"
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	registry "agentctl/internal/agents"
	"agentctl/internal/dev/fakemodel"
	"agentctl/protocol"
	"agentctl/server/agent/llm"
	"agentctl/server/agent/llm/provider"
	"agentctl/server/session"
	"agentctl/wsclient"
)

// A firstToken measures the time to the first text of a model, which answers immediately: by a
// request alone, and at a subscriber of a session.
type firstToken struct {
	b       testing.TB
	model   string // address
	client  *wsclient.Client
	session string
	first   chan time.Time // of the first text of each turn
	ended   chan struct{}  // a turn ended
	stop    func()         // ends following the session
}

func newFirstToken(b *testing.B) *firstToken {
	fake := httptest.NewServer(fakemodel.New(fakemodel.Say("Hello", " there.")))
	b.Cleanup(func() { fake.CloseClientConnections(); fake.Close() })
	b.Setenv("MODEL_KEY", "key")
	of := &registry.Registry{
		Providers:  registry.Providers{"fake": {API: provider.Anthropic, BaseURL: fake.URL, KeyEnv: "MODEL_KEY"}},
		Configured: map[string]registry.Config{"main": {Config: llm.Config{Model: "fake/claude-opus-5"}}},
	}
	x := newBenchServer(b, b.TempDir(), func(c *session.Config) { c.Agents = of })
	f := &firstToken{
		b: b, client: x.client, first: make(chan time.Time, 1), ended: make(chan struct{}, 1),
		stop:  func() {},
		model: fake.URL,
	}
	return f
}

// open creates a session and makes its first turn, which starts the agent.
func (f *firstToken) open() {
	f.b.Helper()
	f.stop()
	ctx, stop := context.WithCancel(f.b.Context())
	f.stop = stop
	f.session = do[protocol.CreateResult](f.b, f.client, protocol.DoCreate, "", protocol.CreateData{
		CWD: f.b.TempDir(),
	}).Session
	attached := make(chan struct{})
	go f.follow(f.client.Subscribe(f.session, wsclient.SubscribeOptions{}).Events(ctx), attached)
	<-attached
	f.turn()
}

// follow reads the events of a session as a client does.
func (f *firstToken) follow(events iter.Seq2[wsclient.Item, error], attached chan<- struct{}) {
	waiting := true
	for it, err := range events {
		if err != nil {
			return // another session is followed
		}
		if it.Attached != nil {
			close(attached)
		}
		if it.Event == nil {
			continue
		}
		switch it.Event.Type {
		case protocol.TextDelta:
			if waiting {
				waiting = false
				f.first <- time.Now()
			}
		case protocol.TurnEnded:
			waiting = true
			f.ended <- struct{}{}
		}
	}
}

// request returns the time of a request alone.
func (f *firstToken) request() (first time.Duration) {
	f.b.Helper()
	began := time.Now()
	r, err := http.Post(f.model+"/v1/messages", "application/json", strings.NewReader( //nolint:noctx // ends with the fake model
		`{"model":"claude-opus-5","max_tokens":1000,"stream":true,"messages":[{"role":"user","content":"Hello?"}]}`))
	if err != nil {
		f.b.Fatal(err)
	}
	defer r.Body.Close()
	for lines := bufio.NewScanner(r.Body); lines.Scan(); {
		if first == 0 && strings.Contains(lines.Text(), `"content_block_delta"`) {
			first = time.Since(began)
		}
	}
	if first == 0 {
		f.b.Fatalf("a request alone: status %s and no text", r.Status)
	}
	return first
}

// turn returns the time of a message of the session.
func (f *firstToken) turn() time.Duration {
	f.b.Helper()
	began := time.Now()
	do[protocol.SendResult](f.b, f.client, protocol.DoSend, f.session, protocol.SendData{Text: "Hello?"})
	first := (<-f.first).Sub(began)
	<-f.ended
	return first
}

// BenchmarkFirstTokenAtASubscriber compares the time from a message to the first text at a
// subscriber with the time of a request alone, in turn. The difference is what agentctl adds: two
// commits, the agent and two ways over the socket.
func BenchmarkFirstTokenAtASubscriber(b *testing.B) {
	f := newFirstToken(b)
	f.request()
	var bare, all []time.Duration
	for b.Loop() {
		if len(all)%20 == 0 { // the conversation stays short
			f.open()
		}
		bare, all = append(bare, f.request()), append(all, f.turn())
	}
	for _, x := range []struct {
		name string
		at   float64
	}{{"median", 0.5}, {"p90", 0.9}} {
		alone, whole := quantile(bare, x.at), quantile(all, x.at)
		b.ReportMetric(float64((whole - alone).Microseconds()), fmt.Sprintf("µs-overhead-%s", x.name))
		b.ReportMetric(float64(alone.Microseconds()), fmt.Sprintf("µs-request-%s", x.name))
	}
}

func quantile(list []time.Duration, at float64) time.Duration {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[int(float64(len(sorted)-1)*at)]
}
