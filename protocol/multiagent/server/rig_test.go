package server

import (
	"agentctl/internal/dev/codectest"
	"agentctl/internal/dev/multiagenttest"
	"agentctl/protocol/codec"
)

func newServerTest(t codectest.T, options codec.ServerOptions) *multiagenttest.Server {
	return multiagenttest.NewServer(t, func(o codec.ServerOptions) codec.Codec { return New(o) }, options)
}
