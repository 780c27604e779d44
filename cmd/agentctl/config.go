package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A config is the file that serve takes with --config: JSON, read strictly. Flags win over it.
type config struct {
	Agents          map[string]agentConfig `json:"agents"`
	DefaultAgent    string                 `json:"default_agent"`
	Users           string                 `json:"users"`            // path of a file of users who log in
	ApprovalTimeout duration               `json:"approval_timeout"` // 0: none
	EditHold        duration               `json:"edit_hold"`        // 0: the server's default
	StateTTL        duration               `json:"state_ttl"`        // 0: the server's default
	StateSecret     string                 `json:"state_secret"`     // signs exported states; empty: one of this data directory's own
	Sync            string                 `json:"sync"`             // normal or full
	Window          int64                  `json:"window"`           // bytes; 0: the server's default
	Limits          limitsConfig           `json:"limits"`
	Origins         []string               `json:"origins"` // of web pages that may connect; no other page may

	Dialects map[string]dialectConfig `json:"dialects"`
}

// A dialectConfig says what a dialect's names mean here.
type dialectConfig struct {
	Agents  map[string]string `json:"agents"`  // agents by the other system's domains, agents and runtime ids
	Options map[string]string `json:"options"` // the dialect's own
}

// An agentConfig says how to run a configured agent: a command that speaks the Agent Client Protocol, or a script.
type agentConfig struct {
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
	Script  string            `json:"script"` // path of a file
}

// limitsConfig bounds what clients may do; 0: the server's default.
type limitsConfig struct {
	Message  int64 `json:"message"`  // bytes of one message
	InFlight int   `json:"inflight"` // commands under way per connection
	Rate     int   `json:"rate"`     // commands a second per connection; 0: any number
}

// from makes the paths in a configuration mean what they say where its file lies.
func (c *config) from(dir string) {
	for name, a := range c.Agents {
		if a.Script != "" && !filepath.IsAbs(a.Script) {
			a.Script = filepath.Join(dir, a.Script)
			c.Agents[name] = a
		}
	}
	if c.Users != "" && !filepath.IsAbs(c.Users) {
		c.Users = filepath.Join(dir, c.Users)
	}
}

// A duration is written as in Go: 90s, 5m, 168h.
type duration time.Duration

// UnmarshalText reads a duration.
func (d *duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	if err == nil && v < 0 {
		err = fmt.Errorf("%s is below zero", v)
	}
	*d = duration(v)
	return err
}

// readConfig reads a configuration; its errors say what is wrong in it.
func readConfig(b []byte) (*config, error) {
	c := &config{}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(c); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("more than one JSON value")
	}
	for name, a := range c.Agents {
		if name == "" || (a.Command == "") == (a.Script == "") {
			return nil, fmt.Errorf("agent %q has either a command or a script", name)
		}
		if a.Script != "" && len(a.Args) > 0 {
			return nil, fmt.Errorf("agent %q: a script takes no args", name)
		}
	}
	for name, d := range c.Dialects {
		if err := checkDialect(name); err != nil {
			return nil, err
		}
		for option, value := range d.Options {
			if err := checkOption(name, codec.ServerEnd, option, value); err != nil {
				return nil, err
			}
		}
	}
	for _, o := range c.Origins {
		if u, err := url.Parse(o); err != nil || u.Host == "" || u.Scheme+"://"+u.Host != o || strings.ToLower(o) != o {
			return nil, fmt.Errorf("origins: %q is not as a browser names a page's: https://host or http://host:port", o)
		}
	}
	if err := c.checkAgents(); err != nil {
		return nil, err
	}
	switch c.Sync {
	case "", "normal", "full":
	default:
		return nil, fmt.Errorf("sync is normal or full, not %q", c.Sync)
	}
	if c.Window < 0 || c.Limits.Message < 0 || c.Limits.InFlight < 0 || c.Limits.Rate < 0 || c.Limits.Message > 64*protocol.MaxMessage {
		return nil, fmt.Errorf("window and limits are positive, a message is at most %d bytes", 64*protocol.MaxMessage)
	}
	return c, nil
}

// checkAgents returns which key names an agent that there is not.
func (c *config) checkAgents() error {
	agents := c.roster()
	if err := agents.check(c.DefaultAgent); c.DefaultAgent != "" && err != nil {
		return fmt.Errorf("default_agent: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Dialects)) {
		of := c.Dialects[name].Agents
		for _, foreign := range slices.Sorted(maps.Keys(of)) {
			if err := agents.check(of[foreign]); err != nil {
				return fmt.Errorf("dialects.%s.agents.%s: %w", name, foreign, err)
			}
		}
	}
	return nil
}

func (c *config) roster() *roster { return &roster{configured: c.Agents, fallback: c.DefaultAgent} }
