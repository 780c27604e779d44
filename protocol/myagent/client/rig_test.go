package client

import (
	"testing"

	"agentctl/internal/dev/myagenttest"
	"agentctl/protocol/codec"
)

func openClient(o codec.ClientOptions) codec.Codec { return New(o) }

func newClientTest(t *testing.T) *myagenttest.ClientAtServer {
	return myagenttest.NewClientAtServer(t, openClient)
}

func attachedClient(t *testing.T) *myagenttest.ClientAtServer {
	return myagenttest.AttachedClient(t, openClient)
}

func documentClient(t *testing.T) *myagenttest.ClientAtServer {
	return myagenttest.DocumentClient(t, openClient)
}
