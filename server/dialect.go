package server

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/coder/websocket"

	"agentctl/dialect"
	"agentctl/protocol"
	"agentctl/protocol/acp"
	"agentctl/protocol/codec"
	"agentctl/server/session"
	"agentctl/server/web"
)

// dialectPath is the path below which every native listener serves the dialects: /dialect/NAME, and
// any path below that.
const dialectPath = "/dialect/"

// Dialects configures the dialects.
type Dialects struct {
	// Agents are the agents for names of other systems, by dialect and name: domains, agents or
	// runtime ids. A missing name means the default agent.
	Agents map[string]map[string]string

	// Options are options of dialects, by dialect and option name.
	Options map[string]map[string]string
}

// A dialectServer holds the state that the server's ends of dialects share.
type dialectServer struct {
	Dialects
	resumeStores map[string]*codec.ResumeStore // by dialect
	secret       []byte                        // signs tokens
}

// dialectHandler serves a dialect's clients at any path below prefix. Its refusals name the dialect
// too: a client that reads another name stops instead of trying again.
func (s *Server) dialectHandler(d codec.Dialect, prefix string) http.Handler {
	return withSpeaksHeader(d.Name, s.counted(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{
			CompressionMode:    websocket.CompressionDisabled,
			InsecureSkipVerify: true, // the listener has checked the origin
		})
		if err != nil {
			return // Accept has answered
		}
		from := callerOf(r, d.Name+"@"+web.RemoteName(r))
		options := codec.ServerOptions{
			Path:    strings.TrimPrefix(r.URL.Path, prefix),
			By:      from.by,
			Role:    from.role,
			ID:      session.NewID,
			Options: s.dialects.Options[d.Name],
			Agent:   func(foreign string) string { return s.dialects.Agents[d.Name][foreign] },

			AgentNames: slices.Sorted(maps.Keys(s.dialects.Agents[d.Name])),

			Sign:    s.dialects.sign,
			Version: s.version,
			Resume:  s.dialects.resumeStores[d.Name],
		}
		conn := dialect.NewServerConn(ws, d.Server(options), s.limits.Load().Message)
		s.serve(dialectTransport{conn, d.Name}, socketOf(r).Conn, from)
	})))
}

// newResumeStores makes a resume store for each dialect.
func newResumeStores() map[string]*codec.ResumeStore {
	stores := map[string]*codec.ResumeStore{}
	for _, name := range dialect.Names() {
		stores[name] = new(codec.ResumeStore)
	}
	return stores
}

// sign returns the HMAC of a message with the server's secret, in hex.
func (s *dialectServer) sign(message string) string {
	mac := hmac.New(sha256.New, s.secret)
	mac.Write([]byte(message))
	return hex.EncodeToString(mac.Sum(nil))
}

// dialectListener routes the requests of a listener for one dialect: WebSockets at any path, and
// the dialect's history endpoint, if it has one.
func (s *Server) dialectListener(d codec.Dialect) http.Handler {
	websockets := s.dialectHandler(d, "")
	if d.Messages == nil {
		return websockets
	}
	messages := http.NewServeMux()
	messages.Handle("GET /api/sessions/{id}/messages", s.counted(web.Messages(s.history, s.log, d.Messages)))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := messages.Handler(r); pattern != "" && r.Header.Get("Upgrade") == "" {
			messages.ServeHTTP(w, r)
			return
		}
		websockets.ServeHTTP(w, r)
	})
}

// mountDialects serves every dialect below dialectPath.
func (s *Server) mountDialects(mux *http.ServeMux) {
	for _, name := range dialect.Names() {
		d, _ := dialect.Find(name)
		h := s.dialectHandler(d, dialectPath+name)
		mux.Handle(dialectPath+name, h)
		mux.Handle(dialectPath+name+"/", h)
	}
}

// closeUnauthorized accepts a WebSocket and closes it with protocol.ClosePolicy, for dialects that
// refuse credentials that way.
func closeUnauthorized(w http.ResponseWriter, r *http.Request) {
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err == nil {
		_ = ws.Close(protocol.ClosePolicy, reasonNoToken)
	}
}

// acpPath is the path of every native listener at which editors speak the Agent Client Protocol.
const acpPath = "/acp"

// acpConnectionHeader names the connection in the answer to an upgrade, as the protocol's transport
// requires.
const acpConnectionHeader = "Acp-Connection-Id"

// acceptACP upgrades a request of an editor and serves it.
func (s *Server) acceptACP(w http.ResponseWriter, r *http.Request) {
	id := session.NewID("acp")
	w.Header().Set(acpConnectionHeader, id)
	ws, frames := upgradeSocket(w, r)
	if ws == nil {
		return
	}
	from := callerOf(r, web.RemoteName(r))
	translator := acp.New(codec.ServerOptions{
		By: from.by, Role: from.role, ID: session.NewID, Version: s.version,
	}, acp.Options{})
	conn := dialect.NewServerConn(textSocket{ws, frames}, translator, s.limits.Load().Message)
	s.serve(dialectTransport{conn, acp.Name}, socketOf(r).Conn, from)
}
