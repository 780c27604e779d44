package client

import (
	"agentctl/internal/dev/codectest"
	"agentctl/internal/dev/multiagenttest"
	"agentctl/protocol/codec"
)

func newClientTest(t codectest.T, options map[string]string) *multiagenttest.Client {
	return newClientTestAt(t, false, options)
}

// newClientTestAt is newClientTest at agentctl's server or another.
func newClientTestAt(t codectest.T, agentctl bool, options map[string]string) *multiagenttest.Client {
	return multiagenttest.NewClient(t, func(o codec.ClientOptions) codec.Codec { return New(o) }, agentctl, options)
}

func codecOf(c *multiagenttest.Client) *Conn { return c.Codec.(*Conn) }
