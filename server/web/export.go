package web

import (
	"bytes"
	"cmp"
	"net/http"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/server/eventlog"
)

// export answers a session as a document, with the events that are visible at the request.
func (a *api) export(w http.ResponseWriter, r *http.Request, _ *Route) error {
	if a.Documents == nil {
		return protocol.Errorf(protocol.CodeUnsupported, "this server writes no documents")
	}
	format := cmp.Or(r.URL.Query().Get("format"), "md")
	if formats := a.Documents.Formats(); !slices.Contains(formats, format) {
		return protocol.Errorf(protocol.CodeInvalidMessage, "format: want one of %s", strings.Join(formats, ", "))
	}
	at, sub, detach, err := a.attach(r, r.PathValue("id"), protocol.Position{})
	if err != nil {
		return err
	}
	defer detach()
	download(w, a.Documents.MediaType(format))
	w.Header().Set("Cache-Control", "no-store")
	if r.Method == http.MethodHead {
		return nil
	}
	var failed error
	events := func(yield func([]byte, error) bool) {
		after, end := at.Result.After.Seq, at.Result.Position.Seq
		for after < end {
			lines, last, err := at.Log.Read(r.Context(), after, !a.Documents.Raw(format), sseBatch)
			if err != nil {
				failed = err
				yield(nil, err)
				return
			}
			for line := range bytes.Lines(lines) {
				if !yield(bytes.TrimSuffix(line, []byte("\n")), nil) {
					return
				}
			}
			after = last
			sub.after.Store(after)
		}
	}
	out := newBody(w)
	err = a.Documents.Write(out, format, events)
	switch {
	case err == nil:
		return nil
	case failed != nil && out.written == 0:
		clear(w.Header())
		return eventlog.ReadErrorFor(at.Result.Session, failed)
	}
	panic(http.ErrAbortHandler) // the client must not take a part for the document
}
