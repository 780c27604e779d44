package provider

import (
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
)

// An addressVariable is the variable by which SDKs find a provider.
type addressVariable struct {
	name string
	base func(value string) string // the base_url that a value means
}

// addressVariables are the variables of the presets.
var addressVariables = map[string]addressVariable{
	"anthropic": {"ANTHROPIC_BASE_URL", strings.TrimSpace},
	"google":    {"GOOGLE_GEMINI_BASE_URL", googleBase},
	"ollama":    {"OLLAMA_HOST", ollamaBase},
	"openai":    {"OPENAI_BASE_URL", strings.TrimSpace},
}

// googleBase returns the address of the API below an address.
func googleBase(value string) string { return directory(strings.TrimSpace(value)) + "v1beta" }

// AddressVariables returns the variables of addresses, sorted.
func AddressVariables() (names []string) {
	for _, v := range addressVariables {
		names = append(names, v.name)
	}
	slices.Sort(names)
	return names
}

// ollamaBase returns the address that a host means, as ollama reads it: HOST, HOST:PORT or a URL. A server that
// listens everywhere is on this machine.
func ollamaBase(value string) string {
	value = strings.TrimSpace(value)
	scheme, rest, ok := strings.Cut(value, "://")
	if !ok {
		scheme, rest = "http", value
	}
	rest, path, _ := strings.Cut(rest, "/")
	host, port, err := net.SplitHostPort(rest)
	if err != nil {
		host, port = strings.Trim(rest, "[]"), map[string]string{"https": "443", "http": "80"}[scheme]
		if !ok {
			port = "11434"
		}
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return directory(scheme+"://"+net.JoinHostPort(host, port)+"/"+path) + "v1"
}

// WithAddresses returns the set with the addresses of an environment. One counts for a preset whose address, headers
// and key_command are not configured, and with the key of the same environment alone: no key of the server goes
// to an address of a session.
func (s Set) WithAddresses(env map[string]string) Set {
	out := maps.Clone(s)
	if out == nil {
		out = Set{}
	}
	for name := range addressVariables {
		if base, _ := s.address(name, env); base != "" {
			c, _ := s.Find(name)
			c.BaseURL = base
			out[name] = c
		}
	}
	return out
}

// address returns the address of a provider in an environment; empty: none that counts. why says why it does not.
func (s Set) address(name string, env map[string]string) (base, why string) {
	v := addressVariables[name]
	if v.name == "" || strings.TrimSpace(env[v.name]) == "" {
		return "", ""
	}
	c, _ := s.Find(name)
	base = v.base(env[v.name])
	u, err := url.Parse(base)
	switch own := s[name]; {
	case own.BaseURL != "" || own.KeyCommand != nil || own.Headers != nil:
		return "", "the configuration has precedence"
	case c.KeyEnv != "" && strings.TrimSpace(env[c.KeyEnv]) == "":
		return "", c.KeyEnv + " is not set beside it"
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil:
		return "", "it is no URL"
	}
	return base, ""
}

// AddressSource describes the address of a provider in an environment, for people; empty: the provider's own.
func (s Set) AddressSource(name string, env func(string) string) string {
	v, c := addressVariables[name], s[name]
	values := map[string]string{v.name: env(v.name)}
	if p, _ := s.Find(name); p.KeyEnv != "" {
		values[p.KeyEnv] = env(p.KeyEnv)
	}
	base, why := s.address(name, values)
	switch {
	case base != "":
		return shown(base) + " by " + v.name
	case why != "":
		return v.name + " does not count: " + why
	case c.BaseURL != "":
		return shown(c.BaseURL)
	}
	return ""
}

// shown returns the scheme and the host of an address. The rest may have a secret.
func shown(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "?"
	}
	return u.Scheme + "://" + u.Host
}

// AddressVariable returns the variable of the address to which the key in a variable goes; empty: none.
func (s Set) AddressVariable(key string) string {
	for name, v := range addressVariables {
		if c, _ := s.Find(name); c.KeyEnv == key && key != "" {
			return v.name
		}
	}
	return ""
}
