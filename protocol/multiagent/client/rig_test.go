package client

import (
	"agentctl/internal/dev/multiagenttest"
	"agentctl/protocol/codec"
)

func newClientTest(t multiagenttest.TestingT, options map[string]string) *multiagenttest.Client {
	return newClientTestAt(t, false, options)
}

// newClientTestAt is newClientTest at agentctl's server or another.
func newClientTestAt(t multiagenttest.TestingT, agentctl bool, options map[string]string) *multiagenttest.Client {
	return multiagenttest.NewClient(t, func(o codec.ClientOptions) codec.Codec { return New(o) }, agentctl, options)
}

func codecOf(c *multiagenttest.Client) *Conn { return c.Codec.(*Conn) }
