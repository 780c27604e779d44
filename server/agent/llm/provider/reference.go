package provider

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"agentctl/server/agent/llm/model"
)

// A Reference names a model of a provider.
type Reference struct {
	Provider string
	Model    string
}

func (r Reference) String() string { return r.Provider + "/" + r.Model }

// byName tells the provider of a model from its name.
var byName = []struct {
	name     *regexp.Regexp
	provider string
}{
	{regexp.MustCompile(`^claude-`), "anthropic"},
	{regexp.MustCompile(`^gemini-`), "google"},
	{regexp.MustCompile(`^(gpt-[0-9]|o[1-9](-|$)|chatgpt-|codex-)`), "openai"},
}

// Parse reads the name of a model: PROVIDER/MODEL, the name of a model that a configured provider
// lists, or one that tells its provider.
func (s Set) Parse(text string) (Reference, error) {
	if name, id, ok := strings.Cut(text, "/"); ok && id != "" {
		if _, known := s.Find(name); known {
			return Reference{name, id}, nil
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s)) {
		if _, ok := s[name].Models[text]; ok {
			return Reference{name, text}, nil
		}
	}
	for _, n := range byName {
		if n.name.MatchString(text) {
			return Reference{n.provider, text}, nil
		}
	}
	return Reference{}, fmt.Errorf("unknown model %q: want PROVIDER/MODEL with one of the providers %s",
		text, strings.Join(s.Names(), ", "))
}

// windows are the contexts of families of models, in tokens. The configuration has the last word.
var windows = []struct {
	name   *regexp.Regexp
	tokens int64
}{
	{regexp.MustCompile(`^claude-`), 200_000},
	{regexp.MustCompile(`^gpt-[5-9]`), 272_000},
	{regexp.MustCompile(`^(gpt-4|o[1-9])`), 128_000},
	{regexp.MustCompile(`^gemini-`), 1_048_576},
}

// window returns the context of a model, or 0 if it is not known.
func window(id string, c ModelConfig) int64 {
	if c.Window > 0 {
		return c.Window
	}
	for _, w := range windows {
		if w.name.MatchString(id) {
			return w.tokens
		}
	}
	return 0
}

// Open returns a model. The key and the variables of headers are read now.
func (s Set) Open(r Reference, keys *Keys) (model.Backend, error) {
	c, ok := s.Find(r.Provider)
	if !ok {
		return model.Backend{}, fmt.Errorf("unknown provider %q", r.Provider)
	}
	m, err := c.open(r, keys)
	if err != nil {
		return model.Backend{}, err
	}
	known := c.Models[r.Model]
	return model.Backend{Model: m, Window: window(r.Model, known), MaxOut: known.MaxOutput, Price: known.Price}, nil
}
