package provider

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"agentctl/server/agent/llm/model"
)

// The APIs.
const (
	OpenAI    = "openai" // Responses
	Anthropic = "anthropic"
	Google    = "google"
	Chat      = "chat" // chat completions
)

// A Config is the configuration of a provider. For a preset, only fields that are set replace the
// preset's.
type Config struct {
	API        string                 `json:"api"`         // openai (Responses), anthropic, google or chat
	BaseURL    string                 `json:"base_url"`    // address of the API
	KeyEnv     string                 `json:"key_env"`     // the variable that holds the key
	KeyCommand []string               `json:"key_command"` // a program and arguments; it prints the key
	Headers    map[string]string      `json:"headers"`     // of requests; ${NAME} is a variable
	Models     map[string]ModelConfig `json:"models"`      // facts about models
}

// A ModelConfig describes a model. All fields are optional.
type ModelConfig struct {
	Window    int64        `json:"window"`     // tokens of its context
	MaxOutput int64        `json:"max_output"` // tokens of a response
	Price     *model.Price `json:"price"`      // of a million tokens
}

// presets are the providers that need no configuration other than a key, if any.
var presets = map[string]Config{
	"anthropic":  {API: Anthropic, KeyEnv: "ANTHROPIC_API_KEY"},
	"google":     {API: Google, KeyEnv: "GEMINI_API_KEY"},
	"llamacpp":   {API: Chat, BaseURL: "http://localhost:8080/v1"},
	"ollama":     {API: Chat, BaseURL: "http://localhost:11434/v1"},
	"openai":     {API: OpenAI, KeyEnv: "OPENAI_API_KEY"},
	"openrouter": {API: Chat, BaseURL: "https://openrouter.ai/api/v1", KeyEnv: "OPENROUTER_API_KEY"},
	"vllm":       {API: Chat, BaseURL: "http://localhost:8000/v1"},
}

// Check returns the first invalid value.
func (c *Config) Check(name string) error {
	_, preset := presets[name]
	switch {
	case c.API == "" && !preset:
		return errors.New("api: want openai, anthropic, google or chat")
	case c.API != "" && apis[c.API] == nil:
		return fmt.Errorf("api: invalid value %q: want openai, anthropic, google or chat", c.API)
	}
	if strings.ContainsAny(name, "/:") || name == "" {
		return fmt.Errorf("invalid name %q of a provider", name)
	}
	if c.API == Chat && !preset && c.BaseURL == "" {
		return errors.New("base_url: an API of type chat needs one")
	}
	if u, err := url.Parse(c.BaseURL); c.BaseURL != "" &&
		(err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil) {
		return errors.New("base_url: want https://HOST/… or http://HOST/…, without a password")
	}
	if c.KeyEnv != "" && len(c.KeyCommand) > 0 {
		return errors.New("key_env and key_command exclude each other")
	}
	if strings.ContainsAny(c.KeyEnv, "=$ ") {
		return errors.New("key_env: want the name of a variable, not the key")
	}
	if c.KeyCommand != nil && (len(c.KeyCommand) == 0 || c.KeyCommand[0] == "") {
		return errors.New("key_command: want a program and its arguments")
	}
	for _, header := range slices.Sorted(maps.Keys(c.Headers)) {
		if header == "" || strings.ContainsAny(header, ": \r\n") || strings.ContainsAny(c.Headers[header], "\r\n") {
			return fmt.Errorf("headers: invalid header %q", header)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(c.Models)) {
		m := c.Models[id]
		if id == "" || m.Window < 0 || m.MaxOutput < 0 {
			return fmt.Errorf("models.%s: window and max_output must be positive", id)
		}
		if p := m.Price; p != nil && min(p.Input, p.Cached, p.Written, p.Output) < 0 {
			return fmt.Errorf("models.%s.price: must be positive", id)
		}
	}
	return nil
}

// A Set is the configured providers by name. Presets belong to every set.
type Set map[string]Config

// Names lists the providers.
func (s Set) Names() []string {
	names := map[string]bool{}
	for name := range presets {
		names[name] = true
	}
	for name := range s {
		names[name] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// Find returns the configuration of a provider, with the values of its preset.
func (s Set) Find(name string) (Config, bool) {
	c, configured := s[name]
	p, preset := presets[name]
	if c.API == "" {
		c.API = p.API
	}
	if c.BaseURL == "" {
		c.BaseURL = p.BaseURL
	}
	if c.KeyEnv == "" && c.KeyCommand == nil && (c.BaseURL == p.BaseURL || !configured) {
		c.KeyEnv = p.KeyEnv // the key of a preset goes to its own address only
	}
	return c, configured || preset
}

// require is Find, with an error for an unknown provider.
func (s Set) require(name string) (Config, error) {
	c, ok := s.Find(name)
	if !ok {
		return c, fmt.Errorf("unknown provider %q", name)
	}
	return c, nil
}
