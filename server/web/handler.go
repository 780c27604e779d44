package web

import (
	"encoding/json"
	"io"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/server/history"
	"agentctl/server/session"
)

// Config configures Handler.
type Config struct {
	Hub       *session.Hub
	History   *history.Reader
	Commands  Commands
	Documents Documents // nil: sessions are not exported as documents
	MaxBody   func() int64
	Log       *slog.Logger

	Failed    func(protocol.Code)            // counts errors; nil: not counted
	Delivered func(events uint64, bytes int) // counts events that were sent
}

// Commands runs commands for the senders of requests, with the checks of a connection.
type Commands interface {
	// Do runs a command and returns its result. When the request ends first, it returns an error,
	// and the command continues.
	Do(r *http.Request, cmd *protocol.Command) (json.RawMessage, error)

	// Resolve returns the id of a session that the sender may read.
	Resolve(r *http.Request, name string) (string, error)

	// Actor returns the user who sent the request.
	Actor(r *http.Request) protocol.Actor
}

// Documents writes sessions as documents.
type Documents interface {
	// Formats returns the names of the formats.
	Formats() []string

	// MediaType returns the media type of a format.
	MediaType(format string) string

	// Raw reports whether a format needs events without joined deltas.
	Raw(format string) bool

	// Write writes all events of a session, encoded, as a document.
	Write(w io.Writer, format string, events iter.Seq2[[]byte, error]) error

	// ChangedFiles returns the files that the items of a turn changed.
	ChangedFiles(items []*protocol.Item) []protocol.ChangedFile
}

// Handler serves /api/.
func Handler(cfg Config) http.Handler {
	a := &api{Config: cfg, mux: http.NewServeMux()}
	for i := range Routes() {
		r := &Routes()[i]
		a.mux.HandleFunc(r.Pattern(), func(w http.ResponseWriter, req *http.Request) {
			if err := r.handle(a, w, req, r); err != nil {
				a.fail(w, err)
			}
		})
	}
	return http.HandlerFunc(a.serve)
}

// serve routes a request. A path with other methods is answered 405.
func (a *api) serve(w http.ResponseWriter, r *http.Request) {
	if _, pattern := a.mux.Handler(r); pattern != "" {
		a.mux.ServeHTTP(w, r)
		return
	}
	if allowed := a.methods(r); len(allowed) > 0 {
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		WriteError(w, http.StatusMethodNotAllowed, protocol.CodeUnsupported,
			"this path has no such method; it has "+strings.Join(allowed, ", "))
		return
	}
	NotFound(w, r)
}

func (a *api) methods(r *http.Request) []string {
	var allowed []string
	for i := range Routes() {
		method := Routes()[i].Method
		other := *r
		other.Method = method
		if _, pattern := a.mux.Handler(&other); pattern != "" && !slices.Contains(allowed, method) {
			allowed = append(allowed, method)
		}
	}
	slices.Sort(allowed)
	return allowed
}

// Messages serves a dialect's history endpoint: the finished turns of the session {id} in the path,
// encoded by encode. ?after= names the last message that the client has.
func Messages(
	reader *history.Reader, log *slog.Logger, encode func(turns []*protocol.Turn, after string) json.RawMessage,
) http.Handler {
	a := &api{Config: Config{Log: log}}
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
	Config
	mux *http.ServeMux
}

// A handler answers a request of a route, or returns the error to answer with.
type handler func(*api, http.ResponseWriter, *http.Request, *Route) error

// answer returns a handler that answers with a value as JSON.
func answer(get func(*api, *http.Request) (any, error)) handler {
	return func(a *api, w http.ResponseWriter, r *http.Request, _ *Route) error {
		v, err := get(a, r)
		if err == nil {
			write(w, http.StatusOK, v)
		}
		return err
	}
}

// answerState returns a handler that answers with a part of the state of the session in the path.
func answerState(part func(*protocol.State) any) handler {
	return answer(func(a *api, r *http.Request) (any, error) {
		state, err := a.state(r, r.PathValue("id"))
		if err != nil {
			return nil, err
		}
		return part(state), nil
	})
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

// writeTimeout bounds the time for a client to receive one write.
const writeTimeout = time.Minute

// write answers with JSON.
func write(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	b := append(protocol.MustEncode(v), '\n')
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	w.WriteHeader(status)
	_, _ = newBody(w).Write(b)
}

// A body writes the body of a response, each write within writeTimeout.
type body struct {
	http.ResponseWriter
	control *http.ResponseController
	written int // bytes
}

func newBody(w http.ResponseWriter) *body { return &body{w, http.NewResponseController(w), 0} }

func (b *body) Write(p []byte) (int, error) {
	_ = b.control.SetWriteDeadline(time.Now().Add(writeTimeout))
	defer func() { _ = b.control.SetWriteDeadline(time.Time{}) }() // the connection serves other requests
	n, err := b.ResponseWriter.Write(p)
	b.written += n
	return n, err
}
