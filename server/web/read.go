package web

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"agentctl/protocol"
	"agentctl/server/eventlog"
	"agentctl/server/session"
)

// sessions answers the session list.
func (a *api) sessions(w http.ResponseWriter, r *http.Request, _ *Route) {
	closed := true
	if v := r.URL.Query().Get("closed"); v != "" {
		var err error
		if closed, err = strconv.ParseBool(v); err != nil {
			a.fail(w, protocol.Errorf(protocol.CodeInvalidMessage, "closed: %.80q is not true or false", v))
			return
		}
	}
	write(w, http.StatusOK, protocol.ListResult{Sessions: a.Hub.Sessions().List(closed)})
}

// session answers a row of the session list.
func (a *api) session(w http.ResponseWriter, r *http.Request, _ *Route) {
	id, err := a.Commands.Resolve(r, r.PathValue("id"))
	if err != nil {
		a.fail(w, err)
		return
	}
	list := a.Hub.Sessions().List(true)
	i := slices.IndexFunc(list, func(s protocol.Summary) bool { return s.Session == id })
	if i < 0 {
		a.fail(w, protocol.Errorf(protocol.CodeNoSession, "there is no session %.80q", id))
		return
	}
	write(w, http.StatusOK, list[i])
}

// messages answers with the messages of finished turns, oldest first: all, or the ones after the
// message ?after=.
func (a *api) messages(w http.ResponseWriter, r *http.Request, _ *Route) {
	id, err := a.Commands.Resolve(r, r.PathValue("id"))
	if err != nil {
		a.fail(w, err)
		return
	}
	list, err := a.History.Messages(r.Context(), id, r.URL.Query().Get("after"))
	if err != nil {
		a.fail(w, err)
		return
	}
	write(w, http.StatusOK, MessagesResult{list})
}

func (a *api) queue(w http.ResponseWriter, r *http.Request, _ *Route) {
	a.answerState(w, r, func(s *protocol.State) any {
		return QueueResult{append([]protocol.Message{}, s.Queue...), append([]protocol.Hold{}, s.Holds...), s.Scheduled}
	})
}

func (a *api) approvals(w http.ResponseWriter, r *http.Request, _ *Route) {
	a.answerState(w, r, func(s *protocol.State) any {
		return ApprovalsResult{append([]protocol.Approval{}, s.Approvals...)}
	})
}

func (a *api) options(w http.ResponseWriter, r *http.Request, _ *Route) {
	a.answerState(w, r, func(s *protocol.State) any {
		if s.Options == nil {
			return protocol.Options{}
		}
		return s.Options
	})
}

// answerState answers with a part of the current state of the session in the path.
func (a *api) answerState(w http.ResponseWriter, r *http.Request, part func(*protocol.State) any) {
	state, err := a.state(r, r.PathValue("id"))
	if err != nil {
		a.fail(w, err)
		return
	}
	write(w, http.StatusOK, part(state))
}

// state returns the current state of a session.
func (a *api) state(r *http.Request, name string) (*protocol.State, error) {
	result, err := a.Commands.Do(r, &protocol.Command{Command: protocol.DoSnapshot, Session: name})
	if err != nil {
		return nil, err
	}
	var at protocol.SnapshotResult
	if err := json.Unmarshal(result, &at); err != nil {
		return nil, err
	}
	return at.Snapshot.State, nil
}

func (a *api) sessionBlob(w http.ResponseWriter, r *http.Request, _ *Route) {
	id, err := a.Commands.Resolve(r, r.PathValue("id"))
	if err != nil {
		a.fail(w, err)
		return
	}
	b, err := a.History.Blob(r.Context(), id, r.PathValue("blob"))
	if err != nil {
		a.fail(w, err)
		return
	}
	serveBlob(w, b)
}

// blob answers a blob of the session named by ?session=, or of any session: equal ids mean equal
// data.
func (a *api) blob(w http.ResponseWriter, r *http.Request, route *Route) {
	if id := r.URL.Query().Get("session"); id != "" {
		r.SetPathValue("id", id)
		a.sessionBlob(w, r, route)
		return
	}
	for _, sum := range a.Hub.Sessions().List(true) {
		b, err := a.History.Blob(r.Context(), sum.Session, r.PathValue("blob"))
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
func serveBlob(w http.ResponseWriter, b eventlog.Blob) {
	download(w, b.MediaType)
	w.Header().Set("Content-Length", strconv.Itoa(len(b.Data)))
	_, _ = newBody(w).Write(b.Data)
}

// download sets the headers of content that a browser must not show.
func download(w http.ResponseWriter, mediaType string) {
	h := w.Header()
	h.Set("Content-Type", mediaType)
	h.Set("Content-Disposition", "attachment")
	h.Set("Content-Security-Policy", "sandbox")
	h.Set("X-Content-Type-Options", "nosniff")
}

// attach subscribes to a session of the sender of a request. The caller must call detach.
func (a *api) attach(r *http.Request, name string, since protocol.Position) (
	at *session.Attachment, sub *subscriber, detach func(), err error,
) {
	id, err := a.Commands.Resolve(r, name)
	if err != nil {
		return nil, nil, nil, err
	}
	sub = &subscriber{id: "h_" + session.NewEpoch(), wake: make(chan struct{}, 1), by: a.Commands.Actor(r)}
	type result struct {
		attached *session.Attachment
		err      error
	}
	results := make(chan result, 1)
	data := &protocol.SubscribeData{Position: &since}
	a.Hub.Attach(r.Context(), id, sub, data, func(at *session.Attachment, err error) {
		results <- result{at, err}
	})
	got := <-results
	switch {
	case got.err == nil:
	case r.Context().Err() != nil:
		return nil, nil, nil, Ended(r.Context())
	default:
		return nil, nil, nil, got.err
	}
	return got.attached, sub, func() { a.Hub.Detach(id, sub.id, "") }, nil
}
