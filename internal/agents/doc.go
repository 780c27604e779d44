// Package agents owns the registry of agents that a server can run: configured ones, presets, and
// ad hoc commands and scripts. It must not know what a session does with an agent.
package agents
