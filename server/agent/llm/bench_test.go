package llm

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

	"agentctl/internal/dev/fakemodel"
	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/llm/model"
	"agentctl/server/agent/llm/provider"
)

// BenchmarkTurn compares a turn of a conversation of 200 messages with only its request: the
// difference is the agent's overhead.
func BenchmarkTurn(b *testing.B) {
	set := provider.Set{"test": {API: provider.Anthropic, BaseURL: "https://model.example", KeyEnv: "KEY"}}
	keys := &provider.Keys{Base: fakemodel.New(fakemodel.Say("ok")), Env: func(string) string { return testKey }}
	m, err := set.Open(provider.Reference{Provider: "test", Model: "claude-opus-5"}, keys)
	if err != nil {
		b.Fatal(err)
	}
	long := state{Format: stateFormat}
	for range 100 {
		long.add(model.Texts(model.User, noise(500)))
		long.add(model.Texts(model.Assistant, noise(1500)))
	}
	saved, _, err := long.encode()
	if err != nil {
		b.Fatal(err)
	}
	b.Run("request", func(b *testing.B) {
		r := &model.Request{System: fullPrompt, Messages: append(long.Conversation, model.Texts(model.User, "x"))}
		for b.Loop() {
			if _, err := m.Stream(b.Context(), r, func(model.Delta) error { return nil }); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("turn", func(b *testing.B) {
		o := Options{Name: "bench", Open: func(context.Context, string) (model.Backend, error) { return m, nil }}
		r := &recorder{}
		a, err := New(o, agent.Spec{State: saved}, r)
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			r.events = nil
			turn := agent.Turn{ID: "t", Message: protocol.Message{Text: "x"}}
			if _, err := a.Run(b.Context(), turn, r); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkFirstToken compares the time from the first text that a provider writes to the event of
// the agent with the time to the delta of a bare request.
func BenchmarkFirstToken(b *testing.B) {
	var written time.Time
	server := httptest.NewServer(fakemodel.New(func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
		written = time.Now()
		out.Text("ok")
	}))
	defer server.Close()
	set := provider.Set{"test": {API: provider.Anthropic, BaseURL: server.URL, KeyEnv: "KEY"}}
	keys := &provider.Keys{Env: func(string) string { return testKey }}
	m, err := set.Open(provider.Reference{Provider: "test", Model: "claude-opus-5"}, keys)
	if err != nil {
		b.Fatal(err)
	}
	report := func(b *testing.B, sum time.Duration) {
		b.ReportMetric(float64(sum.Microseconds())/float64(b.N), "µs/token")
	}
	b.Run("request", func(b *testing.B) {
		var sum time.Duration
		r := &model.Request{Messages: []model.Message{model.Texts(model.User, "x")}}
		for b.Loop() {
			_, err := m.Stream(b.Context(), r, func(model.Delta) error { sum += time.Since(written); return nil })
			if err != nil {
				b.Fatal(err)
			}
		}
		report(b, sum)
	})
	b.Run("agent", func(b *testing.B) {
		var sum time.Duration
		o := Options{Name: "bench", Open: func(context.Context, string) (model.Backend, error) { return m, nil }}
		for b.Loop() {
			r := &recorder{}
			r.onEmit = func(e agent.Event) {
				if e.Type == protocol.TextDelta {
					sum += time.Since(written)
				}
			}
			a, err := New(o, agent.Spec{}, r)
			if err != nil {
				b.Fatal(err)
			}
			turn := agent.Turn{ID: "t", Message: protocol.Message{Text: "x"}}
			if _, err := a.Run(b.Context(), turn, r); err != nil {
				b.Fatal(err)
			}
		}
		report(b, sum)
	})
}
