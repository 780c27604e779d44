package agents

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"agentctl/server/agent/llm/provider"
	"agentctl/server/agent/mcp"
)

// probeTimeout bounds one attempt to connect to an MCP server.
const probeTimeout = 14 * time.Second

// A Readiness says whether a part of the configuration can be used on this machine.
type Readiness struct {
	Name   string
	Ready  bool
	Detail string // for people; never a key
}

// Providers returns the readiness of the configured providers of models, and of the presets that
// need only a key.
func (x *Inspector) Providers() (list []Readiness) {
	names := slices.Collect(maps.Keys(x.Registry.Providers))
	for _, name := range []string{"anthropic", "google", "openai", "openrouter"} {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if !slices.Contains(names, "ollama") && x.Registry.Providers.AddressSource("ollama", x.Env) != "" {
		names = append(names, "ollama")
	}
	slices.Sort(names)
	for _, name := range names {
		r := Readiness{Name: name, Ready: true, Detail: "key: " + x.Registry.Providers.KeySource(name)}
		if err := x.Registry.Providers.Ready(name, x.Env); err != nil {
			r.Ready, r.Detail = false, "no key: "+err.Error()
		} else if x.Registry.Providers.ShortKey(name, x.Env) {
			r.Detail += ", which is too short to be hidden in errors and logs"
		}
		if address := x.Registry.Providers.AddressSource(name, x.Env); address != "" {
			r.Detail += "; address: " + address
		}
		list = append(list, r)
	}
	return list
}

// ModelTable describes the table of models in force.
func ModelTable() string { return "contexts and prices from " + provider.TableVersion() }

// MCPPrograms returns the readiness of the configured MCP servers without connecting to them:
// whether their programs are installed and their variables set.
func (x *Inspector) MCPPrograms() (list []Readiness) {
	for _, name := range slices.Sorted(maps.Keys(x.Registry.MCP)) {
		s := x.Registry.modelServer(name, nil, x.Env)
		r := Readiness{Name: name, Ready: s.Problem == "", Detail: s.Problem}
		switch {
		case !r.Ready:
		case s.Command == nil:
			r.Detail = "by HTTP" // its URL may hold a key
		default:
			r.Detail = s.Command[0]
			if _, err := x.LookPath(s.Command[0]); err != nil {
				r.Ready, r.Detail = false, s.Command[0]+" not found: install it, or put it on the server's PATH"
			}
		}
		list = append(list, r)
	}
	return list
}

// MCPServers connects to the configured MCP servers, to all at the same time. Their programs get
// the variables of this process.
func (x *Inspector) MCPServers(ctx context.Context, cwd string) []Readiness {
	names := slices.Sorted(maps.Keys(x.Registry.MCP))
	list := make([]Readiness, len(names))
	var group sync.WaitGroup
	for i, name := range names {
		group.Go(func() {
			s := x.Registry.modelServer(name, nil, x.Env)
			s.StartTimeout = probeTimeout
			p, err := mcp.Probe(ctx, s, cwd)
			r := Readiness{Name: name, Ready: err == nil}
			r.Detail = fmt.Sprintf("%d tools, %d prompts", p.Tools, p.Prompts)
			if err != nil {
				r.Detail = err.Error()
			} else if p.LeftOut != "" {
				r.Detail += "; left out: " + p.LeftOut
			}
			list[i] = r
		})
	}
	group.Wait()
	return list
}

// AddressVariables returns the variables of addresses of providers of models.
func AddressVariables() []string { return provider.AddressVariables() }
