package agents

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/policy"
	"agentctl/server/sandbox"
)

// DefaultSandbox implements confinement.Agents: the sandbox of an agent's configuration, else the
// server's. A pipeline is confined as each of its agents at least.
func (r *Registry) DefaultSandbox(agent string) protocol.Sandbox {
	agent = cmp.Or(agent, r.Default)
	s := r.Configured[agent].Sandbox.Or(r.SandboxDefault)
	if r.isPipeline(agent) {
		for _, role := range roles(r.Configured[agent].Pipeline) {
			s = s.Within(r.Configured[role].Sandbox.Or())
		}
	}
	return s
}

// HasSandboxes implements confinement.Agents.
func (r *Registry) HasSandboxes() bool { return r.Sandbox.Available() }

// CheckSandbox implements confinement.Agents.
func (r *Registry) CheckSandbox(s protocol.Sandbox) error { return r.Sandbox.Check(s) }

// SandboxRefuses implements confinement.Agents. It reads the file system.
func (r *Registry) SandboxRefuses(spec *agent.Spec, e *policy.Effect) error {
	box, err := r.box(cmp.Or(spec.Agent, r.Default), spec)
	if err != nil {
		return nil //nolint:nilerr // the agent does not start
	}
	return box.Refuses(e)
}

// CheckSandboxes returns the first invalid sandbox of the configuration, with its key.
func (r *Registry) CheckSandboxes() error {
	if err := r.SandboxDefault.Check(); err != nil {
		return fmt.Errorf("sandbox: %s", protocol.AsError(err).Message)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Configured)) {
		if err := r.Configured[name].Sandbox.Or(r.SandboxDefault).Check(); err != nil {
			return fmt.Errorf("agents.%s.sandbox: %s", name, protocol.AsError(err).Message)
		}
	}
	return nil
}

// reader returns a sandbox for commands of a session that only read: it writes nothing, and has neither the network nor
// the server's socket. nil: this machine cannot set one up.
func (r *Registry) reader(spec *agent.Spec) *sandbox.Box {
	s := protocol.Sandbox{Mode: protocol.SandboxReadOnly, Network: protocol.SandboxNetworkOff}
	box, err := r.Sandbox.Box(s, sandbox.BoxOptions{CWD: spec.CWD})
	if err != nil {
		return nil
	}
	return box
}
