package server

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"

	"agentctl/protocol/codec"

	"github.com/coder/websocket"

	"agentctl/dialect"
	"agentctl/protocol"
	"agentctl/server/session"
	"agentctl/server/web"
)

// dialectPath is where every listener of the native protocol serves the dialects: /dialect/NAME, and anything below.
const dialectPath = "/dialect/"

// Dialects configures the dialects.
type Dialects struct {
	// Agent returns the configured agent for a dialect's domain, agent or runtime id; nil or empty: the default agent.
	Agent func(dialect, foreign string) string

	// Options are a dialect's own, by name.
	Options map[string]map[string]string
}

// speak serves a dialect's clients at any path below prefix.
func (s *Server) speak(d codec.Dialect, prefix string) http.Handler {
	return spoken(d.Name, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{
			CompressionMode: websocket.CompressionDisabled, InsecureSkipVerify: true, // the listener's guard has looked at the origin
		})
		if err != nil {
			return // answered
		}
		who := callerOf(r, d.Name+"@"+web.Peer(r))
		door := codec.ServerOptions{
			Path: strings.TrimPrefix(r.URL.Path, prefix), By: who.by, Role: who.role, ID: session.NewID, Options: s.dialects.Options[d.Name],
			Agent: func(foreign string) string {
				if s.dialects.Agent == nil {
					return ""
				}
				return s.dialects.Agent(d.Name, foreign)
			},
			Sign: s.sign, Version: s.version, Resume: s.trails[d.Name],
		}
		s.serve(dialect.NewServerConn(ws, d.Server(door), s.limits.Message), socketOf(r), who)
	}))
}

// trails makes one for each dialect.
func trails() map[string]*codec.ResumeStore {
	all := map[string]*codec.ResumeStore{}
	for _, name := range dialect.Names() {
		all[name] = new(codec.ResumeStore)
	}
	return all
}

func (s *Server) sign(message string) string {
	mac := hmac.New(sha256.New, s.secret)
	mac.Write([]byte(message))
	return hex.EncodeToString(mac.Sum(nil))
}

// foreign routes a listener of one dialect: its WebSocket at any path, however it is spelt, and its history endpoint where its
// clients have one.
func (s *Server) foreign(d codec.Dialect) http.Handler {
	speak := s.counted(s.speak(d, ""))
	if d.Messages == nil {
		return speak
	}
	history := http.NewServeMux()
	history.Handle("GET /api/sessions/{id}/messages", s.counted(web.Messages(s.hub, s.log, d.Messages)))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := history.Handler(r); pattern != "" && r.Header.Get("Upgrade") == "" {
			history.ServeHTTP(w, r)
			return
		}
		speak.ServeHTTP(w, r)
	})
}

// mount serves every dialect below dialectPath.
func (s *Server) mount(mux *http.ServeMux) {
	for _, name := range dialect.Names() {
		d, _ := dialect.Find(name)
		speak := s.counted(s.speak(d, dialectPath+name))
		mux.Handle(dialectPath+name, speak)
		mux.Handle(dialectPath+name+"/", speak)
	}
}

// tooLate tells a client without a valid credential that it may not come in, the way its dialect does it.
func tooLate(w http.ResponseWriter, r *http.Request) {
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err == nil {
		_ = ws.Close(protocol.ClosePolicy, noToken)
	}
}
