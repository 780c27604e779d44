package web

import (
	"net/http"
	"time"

	"agentctl/protocol"
	"agentctl/server/session/list"
)

// listEvents streams the session list: an event "list" with all sessions, then a session.summary
// event for each change, the newest of each session. Summaries have no position: a stream that
// begins again begins with the list.
func (a *api) listEvents(w http.ResponseWriter, r *http.Request, _ *Route) error {
	s := newStream(r.Context(), w)
	defer s.close()
	if r.Method == http.MethodHead {
		return nil
	}
	changes := list.NewChanges()
	sessions := a.Hub.Sessions().Watch(changes)
	defer a.Hub.Sessions().Unwatch(changes)
	s.event(sseList, "", protocol.MustEncode(protocol.ListResult{Sessions: sessions}))
	s.flush()
	ping := time.Tick(ssePing)
	for s.err == nil {
		select {
		case <-changes.Wake:
			for _, c := range changes.Take() {
				s.event("", "", c.Summary)
			}
			s.flush()
		case <-ping:
			s.ping()
		case <-r.Context().Done():
			s.fail(Ended(r.Context()))
			return nil
		}
	}
	return nil
}
