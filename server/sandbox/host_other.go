//go:build !linux && !darwin

package sandbox

import (
	"runtime"

	"agentctl/protocol"
	"agentctl/server/agent/process"
)

func findProgram() (string, error) { return "", unsupported("%s has none", runtime.GOOS) }

func (h *Host) probe(protocol.Sandbox) error { return unsupported("%s has none", runtime.GOOS) }

func (b *Box) confine(cmd process.Command) (process.Command, error) {
	return cmd, unsupported("%s has none", runtime.GOOS)
}

func hideAliases(table, []string, string) error { return nil }

func (b *Box) inside() string { return "" }
