package serve

import (
	"github.com/spf13/pflag"

	"agentctl/internal/config"
	"agentctl/internal/exit"
)

// overrides are the flags of serve that override values of the configuration file.
type overrides struct {
	Users        string
	DefaultAgent string
	Sync         string
	Connections  int
}

func (o *overrides) add(f *pflag.FlagSet) {
	f.StringVar(&o.Users, "users", "", "`FILE` of users who can log in")
	f.StringVar(&o.DefaultAgent, "default-agent", "", "default `AGENT` of sessions")
	f.StringVar(&o.Sync, "sync", "", "`LEVEL`: normal, or full to survive a power cut")
	f.IntVar(&o.Connections, "connections", 0, "`NUMBER` of concurrent clients (default 4096)")
}

func (o *overrides) check() error {
	if o.Connections < 0 {
		return exit.Usagef("invalid --connections %d: want a positive number", o.Connections)
	}
	switch o.Sync {
	case "", "normal", "full":
		return nil
	}
	return exit.Usagef("invalid --sync %q: want normal or full", o.Sync)
}

// apply replaces the values in a configuration for which flags are set.
func (o *overrides) apply(c *config.Server) error {
	if o.DefaultAgent != "" {
		c.DefaultAgent = o.DefaultAgent
		if err := c.Registry().Check(c.DefaultAgent); err != nil {
			return exit.Usagef("--default-agent: %w", err)
		}
	}
	if o.Sync != "" {
		c.Sync = o.Sync
	}
	if o.Users != "" {
		c.Users = o.Users
	}
	if o.Connections > 0 {
		c.Limits.Connections = o.Connections
	}
	return nil
}
