package server

import (
	"net/http"

	"github.com/coder/websocket"

	"agentctl/dialect"
	"agentctl/protocol/acp"
	"agentctl/protocol/codec"
	"agentctl/server/session"
	"agentctl/server/web"
)

// acpPath is the path of every native listener at which editors speak the Agent Client Protocol.
const acpPath = "/acp"

// acpConnectionHeader names the connection in the answer to an upgrade, as the protocol's transport
// requires.
const acpConnectionHeader = "Acp-Connection-Id"

// acceptACP upgrades a request of an editor and serves it.
func (s *Server) acceptACP(w http.ResponseWriter, r *http.Request) {
	id := session.NewID("acp")
	w.Header().Set(acpConnectionHeader, id)
	u := &upgradeWriter{ResponseWriter: w}
	ws, err := websocket.Accept(u, r, &websocket.AcceptOptions{
		CompressionMode: websocket.CompressionDisabled, InsecureSkipVerify: true, // the listener has checked the origin
	})
	if err != nil {
		return // Accept has answered
	}
	from := callerOf(r, web.RemoteName(r))
	translator := acp.New(codec.ServerOptions{
		By: from.by, Role: from.role, ID: session.NewID, Version: s.program.version,
	}, acp.Options{})
	conn := dialect.NewServerConn(textSocket{ws, u.socket}, translator, s.limits.Load().Message)
	s.serve(dialectTransport{conn, acp.Name}, socketOf(r).Conn, from)
}
