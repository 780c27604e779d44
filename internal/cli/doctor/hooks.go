package doctor

import (
	"maps"
	"slices"
	"strings"

	"agentctl/internal/cli/host"
	"agentctl/internal/config"
	"agentctl/internal/localserver"
	"agentctl/internal/output"
)

// checkHooks looks for the programs of the hooks of this user's server.
func (o *doctorOptions) checkHooks(dir localserver.Dir) []check {
	path := host.ConfigPath(o.cli.Env, dir)
	if path == "" {
		return nil
	}
	c, err := config.ReadServer(path)
	if err != nil {
		return nil // reported by checkServerConfig
	}
	var checks []check
	for _, name := range slices.Sorted(maps.Keys(c.Hooks)) {
		configured := c.Hooks[name]
		h := configured.Hook(name)
		found := check{"hook " + name, checkOK, output.OneLine(strings.Join(h.Command, " "), 200)}
		if err := h.CheckProgram(o.lookPath); err != nil {
			found.Status, found.Detail = checkBad, err.Error()
		}
		if len(h.Command) > 0 {
			checks = append(checks, found)
		}
	}
	return checks
}
