package config

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"agentctl/internal/agents"
	"agentctl/internal/retired"
	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/server/sandbox"
)

// maxMessageLimit bounds limits.message, in bytes.
const maxMessageLimit = 64 * protocol.MaxMessage

// A Server is the configuration file of a server. Flags override it.
type Server struct {
	Agents       map[string]agents.Config    `json:"agents"`        // agents, in addition to the presets
	MCP          map[string]agents.MCPServer `json:"mcp"`           // servers of the Model Context Protocol
	Providers    agents.Providers            `json:"providers"`     // of models
	DefaultAgent string                      `json:"default_agent"` // of sessions that name none
	Sandbox      protocol.Sandbox            `json:"sandbox"`       // of sessions whose creator and agent choose none; default off
	sandbox.Config
	Users string `json:"users"` // path of the file of users who log in

	ContinueAfterLimit int `json:"continue_after_limit"` // times that a session continues after usage limits, unless its creator chooses; default 0

	// Durations of sessions; 0 is the server's default.

	ApprovalTimeout Duration `json:"approval_timeout"` // for the decision about a request; default no limit
	EditHold        Duration `json:"edit_hold"`        // of a queue while a user edits a message; default 30s
	AgentIdle       Duration `json:"agent_idle"`       // until an idle agent that can continue later is stopped; default 12h
	StateTTL        Duration `json:"state_ttl"`        // of exported states; default 168h

	StateSecret string   `json:"state_secret"` // of exported states; default: generated
	StateKeys   []string `json:"state_keys"`   // files of the public keys of servers whose states are restored

	Sync    string   `json:"sync"`    // of the store: normal or full; default normal
	Window  int64    `json:"window"`  // bytes that a client may leave unacknowledged; default 16777216
	Limits  Limits   `json:"limits"`  // of clients and sessions
	Origins []string `json:"origins"` // web pages that may connect
	TLS     *TLS     `json:"tls"`     // for network listeners; default none

	Retention Retention          `json:"retention"` // of unused sessions
	Dialects  map[string]Dialect `json:"dialects"`  // protocols of other systems
	Hooks     map[string]Hook    `json:"hooks"`     // receivers of notifications

	retired []retired.Name // that the file has
}

// Retired returns the settings in the file that earlier versions knew.
func (c *Server) Retired() []retired.Name { return c.retired }

// A Retention says which unused sessions are removed; 0 removes none.
type Retention struct {
	Age      Duration `json:"age"`      // since their last activity; default no limit
	Sessions int      `json:"sessions"` // that are kept, the most recently active; default all
	Bytes    int64    `json:"bytes"`    // of the database, the oldest are removed; default no limit
}

// TLS names a certificate and its key, PEM files. Both are empty for a certificate that the server
// makes.
type TLS struct {
	Cert string `json:"cert"` // PEM file of the certificate; default: generated
	Key  string `json:"key"`  // PEM file of its key
}

// A Dialect maps the names of another system to agents and sets its options.
type Dialect struct {
	Agents  map[string]string `json:"agents"`  // by domain, agent or runtime id of the other system
	Options map[string]string `json:"options"` // of the dialect, see its page
}

// Limits bounds what clients may do and sessions may hold; 0 is the server's default.
type Limits struct {
	Connections     int   `json:"connections"`     // of known senders; default 4096
	PerSender       int   `json:"per_sender"`      // of one sender, except the owner and admins; default connections / 4
	Reserve         int   `json:"reserve"`         // further connections for the owner and admins; default 64
	Unauthenticated int   `json:"unauthenticated"` // connections of senders not known yet; default 256
	Message         int64 `json:"message"`         // bytes of one message; default 1048576
	InFlight        int   `json:"inflight"`        // commands in flight per connection; default 64
	Rate            int   `json:"rate"`            // commands a second per connection; default 5000
	Sessions        int   `json:"sessions"`        // of the server, closed ones included; default 20000
	Agents          int   `json:"agents"`          // concurrent processes of agents; default 500
	Queue           int   `json:"queue"`           // messages in the queue of a session; default 1000
	Requests        int   `json:"requests"`        // pending requests of a session; default 100
	Rules           int   `json:"rules"`           // of a session; default 500
	SubAgents       int   `json:"sub_agents"`      // below a session, closed ones included; default 256
	Disk            int64 `json:"disk"`            // bytes of the store; default no limit
	SessionBytes    int64 `json:"session_bytes"`   // of its queue, requests and rules each; default 4194304
	LogMemory       int64 `json:"log_memory"`      // bytes of older events in memory; default 67108864
}

// maxSessionBytes bounds session_bytes, so that a client can receive the state of a session.
const maxSessionBytes = 4 << 20

func (l *Limits) check() error {
	for _, n := range []int64{
		int64(l.Connections), int64(l.PerSender), int64(l.Reserve), int64(l.Unauthenticated), l.Message,
		int64(l.InFlight), int64(l.Rate), int64(l.Sessions), int64(l.Agents), int64(l.Queue), int64(l.Requests),
		int64(l.Rules), int64(l.SubAgents), l.SessionBytes, l.Disk, l.LogMemory,
	} {
		if n < 0 {
			return errors.New("limits must be positive")
		}
	}
	if l.Message > maxMessageLimit {
		return fmt.Errorf("limits.message: at most %d bytes", int64(maxMessageLimit))
	}
	if l.SessionBytes > maxSessionBytes {
		return fmt.Errorf("limits.session_bytes: at most %d bytes", int64(maxSessionBytes))
	}
	return nil
}

// A Duration is written in Go's form: 90s, 5m, 168h. It is never negative.
type Duration time.Duration

// UnmarshalText reads a duration.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	if err == nil && v < 0 {
		err = fmt.Errorf("duration %s is negative", v)
	}
	*d = Duration(v)
	return err
}

// ReadServer reads a server's configuration file. Relative paths in it are relative to its
// directory.
func ReadServer(path string) (*Server, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	c, err := parseServer(b)
	if err != nil {
		return nil, fmt.Errorf("configuration %s: %w", path, err)
	}
	c.resolvePaths(filepath.Dir(path))
	return c, nil
}

func (c *Server) resolvePaths(dir string) {
	for name, a := range c.Agents {
		a.Script, a.Prompt = absolute(dir, a.Script), absolute(dir, a.Prompt)
		c.Agents[name] = a
	}
	c.resolveMCPPaths(dir)
	c.resolveHookPaths(dir)
	c.Users = absolute(dir, c.Users)
	for i, path := range c.StateKeys {
		c.StateKeys[i] = absolute(dir, path)
	}
	if c.TLS != nil {
		c.TLS.Cert, c.TLS.Key = absolute(dir, c.TLS.Cert), absolute(dir, c.TLS.Key)
	}
}

// absolute returns a path of the file as one that does not depend on the directory of the process.
func absolute(dir, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// absoluteProgram is absolute for a program: a name without a slash is not a path.
func absoluteProgram(dir, program string) string {
	if !strings.ContainsRune(filepath.ToSlash(program), '/') {
		return program
	}
	return absolute(dir, program)
}

func parseServer(b []byte) (*Server, error) {
	c := &Server{}
	b, c.retired = withoutRetired(b, retired.ServerSetting.Find)
	s, err := readShape(b, reflect.TypeOf(*c))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(b, c); err != nil {
		return nil, s.at(err)
	}
	if err := c.check(); err != nil {
		return nil, s.at(err)
	}
	return c, nil
}

// check returns the first invalid value.
func (c *Server) check() error {
	registry := c.Registry()
	if err := cmp.Or(
		registry.CheckProviders(), registry.CheckConfigured(), registry.CheckSandboxes(), c.Config.Check(),
	); err != nil {
		return err
	}
	for name, d := range c.Dialects {
		if err := CheckDialect(name); err != nil {
			return fmt.Errorf("dialects.%s: %w", name, err)
		}
		for option, value := range d.Options {
			if err := CheckDialectOption(name, codec.ServerEnd, option, value); err != nil {
				return fmt.Errorf("dialects.%s.options.%s: %w", name, option, err)
			}
		}
	}
	for _, o := range c.Origins {
		if u, err := url.Parse(o); err != nil || u.Host == "" || u.Scheme+"://"+u.Host != o || strings.ToLower(o) != o {
			return fmt.Errorf("origins: invalid origin %q: want https://host or http://host:port", o)
		}
	}
	if c.TLS != nil && (c.TLS.Cert == "") != (c.TLS.Key == "") {
		return errors.New("tls: cert and key go together")
	}
	if err := cmp.Or(c.checkAgents(), c.checkMCP(), c.checkHooks()); err != nil {
		return err
	}
	switch c.Sync {
	case "", "normal", "full":
	default:
		return fmt.Errorf("sync: invalid value %q: want normal or full", c.Sync)
	}
	if r := c.Retention; r.Sessions < 0 || r.Bytes < 0 {
		return errors.New("retention.sessions and retention.bytes must be positive")
	}
	if n := c.ContinueAfterLimit; n < 0 || n > protocol.MaxContinuations {
		return fmt.Errorf("continue_after_limit: want 0 to %d", protocol.MaxContinuations)
	}
	if c.Window < 0 {
		return errors.New("window must be positive")
	}
	return c.Limits.check()
}

// checkAgents returns an error with the key that names an unknown agent.
func (c *Server) checkAgents() error {
	registry := c.Registry()
	if err := registry.Check(c.DefaultAgent); c.DefaultAgent != "" && err != nil {
		return fmt.Errorf("default_agent: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Dialects)) {
		of := c.Dialects[name].Agents
		for _, foreign := range slices.Sorted(maps.Keys(of)) {
			if err := registry.Check(of[foreign]); err != nil {
				return fmt.Errorf("dialects.%s.agents.%s: %w", name, foreign, err)
			}
		}
	}
	return nil
}

// Registry returns the registry of the configured agents.
func (c *Server) Registry() *agents.Registry {
	return &agents.Registry{
		Configured: c.Agents, MCP: c.MCP, Providers: c.Providers, Default: c.DefaultAgent,
		Sandbox: sandbox.New(sandbox.Options{Config: c.Config}), SandboxDefault: c.Sandbox,
	}
}

// RestartFor returns the keys of the values that differ in next and that a running server does not
// take over.
func (c *Server) RestartFor(next *Server) (keys []string) {
	for _, v := range []struct {
		key       string
		old, next any
	}{
		{"users", c.Users, next.Users},
		{"sandbox_allow", c.Allow, next.Allow},
		{"sandbox_write", c.Write, next.Write},
		{"sandbox_hide", c.Hide, next.Hide},
		{"state_secret", c.StateSecret, next.StateSecret},
		{"state_keys", c.StateKeys, next.StateKeys},
		{"sync", c.Sync, next.Sync},
		{"tls", c.TLS, next.TLS},
		{"retention", c.Retention, next.Retention},
		{"dialects", c.Dialects, next.Dialects},
	} {
		if !reflect.DeepEqual(v.old, v.next) {
			keys = append(keys, v.key)
		}
	}
	return keys
}
