package server

import (
	"agentctl/internal/dev/multiagenttest"
	"agentctl/protocol/codec"
)

func newServerTest(t multiagenttest.TestingT, options codec.ServerOptions) *multiagenttest.Server {
	return multiagenttest.NewServer(t, func(o codec.ServerOptions) codec.Codec { return New(o) }, options)
}
