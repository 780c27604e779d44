package web

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"agentctl/protocol"
	"agentctl/server/session"
)

func (a *api) sessions(r *http.Request) (any, error) {
	closed := true
	if v := r.URL.Query().Get("closed"); v != "" {
		var err error
		if closed, err = strconv.ParseBool(v); err != nil {
			return nil, protocol.Errorf(protocol.CodeInvalidMessage, "closed: %.80q is not true or false", v)
		}
	}
	return protocol.ListResult{Sessions: a.Hub.Sessions().List(closed)}, nil
}

// session returns a row of the session list.
func (a *api) session(r *http.Request) (any, error) {
	id, err := a.Commands.Resolve(r, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	list := a.Hub.Sessions().List(true)
	i := slices.IndexFunc(list, func(s protocol.Summary) bool { return s.Session == id })
	if i < 0 {
		return nil, protocol.Errorf(protocol.CodeNoSession, "there is no session %.80q", id)
	}
	return list[i], nil
}

// messages returns the messages of finished turns, oldest first: all, or those after ?after=.
func (a *api) messages(r *http.Request) (any, error) {
	id, err := a.Commands.Resolve(r, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	list, err := a.History.Messages(r.Context(), id, r.URL.Query().Get("after"))
	return MessagesResult{list}, err
}

func queue(s *protocol.State) any {
	return QueueResult{append([]protocol.Message{}, s.Queue...), append([]protocol.Hold{}, s.Holds...), s.Scheduled}
}

func approvals(s *protocol.State) any {
	return ApprovalsResult{append([]protocol.Approval{}, s.Approvals...)}
}

func options(s *protocol.State) any {
	if s.Options == nil {
		return protocol.Options{}
	}
	return s.Options
}

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

func (a *api) sessionBlob(w http.ResponseWriter, r *http.Request, _ *Route) error {
	id, err := a.Commands.Resolve(r, r.PathValue("id"))
	if err != nil {
		return err
	}
	return a.serveBlob(w, r, id)
}

// blob answers a blob of the session ?session=, or of any session: equal ids mean equal data.
func (a *api) blob(w http.ResponseWriter, r *http.Request, route *Route) error {
	if id := r.URL.Query().Get("session"); id != "" {
		r.SetPathValue("id", id)
		return a.sessionBlob(w, r, route)
	}
	for _, sum := range a.Hub.Sessions().List(true) {
		if err := a.serveBlob(w, r, sum.Session); protocol.CodeOf(err) != protocol.CodeNotFound {
			return err
		}
	}
	return protocol.Errorf(protocol.CodeNotFound, "there is no such blob")
}

// serveBlob sends the blob in the path, untrusted bytes, with headers that keep browsers from running them.
func (a *api) serveBlob(w http.ResponseWriter, r *http.Request, session string) error {
	b, err := a.History.Blob(r.Context(), session, r.PathValue("blob"))
	if err != nil {
		return err
	}
	download(w, b.MediaType)
	w.Header().Set("Content-Length", strconv.Itoa(len(b.Data)))
	_, _ = newBody(w).Write(b.Data)
	return nil
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
	attached := make(chan error, 1)
	data := &protocol.SubscribeData{Position: &since}
	a.Hub.Attach(r.Context(), id, sub, data, func(got *session.Attachment, err error) {
		at = got
		attached <- err
	})
	if err = <-attached; err != nil {
		if r.Context().Err() != nil {
			err = Ended(r.Context())
		}
		return nil, nil, nil, err
	}
	return at, sub, func() { a.Hub.Detach(id, sub.id, "") }, nil
}
