package provider

import (
	"strings"
	"testing"

	"agentctl/internal/dev/fakemodel"
)

func TestAModelIsFoundByItsName(t *testing.T) {
	s := Set{"mine": {API: Chat, Models: map[string]ModelConfig{"special": {}, "a/b": {}}}}
	for text, want := range map[string]string{
		"claude-opus-5": "anthropic/claude-opus-5", "gpt-5.5": "openai/gpt-5.5", "o3": "openai/o3",
		"gemini-3-pro": "google/gemini-3-pro", "special": "mine/special", "a/b": "mine/a/b",
		"mine/x": "mine/x", "openrouter/deepseek/v3": "openrouter/deepseek/v3",
		"llama": "", "": "", "mine/": "", "other/x": "",
	} {
		r, err := s.Parse(text)
		if want == "" {
			if err == nil || !strings.Contains(err.Error(), "openrouter") {
				t.Errorf("%q: %v, %v", text, r, err)
			}
			continue
		}
		if err != nil || r.String() != want {
			t.Errorf("%q: %v, %v", text, r, err)
		}
	}
}

// The key that belongs to a preset is not sent to an address that the configuration sets.
func TestTheKeyOfAPresetStaysAtItsAddress(t *testing.T) {
	env := func(string) string { return testKey }
	for name, c := range map[string]struct {
		config Config
		sent   bool
	}{
		"another address":                {Config{BaseURL: "https://other.example/v1"}, false},
		"another address, named key":     {Config{BaseURL: "https://other.example/v1", KeyEnv: "MINE"}, true},
		"the address of the preset":      {Config{Models: map[string]ModelConfig{"m": {}}}, true},
		"the address of the preset, set": {Config{BaseURL: "https://openrouter.ai/api/v1"}, true},
	} {
		seen := &headerRecorder{base: fakemodel.New(fakemodel.Say("ok"))}
		m, err := Set{"openrouter": c.config}.Open(Reference{"openrouter", "m"}, &Keys{Env: env, Base: seen})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Stream(t.Context(), ask("x"), ignore); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(seen.text, testKey) != c.sent {
			t.Errorf("%s: %s", name, seen.text)
		}
	}
}

func TestAKeyComesFromAProgram(t *testing.T) {
	for name, c := range map[string]struct {
		command []string
		want    string // in the error; empty: the key is printed
	}{
		"printed":       {[]string{"echo", " k-1 "}, ""},
		"nothing":       {[]string{"true"}, "printed nothing"},
		"failed":        {[]string{"sh", "-c", "echo secret-text >&2; exit 3"}, "exit status 3"},
		"several lines": {[]string{"printf", "a\nb"}, "several lines"},
		"missing":       {[]string{"/nowhere/key"}, "/nowhere/key"},
	} {
		key, err := runKeyCommand("p", c.command)
		if c.want == "" {
			if key != "k-1" || err != nil {
				t.Errorf("%s: %q, %v", name, key, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret-text") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAMissingVariableIsNamed(t *testing.T) {
	none := func(string) string { return "" }
	s := Set{"h": {API: Chat, BaseURL: "https://x.example", Headers: map[string]string{"X-Team": "${TEAM}"}}}
	for ref, want := range map[Reference]string{{"openai", "gpt"}: "OPENAI_API_KEY", {"h", "m"}: "TEAM"} {
		if _, err := s.Open(ref, &Keys{Env: none}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", ref, err)
		}
	}
}
