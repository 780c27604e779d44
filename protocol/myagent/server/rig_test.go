package server

import (
	"testing"

	"agentctl/internal/dev/myagenttest"
	"agentctl/protocol/codec"
)

func openServer(o codec.ServerOptions) codec.Codec { return New(o) }

func newServerTest(t testing.TB, p *myagenttest.NativeServer, store *codec.ResumeStore) *myagenttest.Server {
	return myagenttest.NewServer(t, openServer, p, store, nil)
}

// newServerTestWith is newServerTest with options of the dialect.
func newServerTestWith(t testing.TB, p *myagenttest.NativeServer, store *codec.ResumeStore, options map[string]string) *myagenttest.Server {
	return myagenttest.NewServer(t, openServer, p, store, options)
}

func openedServer(t testing.TB) *myagenttest.Server { return myagenttest.OpenedServer(t, openServer) }
