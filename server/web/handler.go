package web

import (
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"strconv"

	"agentctl/protocol"
	"agentctl/server/session"
)

// Handler serves /api/.
func Handler(hub *session.Hub, log *slog.Logger) http.Handler {
	a := &api{hub, log}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/sessions", a.sessions)
	mux.HandleFunc("GET /api/sessions/{id}/messages", a.messages)
	mux.HandleFunc("GET /api/sessions/{id}/events", a.events)
	mux.HandleFunc("GET /api/sessions/{id}/blobs/{blob}", a.sessionBlob)
	mux.HandleFunc("GET /api/blobs/{blob}", a.blob)
	mux.HandleFunc("/", NotFound)
	return mux
}

// Messages serves a dialect's history endpoint: the finished turns of the session in the path, as say puts them; ?after= names
// the last message that the client has.
func Messages(hub *session.Hub, log *slog.Logger, say func(turns []*protocol.Turn, after string) json.RawMessage) http.Handler {
	a := &api{hub, log}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		after := r.URL.Query().Get("after")
		turns, err := hub.Finished(r.Context(), r.PathValue("id"), after)
		if err != nil {
			a.fail(w, err)
			return
		}
		write(w, http.StatusOK, say(turns, after))
	})
}

type api struct {
	hub *session.Hub
	log *slog.Logger
}

// Refuse answers a request with a coded error.
func Refuse(w http.ResponseWriter, status int, code protocol.Code, message string) {
	write(w, status, map[string]any{"error": protocol.Error{Code: code, Message: message}})
}

// Peer names who sent a request and says no more of itself: its address, which a peer on a Unix socket does not have.
func Peer(r *http.Request) string {
	if _, _, err := net.SplitHostPort(r.RemoteAddr); err != nil {
		return "anonymous"
	}
	return r.RemoteAddr
}

// NotFound answers a request for what is not served.
func NotFound(w http.ResponseWriter, _ *http.Request) {
	Refuse(w, http.StatusNotFound, protocol.CodeNotFound, "there is nothing here")
}

func write(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(append(protocol.MustEncode(v), '\n'))
}

// fail answers with err and the HTTP status that fits its code.
func (a *api) fail(w http.ResponseWriter, err error) {
	e := protocol.AsError(err)
	status := http.StatusInternalServerError
	switch e.Code {
	case protocol.CodeInternal:
		a.log.Error("answer request", "err", err)
	case protocol.CodeNoSession, protocol.CodeNotFound:
		status = http.StatusNotFound
	case protocol.CodeInvalidMessage, protocol.CodeInvalidPosition, protocol.CodeAmbiguous:
		status = http.StatusBadRequest
	case protocol.CodeStorage, protocol.CodeShuttingDown:
		status = http.StatusServiceUnavailable
	}
	Refuse(w, status, e.Code, e.Message)
}

func (a *api) sessions(w http.ResponseWriter, _ *http.Request) {
	write(w, http.StatusOK, protocol.ListResult{Sessions: a.hub.List(true)})
}

// messages answers the messages of finished turns, oldest first: all, or those after the message ?after= names.
func (a *api) messages(w http.ResponseWriter, r *http.Request) {
	list, err := a.hub.Messages(r.Context(), r.PathValue("id"), r.URL.Query().Get("after"))
	if err != nil {
		a.fail(w, err)
		return
	}
	write(w, http.StatusOK, map[string]any{"messages": list})
}

func (a *api) sessionBlob(w http.ResponseWriter, r *http.Request) {
	b, err := a.hub.Blob(r.Context(), r.PathValue("id"), r.PathValue("blob"))
	if err != nil {
		a.fail(w, err)
		return
	}
	serveBlob(w, b)
}

// blob finds a blob whose session is not named, or named by ?session=. Blobs are named by what they hold, so that it does not
// matter whose it is.
func (a *api) blob(w http.ResponseWriter, r *http.Request) {
	if id := r.URL.Query().Get("session"); id != "" {
		r.SetPathValue("id", id)
		a.sessionBlob(w, r)
		return
	}
	for _, sum := range a.hub.List(true) {
		b, err := a.hub.Blob(r.Context(), sum.Session, r.PathValue("blob"))
		if err == nil {
			serveBlob(w, b)
			return
		}
		if protocol.CodeOf(err) != protocol.CodeNotFound {
			a.fail(w, err)
			return
		}
	}
	Refuse(w, http.StatusNotFound, protocol.CodeNotFound, "there is no such blob")
}

// serveBlob sends an agent's bytes so that no browser runs them.
func serveBlob(w http.ResponseWriter, b session.Blob) {
	h := w.Header()
	h.Set("Content-Type", b.MediaType)
	h.Set("Content-Length", strconv.Itoa(len(b.Data)))
	h.Set("Content-Disposition", "attachment")
	h.Set("Content-Security-Policy", "sandbox")
	h.Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(b.Data)
}
