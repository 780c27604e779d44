package web

import (
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"strconv"

	"agentctl/protocol"
	"agentctl/server/history"
	"agentctl/server/session"
)

// A Route is a path below /api/.
type Route struct {
	Pattern string // of a http.ServeMux
	handle  func(*api, http.ResponseWriter, *http.Request)
}

// Routes lists the routes of Handler. All of them read.
var Routes = []Route{
	{"GET /api/sessions", (*api).sessions},
	{"GET /api/sessions/{id}/messages", (*api).messages},
	{"GET /api/sessions/{id}/events", (*api).events},
	{"GET /api/sessions/{id}/blobs/{blob}", (*api).sessionBlob},
	{"GET /api/blobs/{blob}", (*api).blob},
}

// Handler serves /api/.
func Handler(hub *session.Hub, reader *history.Reader, log *slog.Logger) http.Handler {
	a := &api{hub, reader, log}
	mux := http.NewServeMux()
	for _, r := range Routes {
		mux.HandleFunc(r.Pattern, func(w http.ResponseWriter, req *http.Request) { r.handle(a, w, req) })
	}
	mux.HandleFunc("/", NotFound)
	return mux
}

// Messages serves a dialect's history endpoint: the finished turns of the session {id} in the path,
// encoded by encode. ?after= names the last message that the client has.
func Messages(
	reader *history.Reader, log *slog.Logger, encode func(turns []*protocol.Turn, after string) json.RawMessage,
) http.Handler {
	a := &api{history: reader, log: log}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		after := r.URL.Query().Get("after")
		turns, err := reader.Turns(r.Context(), r.PathValue("id"), after)
		if err != nil {
			a.fail(w, err)
			return
		}
		write(w, http.StatusOK, encode(turns, after))
	})
}

type api struct {
	hub     *session.Hub
	history *history.Reader
	log     *slog.Logger
}

// WriteError answers a request with a coded error.
func WriteError(w http.ResponseWriter, status int, code protocol.Code, message string) {
	write(w, status, map[string]any{"error": protocol.Error{Code: code, Message: message}})
}

// RemoteName names the sender of a request without a credential: its address, or "anonymous" on a
// Unix socket.
func RemoteName(r *http.Request) string {
	if _, _, err := net.SplitHostPort(r.RemoteAddr); err != nil {
		return "anonymous"
	}
	return r.RemoteAddr
}

// NotFound answers 404.
func NotFound(w http.ResponseWriter, _ *http.Request) {
	WriteError(w, http.StatusNotFound, protocol.CodeNotFound, "not found")
}

func write(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(append(protocol.MustEncode(v), '\n'))
}

// fail answers with err and the HTTP status of its code.
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
	WriteError(w, status, e.Code, e.Message)
}

func (a *api) sessions(w http.ResponseWriter, _ *http.Request) {
	write(w, http.StatusOK, protocol.ListResult{Sessions: a.hub.List(true)})
}

// messages answers the messages of finished turns, oldest first: all, or those after the message
// named by ?after=.
func (a *api) messages(w http.ResponseWriter, r *http.Request) {
	list, err := a.history.Messages(r.Context(), r.PathValue("id"), r.URL.Query().Get("after"))
	if err != nil {
		a.fail(w, err)
		return
	}
	write(w, http.StatusOK, map[string]any{"messages": list})
}

func (a *api) sessionBlob(w http.ResponseWriter, r *http.Request) {
	b, err := a.history.Blob(r.Context(), r.PathValue("id"), r.PathValue("blob"))
	if err != nil {
		a.fail(w, err)
		return
	}
	serveBlob(w, b)
}

// blob answers a blob of the session named by ?session=, or of any session: equal ids mean equal
// data.
func (a *api) blob(w http.ResponseWriter, r *http.Request) {
	if id := r.URL.Query().Get("session"); id != "" {
		r.SetPathValue("id", id)
		a.sessionBlob(w, r)
		return
	}
	for _, sum := range a.hub.List(true) {
		b, err := a.history.Blob(r.Context(), sum.Session, r.PathValue("blob"))
		if err == nil {
			serveBlob(w, b)
			return
		}
		if protocol.CodeOf(err) != protocol.CodeNotFound {
			a.fail(w, err)
			return
		}
	}
	WriteError(w, http.StatusNotFound, protocol.CodeNotFound, "there is no such blob")
}

// serveBlob sends untrusted bytes with headers that keep browsers from running them.
func serveBlob(w http.ResponseWriter, b session.Blob) {
	h := w.Header()
	h.Set("Content-Type", b.MediaType)
	h.Set("Content-Length", strconv.Itoa(len(b.Data)))
	h.Set("Content-Disposition", "attachment")
	h.Set("Content-Security-Policy", "sandbox")
	h.Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(b.Data)
}
