package hook

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode"

	"agentctl/internal/safetext"
	"agentctl/protocol"
	"agentctl/server/session/approval"
)

// Path begins the paths of links; the token follows.
const Path = "/decide/"

//go:embed page.html
var pageText string

// pageTemplate is parsed at its first use: most servers serve no page.
var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Parse(pageText))
})

// A page shows a request with the button that decides it, or a message.
type page struct {
	Title   string
	Message string
	Fields  []field // of the request
	Button  string
	Session string
	Link    *link

	Questions []formQuestion // of a link with a form
}

// A field is a part of a request.
type field struct{ Name, Value string }

// Serves reports whether a path is the path of a link. Requests for it need no credential: the link
// is one.
func (h *Hooks) Serves(path string) bool {
	return h != nil && len(h.linking.Load().origins) > 0 && strings.HasPrefix(path, Path)
}

// ServeHTTP serves links. GET shows the request and decides nothing, because programs that preview
// links request them too. POST decides. It must come from a page of a link, or from outside of any
// page.
func (h *Hooks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Security-Policy",
		"default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
	header.Set("Referrer-Policy", "same-origin") // with no-referrer the form has no origin
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Frame-Options", "DENY")
	header.Set("X-Robots-Tag", "noindex")
	token := strings.TrimPrefix(r.URL.Path, Path)
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		l, a, err := h.request(r.Context(), token)
		if err != nil {
			h.fail(w, err)
			return
		}
		h.renderRequest(w, http.StatusOK, l, a, "", nil)
	case http.MethodPost:
		if !h.ownPage(r) {
			render(w, http.StatusForbidden, &page{
				Title: "Refused", Message: "Open the link again, and decide on its page.",
			})
			return
		}
		h.decide(w, r, token)
	default:
		header.Set("Allow", "GET, HEAD, POST")
		render(w, http.StatusMethodNotAllowed, &page{Title: "Refused", Message: "This method is not served here."})
	}
}

// ownPage reports whether a request comes from a page of a link, or from outside of any page.
func (h *Hooks) ownPage(r *http.Request) bool {
	origins := h.linking.Load().origins
	for _, origin := range r.Header.Values("Origin") {
		if !origins[origin] {
			return false
		}
	}
	site := r.Header.Get("Sec-Fetch-Site")
	return site == "" || site == "same-origin" || site == "none"
}

// renderRequest renders the page of a link. given are the answers of a form refused with message.
func (h *Hooks) renderRequest(
	w http.ResponseWriter, status int, l *link, a json.RawMessage, message string, given map[string][]string,
) {
	p := &page{Title: "Allow this request?", Button: "Allow once", Session: l.Session, Link: l, Message: message}
	var err error
	switch {
	case l.Form:
		p.Title, p.Button = "Answer this request?", "Answer"
		p.Questions, err = formQuestions(a, given)
	case l.Decision == protocol.Deny:
		p.Title, p.Button = "Deny this request?", "Deny"
	case l.Choice != "":
		p.Title, p.Button = "Give this answer?", "Answer: "+visible(cmp.Or(l.Label, l.Choice))
	}
	if s, ok := h.cfg.Sessions.Summary(l.Session); ok && s.Name != "" {
		p.Session = visible(s.Name) + " (" + l.Session + ")"
	}
	if err == nil {
		p.Fields, err = fieldsOf(a)
	}
	if err != nil {
		h.fail(w, err)
		return
	}
	render(w, status, p)
}

// findLink returns the link of a token. Links of a hook end with it, and with its decide_urls.
func (h *Hooks) findLink(token string) (*link, error) {
	l, err := h.links.find(token, time.Now())
	if err == nil && !h.linking.Load().hooks[l.Hook] {
		return nil, errNoLink
	}
	return l, err
}

// request returns the link of a token and its encoded request, if that is pending and unchanged.
func (h *Hooks) request(ctx context.Context, token string) (*link, json.RawMessage, error) {
	l, err := h.findLink(token)
	if err != nil {
		return nil, nil, err
	}
	list, err := h.cfg.Requests.Pending(ctx, l.Session)
	if err != nil {
		return nil, nil, err
	}
	for i := range list {
		if raw, digest := approval.Digest(&list[i]); list[i].Request == l.Request && digest == l.Digest {
			return l, raw, nil
		}
	}
	return nil, nil, errNoLink
}

// decide uses a link. A second use for a request gets a conflict, or finds its link removed.
func (h *Hooks) decide(w http.ResponseWriter, r *http.Request, token string) {
	l, err := h.findLink(token)
	if err != nil {
		h.fail(w, err)
		return
	}
	if !protocol.RoleDecider.May(protocol.DoApprove) {
		h.fail(w, protocol.RoleDecider.Refusal(protocol.DoApprove))
		return
	}
	input, raw := l.input(), json.RawMessage(nil)
	if l.Form {
		if raw, input, err = h.readForm(w, r, token); err != nil {
			h.fail(w, err)
			return
		}
		if input == nil {
			h.renderRequest(w, http.StatusBadRequest, l, raw, "Nothing decided: fill in the form.", nil)
			return
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), requestTimeout)
	defer cancel()
	err = h.cfg.Requests.Decide(ctx, l.Session, l.Digest, &protocol.ApproveData{
		Request: l.Request, Decision: l.Decision, Input: input,
	}, actor(l.Hook))
	var refused *protocol.Error
	if l.Form && errors.As(err, &refused) && refused.Code == protocol.CodeInvalidMessage {
		message := "Nothing decided: " + visible(refused.Message) + "."
		h.renderRequest(w, http.StatusUnprocessableEntity, l, raw, message, input.Answers)
		return
	}
	if err == nil || errors.As(err, &refused) && settled(refused.Code) {
		if removeErr := h.links.remove(l); removeErr != nil { // it decides nothing more: the request is resolved
			h.cfg.Log.Error("remove link", "hook", l.Hook, "err", removeErr)
		}
	}
	if err != nil {
		h.fail(w, err)
		return
	}
	done := "Allowed once."
	switch {
	case l.Decision == protocol.Deny:
		done = "Denied."
	case l.Choice != "", l.Form:
		done = "Answered."
	}
	render(w, http.StatusOK, &page{Title: done, Message: "You can close this page."})
}

// settled reports whether an error means that the request of a link will never be pending again.
func settled(code protocol.Code) bool {
	return code == protocol.CodeConflict || code == protocol.CodeNotFound || code == protocol.CodeNoSession ||
		code == protocol.CodeSessionClosed
}

// fail answers with a page that states why nothing was decided.
func (h *Hooks) fail(w http.ResponseWriter, err error) {
	status, message := http.StatusServiceUnavailable, "The server cannot decide this now. Try again."
	var coded *protocol.Error
	switch {
	case errors.Is(err, errNoLink):
		status, message = http.StatusNotFound, "The request was decided, or this link was used or has expired."
	case errors.As(err, &coded) && coded.Code == protocol.CodeConflict:
		status, message = http.StatusConflict, "The request was decided before: "+visible(coded.Message)+"."
	case errors.As(err, &coded) && settled(coded.Code):
		status, message = http.StatusNotFound, "The request does not exist any more."
	default:
		h.cfg.Log.Error("decide by a link", "err", err)
	}
	render(w, status, &page{Title: "Nothing decided", Message: message})
}

func render(w http.ResponseWriter, status int, p *page) {
	var b bytes.Buffer
	if err := pageTemplate().Execute(&b, p); err != nil {
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes())
}

// fieldsOf returns all fields of an encoded request. Fields that describe the action come first.
func fieldsOf(raw json.RawMessage) (fields []field, err error) {
	var others []field
	d := json.NewDecoder(bytes.NewReader(raw))
	for _, err = d.Token(); err == nil && d.More(); {
		name, _ := d.Token() // after an error Decode has one, too
		var value json.RawMessage
		if err = d.Decode(&value); err != nil {
			break
		}
		var text string
		if json.Unmarshal(value, &text) != nil {
			var b bytes.Buffer
			_ = json.Indent(&b, value, "", "  ") // it is valid JSON
			text = b.String()
		}
		f := field{fmt.Sprint(name), visible(text)}
		switch f.Name {
		case "request", "options", "asked", "turn":
			others = append(others, f)
		default:
			fields = append(fields, f)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("show request: %w", err)
	}
	return append(fields, others...), nil
}

// visible returns a text with its invisible characters as codes, so that none hides or reorders
// shown text. IsGraphic adds private and unassigned characters to the table of safetext: a browser
// draws them as boxes that look alike.
func visible(text string) string {
	var b strings.Builder
	for _, c := range text {
		hidden := !unicode.IsGraphic(c) || safetext.IsInvisible(c) || safetext.IsBlank(c)
		if hidden && c != ' ' && c != '\n' && c != '\t' {
			fmt.Fprintf(&b, "<U+%04X>", c)
			continue
		}
		b.WriteRune(c)
	}
	return b.String()
}
