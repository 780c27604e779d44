package provider

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"agentctl/server/agent/llm/model"
)

// The default models, and every line of the table, have a context, an output and names of efforts.
func TestTheTableKnowsTheModels(t *testing.T) {
	for _, ref := range []Reference{
		{"anthropic", "claude-sonnet-5-5"}, {"openai", "gpt-5.5"}, {"google", "gemini-3-pro-preview"},
	} {
		if k := (Set{}).Known(ref); k.Window < 200_000 || k.Price == nil || k.Price.Output <= k.Price.Input {
			t.Errorf("%s: %+v", ref, k)
		}
	}
	efforts := []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}
	for name, p := range table() {
		if len(p.names) == 0 || !slices.IsSorted(p.names) {
			t.Errorf("%s has %d models", name, len(p.names))
		}
		for id, k := range p.models {
			at := -1
			for _, e := range k.Efforts {
				next := slices.Index(efforts, e)
				if next <= at {
					t.Errorf("%s/%s: efforts %q", name, id, k.Efforts)
				}
				at = next
			}
			if k.Window <= 0 || k.MaxOutput <= 0 || k.Price != nil && k.Price.Cached > k.Price.Input {
				t.Errorf("%s/%s: %+v, %+v", name, id, k, k.Price)
			}
		}
	}
	if !strings.HasPrefix(TableVersion(), "charm.land/catwalk v") {
		t.Errorf("the table is of %q", TableVersion())
	}
}

// The configuration has precedence. Prices hold for the provider's own address alone.
func TestTheTableIsForTheProvidersOwnAddress(t *testing.T) {
	own := &model.Price{Input: 7}
	s := Set{
		"anthropic": {Models: map[string]ModelConfig{"claude-opus-5-5": {Window: 5000, MaxOutput: 100, Price: own}}},
		"proxy":     {API: Anthropic, BaseURL: "https://proxy.example/"},
		"seek":      {API: Chat, BaseURL: "https://api.deepseek.com/v1/"},
		"ollama":    {BaseURL: "http://gpu.example/v1"},
	}
	for _, c := range []struct {
		ref    string
		window int64
		output int64
		price  float64 // of input; 0: none
	}{
		{"anthropic/claude-opus-5-5", 5000, 100, 7},
		{"anthropic/claude-haiku-4-5", 200_000, 32_000, 1},
		{"anthropic/claude-opus-5", 1_000_000, 125_000, 5},
		{"anthropic/claude-new-9", 200_000, 0, 0},
		{"proxy/claude-opus-5", 1_000_000, 125_000, 0},
		{"seek/deepseek-v4-pro", 1_000_000, 0, 0.435},
		{"openai/gpt-5.5-2026-04-23", 1_050_000, 0, 5},
		{"ollama/qwen3", 0, 0, 0},
	} {
		ref, err := s.Parse(c.ref)
		if err != nil {
			t.Fatal(err)
		}
		k, price := s.Known(ref), 0.0
		if k.Price != nil {
			price = k.Price.Input
		}
		if k.Window != c.window || k.MaxOutput != c.output || price != c.price {
			t.Errorf("%s: %+v, price %g", c.ref, k, price)
		}
	}
}

// Each API lists its models, with its key. Without an answer they come from the table.
func TestAProviderListsItsModels(t *testing.T) {
	for _, c := range []struct {
		name   string
		config Config
		answer string
		want   []string // the first
		header string
	}{
		{
			"x",
			Config{API: Chat, BaseURL: "https://x.example/v1"},
			`{"data":[{"id":"b"},{"id":"a"},{"id":"a"}]}`,
			[]string{"a", "b"},
			"Authorization",
		},
		{"openai", Config{}, `{"data":[{"id":"gpt-5.5"},{"id":"whisper-1"}]}`, []string{"gpt-5.5"}, "Authorization"},
		{"anthropic", Config{}, `{"data":[{"id":"claude-opus-5"}]}`, []string{"claude-opus-5"}, "X-Api-Key"},
		{"google", Config{}, `{"models":[{"name":"models/gemini-2.5-pro"}]}`, []string{"gemini-2.5-pro"}, "X-Goog-Api-Key"},
		{"openai", Config{}, "", nil, "Authorization"},
	} {
		c.config.KeyEnv = "KEY"
		s := Set{c.name: c.config}
		base := answerer(func(r *http.Request) *http.Response {
			if !strings.HasSuffix(r.URL.Path, "/models") || !strings.Contains(r.Header.Get(c.header), testKey) {
				t.Errorf("%s: %s %v", c.name, r.URL, r.Header)
			}
			w := httptest.NewRecorder()
			w.Header().Set("Content-Type", "application/json")
			if c.answer == "" {
				w.WriteHeader(http.StatusUnauthorized)
			}
			_, _ = io.WriteString(w, c.answer)
			res := w.Result()
			res.Request = r
			return res
		})
		got, err := s.List(t.Context(), c.name, &Keys{Base: base, Env: func(string) string { return testKey }})
		if c.want == nil {
			c.want = table()[c.name].names
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
	}
}

type answerer func(r *http.Request) *http.Response

func (a answerer) RoundTrip(r *http.Request) (*http.Response, error) { return a(r), nil }
