package provider

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A Reference names a model of a provider.
type Reference struct {
	Provider string
	Model    string
}

func (r Reference) String() string { return r.Provider + "/" + r.Model }

// A family is models whose names match a pattern.
type family struct {
	name     *regexp.Regexp
	provider string
	tokens   int64 // of their contexts; 0: not known
}

// families maps names of models to their provider, and to the context of those that the table lacks. The first match
// counts. Compiled on first use.
var families = sync.OnceValue(func() []family {
	return []family{
		{regexp.MustCompile(`^claude-`), "anthropic", 200_000},
		{regexp.MustCompile(`^gemini-`), "google", 1_048_576},
		{regexp.MustCompile(`^gpt-[5-9]`), "openai", 272_000},
		{regexp.MustCompile(`^(gpt-4|o[1-9](-|$))`), "openai", 128_000},
		{regexp.MustCompile(`^(gpt-[0-9]|chatgpt-|codex-)`), "openai", 0},
	}
})

// Parse reads the name of a model: PROVIDER/MODEL, a model that a configured provider lists, or a
// name that implies its provider.
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
	for _, f := range families() {
		if f.name.MatchString(text) {
			return Reference{f.provider, text}, nil
		}
	}
	return Reference{}, fmt.Errorf("unknown model %q: want PROVIDER/MODEL with one of the providers %s",
		text, strings.Join(s.Names(), ", "))
}

// familyWindow returns the context of a model that the table lacks, or 0 if it is not known.
func familyWindow(id string) int64 {
	for _, f := range families() {
		if f.name.MatchString(id) {
			return f.tokens
		}
	}
	return 0
}
