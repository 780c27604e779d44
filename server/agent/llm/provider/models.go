package provider

import (
	"cmp"
	_ "embed"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"agentctl/server/agent/llm/model"
)

// modelTable is written by internal/dev/modeltable.
//
//go:embed models.txt
var modelTable string

// A Known is what the table or the configuration says about a model. Zero values are not known.
type Known struct {
	ModelConfig

	Efforts []string // of reasoning, the least first
}

// A knownProvider is the models of a provider in the table.
type knownProvider struct {
	address string // empty: of the preset
	names   []string
	models  map[string]Known
}

// table reads modelTable on first use.
var table = sync.OnceValue(func() map[string]*knownProvider {
	providers := map[string]*knownProvider{}
	var p *knownProvider
	for line := range strings.Lines(modelTable) {
		f := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "["):
			name, address, _ := strings.Cut(strings.Trim(line, "[]\n"), " ")
			p = &knownProvider{address: address, models: map[string]Known{}}
			providers[name] = p
		default:
			numbers := make([]float64, 6)
			for i := range numbers {
				numbers[i], _ = strconv.ParseFloat(f[i+1], 64) // the generator wrote it, and a test reads it
			}
			k := Known{ModelConfig: ModelConfig{Window: int64(numbers[0]), MaxOutput: int64(numbers[1])}}
			if numbers[2] > 0 || numbers[5] > 0 {
				k.Price = &model.Price{Input: numbers[2], Cached: numbers[3], Written: numbers[4], Output: numbers[5]}
			}
			if len(f) > 7 {
				k.Efforts = strings.Split(f[7], ",")
			}
			p.names = append(p.names, f[0])
			p.models[f[0]] = k
		}
	}
	return providers
})

// TableVersion names the source of the table of models.
func TableVersion() string {
	source, _, _ := strings.Cut(strings.TrimPrefix(modelTable, "# "), ":")
	return source
}

// release matches the end of a model's name that names its release.
var release = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`-(latest|20[0-9]{6}|20[0-9]{2}-[0-9]{2}-[0-9]{2})$`)
})

// find returns a model of the table, of any release if there is none with the name.
func (p *knownProvider) find(id string) (Known, bool) {
	if k, ok := p.models[id]; ok {
		return k, true
	}
	for i := len(p.names) - 1; i >= 0; i-- { // the newest first
		if release().ReplaceAllString(p.names[i], "") == release().ReplaceAllString(id, "") {
			return p.models[p.names[i]], true
		}
	}
	return Known{}, false
}

// listed returns the models that the table has of the provider at an address; nil: none.
func (c *Config) listed(name string) *knownProvider {
	if p := table()[name]; p != nil && c.BaseURL == presets[name].BaseURL && presets[name].API != "" {
		return p
	}
	for _, p := range table() {
		if p.address != "" && p.address == strings.TrimSuffix(c.BaseURL, "/") {
			return p
		}
	}
	return nil
}

// Known returns what is known about a model. What the configuration says has precedence. At an address that is not
// the provider's own, the table is good for the context and the efforts, but not for the price.
func (s Set) Known(r Reference) Known {
	c, _ := s.Find(r.Provider)
	var k Known
	if p := c.listed(r.Provider); p != nil {
		k, _ = p.find(r.Model)
	} else if p := table()[c.API]; p != nil {
		k, _ = p.find(r.Model)
		k.Price = nil
	}
	k.MaxOutput = maxOutput(&c, &k)
	own := c.Models[r.Model]
	k.Window = cmp.Or(own.Window, k.Window, familyWindow(r.Model))
	k.MaxOutput = cmp.Or(own.MaxOutput, k.MaxOutput)
	k.Price = cmp.Or(own.Price, k.Price)
	return k
}

// maxOutput returns the limit of a response, for the API that wants one; 0: the default. The context has
// room for it.
func maxOutput(c *Config, k *Known) int64 {
	const usual = 32_000
	if c.API != Anthropic {
		return 0
	}
	return min(k.MaxOutput, max(usual, k.Window/8))
}
