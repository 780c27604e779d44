package client

import (
	"testing"

	"agentctl/internal/dev/sandcastletest"
	"agentctl/protocol/codec"
)

func newClientTest(t *testing.T, memory *codec.ClientState) *sandcastletest.Client {
	return sandcastletest.NewClient(t, func(o codec.ClientOptions) codec.Codec { return New(o) }, memory)
}

func codecOf(d *sandcastletest.Client) *Conn { return d.Codec.(*Conn) }
