package server

import (
	"agentctl/internal/dev/codectest"
	"agentctl/internal/dev/sandcastletest"
	"agentctl/protocol/codec"
)

func newServerTest(t codectest.T) *sandcastletest.Server {
	return sandcastletest.NewServer(t, func(o codec.ServerOptions) codec.Codec { return New(o) })
}

func codecOf(d *sandcastletest.Server) *Conn { return d.Codec.(*Conn) }
