package provider

import (
	"strings"
	"testing"

	"agentctl/internal/dev/fakemodel"
)

// An address of an environment counts with the key of the same environment alone, and not for a provider whose
// address, headers or key the configuration sets: no key of the server goes there.
func TestAnAddressCountsWithTheKeyOfItsEnvironment(t *testing.T) {
	const base, serverKey = "https://proxy.example/v1", "sk-server-0123456789"
	for name, c := range map[string]struct {
		config Set
		env    map[string]string
		sent   string // the key at the address; empty: it does not count
	}{
		"both of the session":       {nil, map[string]string{"OPENAI_BASE_URL": base, "OPENAI_API_KEY": testKey}, testKey},
		"the key of the server":     {nil, map[string]string{"OPENAI_BASE_URL": base}, ""},
		"an empty key":              {nil, map[string]string{"OPENAI_BASE_URL": base, "OPENAI_API_KEY": " "}, ""},
		"another configured key":    {Set{"openai": {KeyEnv: "CORP"}}, map[string]string{"OPENAI_BASE_URL": base, "OPENAI_API_KEY": testKey}, ""},
		"that key of the session":   {Set{"openai": {KeyEnv: "CORP"}}, map[string]string{"OPENAI_BASE_URL": base, "CORP": testKey}, testKey},
		"a configured address":      {Set{"openai": {BaseURL: "https://corp.example/v1", KeyEnv: "CORP"}}, map[string]string{"OPENAI_BASE_URL": base, "CORP": testKey}, ""},
		"a configured key_command":  {Set{"openai": {KeyCommand: []string{"echo", serverKey}}}, map[string]string{"OPENAI_BASE_URL": base, "OPENAI_API_KEY": testKey}, ""},
		"a header with a secret":    {Set{"openai": {Headers: map[string]string{"X": "${TEAM}"}}}, map[string]string{"OPENAI_BASE_URL": base, "OPENAI_API_KEY": testKey}, ""},
		"a password in the address": {nil, map[string]string{"OPENAI_BASE_URL": "https://a:b@proxy.example/v1", "OPENAI_API_KEY": testKey}, ""},
	} {
		env := func(name string) string {
			if v, ok := c.env[name]; ok {
				return v
			}
			return serverKey
		}
		seen := &headerRecorder{base: fakemodel.New(fakemodel.Say("ok"))}
		m, err := c.config.WithAddresses(c.env).Open(Reference{"openai", "gpt-5.5"}, &Keys{Env: env, Base: seen})
		if err != nil { // without a key
			continue
		}
		_, _ = m.Stream(t.Context(), ask("x"), ignore)
		if there := strings.Contains(seen.text, "proxy.example"); there != (c.sent != "") ||
			there && (!strings.Contains(seen.text, c.sent) || strings.Contains(seen.text, serverKey)) {
			t.Errorf("%s: %s", name, seen.text)
		}
	}
}

func TestAddressesOfSDKsAreRead(t *testing.T) {
	for _, c := range [][3]string{
		{"OLLAMA_HOST", "ollama", "gpu=http://gpu:11434/v1"},
		{"OLLAMA_HOST", "ollama", "0.0.0.0=http://localhost:11434/v1"},
		{"OLLAMA_HOST", "ollama", "[::1]:99=http://[::1]:99/v1"},
		{"OLLAMA_HOST", "ollama", "https://gpu.example=https://gpu.example:443/v1"},
		{"OLLAMA_HOST", "ollama", "http://gpu:8/base/=http://gpu:8/base/v1"},
		{"GOOGLE_GEMINI_BASE_URL", "google", "https://g.example=https://g.example/v1beta"},
		{"ANTHROPIC_BASE_URL", "anthropic", "https://a.example=https://a.example"},
	} {
		value, want, _ := strings.Cut(c[2], "=")
		env := map[string]string{c[0]: value, "GEMINI_API_KEY": "k", "ANTHROPIC_API_KEY": "k"}
		got, _ := Set{}.WithAddresses(env).Find(c[1])
		if got.BaseURL != want {
			t.Errorf("%s: %q, want %q", c[2], got.BaseURL, want)
		}
		s := (Set{}).AddressSource(c[1], func(n string) string { return env[n] })
		if host, by, _ := strings.Cut(s, " by "); !strings.HasPrefix(want, host) || by != c[0] {
			t.Errorf("%s: %q", c[2], s)
		}
	}
}
