package agents

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/llm"
	"agentctl/server/agent/llm/model"
	"agentctl/server/agent/llm/provider"
	"agentctl/server/policy"
)

const (
	// LLM is the agent that requests a model itself: of the first provider that has a key.
	LLM = "llm"

	// LLMScheme begins the name of that agent with a model: "llm:PROVIDER/MODEL".
	LLMScheme = "llm:"
)

// Providers are the configured providers of models by name.
type Providers = provider.Set

// defaultModels are the models of the agent LLM, in the order in which a key is looked for.
var defaultModels = []struct{ provider, model string }{
	{"anthropic", "claude-sonnet-5-5"}, {"openai", "gpt-5.5"}, {"google", "gemini-3-pro-preview"},
}

// errNoKey is the error of the agent LLM when no provider has a key.
var errNoKey = errors.New("no key of a model provider: set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY")

// model returns how to run an agent that requests a model itself.
func (r *Registry) model(name string, env func(string) string) (c llm.Config, ok bool, err error) {
	if c, configured := r.Configured[name]; configured {
		return c.Config, c.Model != "", nil
	}
	if name == LLM {
		for _, d := range defaultModels {
			if r.Providers.Ready(d.provider, env) == nil {
				return llm.Config{Model: d.provider + "/" + d.model}, true, nil
			}
		}
		return llm.Config{}, true, errNoKey
	}
	text, ok := strings.CutPrefix(name, LLMScheme)
	return llm.Config{Model: text}, ok, nil
}

// isModel reports whether an agent requests a model itself.
func (r *Registry) isModel(name string) bool {
	_, ok, _ := r.model(name, func(string) string { return "" })
	return ok
}

// openModel opens an agent that requests a model itself.
func (r *Registry) openModel(name string, spec agent.Spec, host agent.Host) (agent.Agent, error) {
	variables := r.variables(name, &spec)
	env := provider.Environment(variables)
	c, _, err := r.model(name, env)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeAgentAuth, "%v", err)
	}
	if spec.Parent != "" { // an agent's choice does not decide for another agent
		c.Policy = policy.Ask
	}
	providers, keys := r.Providers.WithAddresses(variables), &provider.Keys{Env: env}
	return llm.New(llm.Options{
		Name: name, Config: c,
		Open: func(_ context.Context, text string) (model.Backend, error) {
			ref, err := providers.Parse(text)
			if err != nil {
				return model.Backend{}, err
			}
			return providers.Open(ref, keys)
		},
		Models: &providerModels{providers, keys},
		Toolbox: func(spec agent.Spec, host agent.Host) (llm.Toolbox, error) {
			return r.openToolbox(name, spec, host)
		},
	}, spec, host)
}

// checkModel returns the first invalid value of an agent that requests a model itself.
func (r *Registry) checkModel(c *llm.Config) error {
	names := append([]string{c.Model}, c.Models...)
	if c.Tasks.Model != "" {
		names = append(names, c.Tasks.Model)
	}
	for _, name := range names {
		if _, err := r.Providers.Parse(name); err != nil {
			return err
		}
	}
	return c.Check()
}

// CheckProviders returns the first invalid value of the providers, with its key.
func (r *Registry) CheckProviders() error {
	for _, name := range slices.Sorted(maps.Keys(r.Providers)) {
		c := r.Providers[name]
		if err := c.Check(name); err != nil {
			return fmt.Errorf("providers.%s.%w", name, err)
		}
	}
	return nil
}

// inspectModel describes an agent that requests a model itself.
func (x *Inspector) inspectModel(agent string, r Installation) Installation {
	env := func(name string) string {
		if v := x.Registry.Configured[agent].Env[name]; v != "" {
			return v
		}
		return x.Env(name)
	}
	r.Installed = true
	c, _, err := x.Registry.model(agent, env)
	if err != nil {
		r.Model, r.Login, r.LogIn = "no model", LoginMissing, err.Error()
		return r
	}
	r.Model = c.Model
	ref, err := x.Registry.Providers.Parse(c.Model)
	if err == nil {
		err = x.Registry.Providers.Ready(ref.Provider, env)
	}
	if err != nil {
		r.Login, r.LogIn = LoginMissing, err.Error()
		return r
	}
	r.Login, r.LoginBy = LoginFound, x.Registry.Providers.KeySource(ref.Provider)
	return r
}

// providerModels implements llm.Models.
type providerModels struct {
	providers Providers
	keys      *provider.Keys
}

// Efforts implements llm.Models.
func (m *providerModels) Efforts(name string) []string {
	ref, err := m.providers.Parse(name)
	if err != nil {
		return nil
	}
	return m.providers.Known(ref).Efforts
}

// SameProvider implements llm.Models.
func (m *providerModels) SameProvider(a, b string) bool {
	x, failed := m.providers.Parse(a)
	y, err := m.providers.Parse(b)
	return failed == nil && err == nil && x.Provider == y.Provider
}

// List implements llm.Models.
func (m *providerModels) List(ctx context.Context, name string) ([]string, error) {
	ref, err := m.providers.Parse(name)
	if err != nil {
		return nil, err
	}
	names, err := m.providers.List(ctx, ref.Provider, m.keys)
	for i, id := range names {
		names[i] = provider.Reference{Provider: ref.Provider, Model: id}.String()
	}
	return names, err
}
