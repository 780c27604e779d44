package agents

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"agentctl/internal/agents"
	"agentctl/internal/cli/localagent"
	"agentctl/internal/output"
)

// The statuses of a service of agents.
const (
	serviceReady   = "ready"
	serviceMissing = "missing"
	serviceUnknown = "unknown" // not known without a connection
)

// A service is a provider of models or an MCP server, which agents use.
type service struct {
	Provider string `json:"provider,omitempty"`
	MCP      string `json:"mcp,omitempty"`
	Status   string `json:"status"`
	Detail   string `json:"detail"` // also what to do
}

// services returns the providers of models and the MCP servers of the configuration. With connect
// it connects to the MCP servers.
func services(ctx context.Context, x *agents.Inspector, connect bool) (list []service) {
	for _, r := range x.Providers() {
		list = append(list, newService(&r, service{Provider: r.Name}))
	}
	if !connect {
		for _, r := range x.MCPPrograms() {
			s := newService(&r, service{MCP: r.Name})
			if r.Ready {
				s.Status = serviceUnknown
			}
			list = append(list, s)
		}
		return list
	}
	ctx, cancel := context.WithTimeout(ctx, localagent.ProbeTimeout)
	defer cancel()
	for _, r := range x.MCPServers(ctx, os.TempDir()) {
		list = append(list, newService(&r, service{MCP: r.Name}))
	}
	return list
}

func newService(r *agents.Readiness, s service) service {
	s.Status, s.Detail = serviceReady, output.OneLine(r.Detail, 200)
	if !r.Ready {
		s.Status = serviceMissing
	}
	return s
}

// write writes a row of the list of agents.
func (s *service) write(w io.Writer) {
	name, detail, status := "provider "+s.Provider, s.Detail, s.Status
	switch {
	case s.MCP != "":
		name = "mcp " + s.MCP
		if s.Status == serviceUnknown {
			status, detail = "configured", detail+"; connect: agentctl agents --check"
		}
	case s.Status == serviceMissing:
		status, detail = "no key", strings.TrimPrefix(detail, "no key: ")
	}
	fmt.Fprintf(w, "%s\t%s\t%s\n", output.OneLine(name, 60), status, detail)
}
