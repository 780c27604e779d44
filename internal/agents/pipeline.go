package agents

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/pipeline"
)

// isPipeline reports whether an agent is composed of others.
func (r *Registry) isPipeline(name string) bool { return r.Configured[name].Pipeline != nil }

// openPipeline opens an agent that is composed of others.
func (r *Registry) openPipeline(name string, spec agent.Spec, host agent.Host) (agent.Agent, error) {
	c := r.Configured[name]
	spec.Env = r.variables(name, &spec)
	return pipeline.New(pipeline.Options{Name: name, Config: *c.Pipeline, Open: r.Open}, spec, host)
}

// roles returns the different agents of a pipeline.
func roles(c *pipeline.Config) []string {
	planner, solver, aggregator := c.Roles()
	names := []string{planner, solver, aggregator}
	slices.Sort(names)
	return slices.Compact(names)
}

// checkPipeline returns the first invalid value of a pipeline.
func (r *Registry) checkPipeline(c *pipeline.Config) error {
	if err := c.Check(); err != nil {
		return err
	}
	for _, role := range roles(c) {
		if r.isPipeline(role) {
			return fmt.Errorf("%s is a pipeline: its agents cannot be pipelines", role)
		}
		if err := r.Check(role); err != nil {
			return err
		}
	}
	return nil
}

// notPipeline returns an error for a pipeline, which is not a program.
func (r *Registry) notPipeline(name string) error {
	if !r.isPipeline(name) {
		return nil
	}
	return protocol.Errorf(protocol.CodeUnsupported,
		"%s runs in the server: log in to its agents %s", name, strings.Join(roles(r.Configured[name].Pipeline), ", "))
}

// inspectPipeline describes a pipeline. It is as ready as its least ready agent.
func (x *Inspector) inspectPipeline(r Installation) Installation {
	names := roles(x.Registry.Configured[r.Agent].Pipeline)
	r.Pipeline, r.Installed = strings.Join(names, ", "), true
	for _, name := range names {
		of := x.Inspect(name)
		switch {
		case !of.Installed:
			r.Installed, r.Login, r.Program = false, "", cmp.Or(of.Program, name)
			r.Install = cmp.Or(r.Install, of.Install)
		case of.Login == LoginMissing && r.Installed:
			r.Login, r.LogIn = LoginMissing, name+": "+of.LogIn
		}
	}
	return r
}
