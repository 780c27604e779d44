package server

import (
	"agentctl/internal/dev/agentlooptest"
	"agentctl/internal/dev/codectest"
	"agentctl/protocol/codec"
)

func newServerHarness(t codectest.T, path string, exists bool) *agentlooptest.Server {
	return agentlooptest.NewServer(t, func(o codec.ServerOptions) codec.Codec { return New(o) }, path, exists)
}

func codecOf(h *agentlooptest.Server) *Conn { return h.Codec.(*Conn) }
