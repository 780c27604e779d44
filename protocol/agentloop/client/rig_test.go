package client

import (
	"agentctl/internal/dev/agentlooptest"
	"agentctl/internal/dev/codectest"
	"agentctl/protocol"
	"agentctl/protocol/codec"
)

func openClient(o codec.ClientOptions) codec.Codec { return New(o) }

// newClientHarness returns a client at a server that is not agentctl's.
func newClientHarness(t codectest.T, url string, memory *codec.ClientState) *agentlooptest.Client {
	return agentlooptest.NewClient(t, openClient, url, memory)
}

// newAgentctlHarness returns a client at agentctl's server.
func newAgentctlHarness(t codectest.T, memory *codec.ClientState) *agentlooptest.Client {
	return agentlooptest.NewAgentctlClient(t, openClient, memory)
}

func resumeClientHarness(t codectest.T, o codec.ClientOptions, at *protocol.Position, frames ...string) *agentlooptest.Client {
	return agentlooptest.NewResumedClient(t, openClient, o, at, frames...)
}

func codecOf(g *agentlooptest.Client) *Conn { return g.Codec.(*Conn) }
