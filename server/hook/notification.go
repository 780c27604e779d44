package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/server/session/approval"
)

// A Notification is the body of a POST, and the input of a command.
type Notification struct {
	ID      string           `json:"id"` // the same each time that it is sent
	Type    string           `json:"type"`
	Time    time.Time        `json:"time"` // of the event
	Hook    string           `json:"hook"`
	Session protocol.Summary `json:"session"` // when it is sent

	Turn     *Turn                          `json:"turn,omitempty"`     // of turn.ended, error, budget and limited
	Approval *Approval                      `json:"approval,omitempty"` // of approval.requested
	Resolved *protocol.ApprovalResolvedData `json:"resolved,omitempty"` // of approval.resolved
	By       *protocol.Actor                `json:"by,omitempty"`       // who caused the event
}

// A Turn is a turn that has ended.
type Turn struct {
	ID string `json:"id"`
	protocol.TurnEndedData
	Text        string `json:"text,omitempty"`         // the last part of the agent's message, shortened
	TextMissing int    `json:"text_missing,omitempty"` // bytes left out of it
	TextTooOld  bool   `json:"text_too_old,omitempty"` // the text can no longer be read
}

// An Approval is a pending request.
type Approval struct {
	Request json.RawMessage   `json:"request"`           // the data of the event, without blobs
	Digest  string            `json:"digest"`            // SHA-256 of request, in hex
	Missing int64             `json:"missing,omitempty"` // bytes of the request that are in blobs
	Links   map[string]string `json:"links,omitempty"`   // allow_once, answer, deny → URL
	Answers []AnswerLink      `json:"answers,omitempty"` // of the only question of the request
	Expires *time.Time        `json:"expires,omitempty"` // of the links

	AnswerCommand []string `json:"answer_command,omitempty"` // of a request with questions
}

// An AnswerLink answers a question with one of its choices.
type AnswerLink struct {
	Question string `json:"question"`
	Choice   string `json:"choice"`
	Label    string `json:"label"`
	URL      string `json:"url"`
}

// errNothing is returned for an occurrence that no longer needs a notification: a request that has
// been decided, or a session that was removed.
var errNothing = errors.New("nothing to notify of")

// requestTimeout bounds a hook's requests to a session.
const requestTimeout = 30 * time.Second

// build returns the notification of an occurrence.
func (r *runner) build(ctx context.Context, o *occurrence) (*Notification, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	sum, ok := r.sessions.Summary(o.session)
	if !ok {
		return nil, errNothing
	}
	e, err := r.reader.event(ctx, o)
	if err != nil {
		return nil, err
	}
	n := &Notification{
		ID:   fmt.Sprintf("%s_%s_%d", o.session, sum.Epoch, o.seq),
		Type: o.typ, Time: o.time, Hook: r.hook.Name, Session: sum, By: e.By,
	}
	switch e.Type {
	case protocol.ApprovalRequested:
		n.Approval, err = r.approval(ctx, e)
	case protocol.ApprovalResolved:
		n.Resolved = new(protocol.ApprovalResolvedData)
		err = e.Decode(n.Resolved)
	case protocol.TurnEnded:
		n.Turn = &Turn{ID: e.Turn}
		if err = e.Decode(&n.Turn.TurnEndedData); err != nil {
			break
		}
		text, readErr := r.reader.text(ctx, o.session, e.Turn, e.Seq)
		n.Turn.Text, n.Turn.TextMissing, n.Turn.TextTooOld = text.text.String(), text.missing, readErr != nil
	}
	return n, err
}

// approval returns the request of an event if it is pending, with new links.
func (r *runner) approval(ctx context.Context, e *protocol.Event) (*Approval, error) {
	var asked protocol.Approval
	if err := e.Decode(&asked); err != nil {
		return nil, err
	}
	list, err := r.requests.Pending(ctx, e.Session)
	if protocol.CodeOf(err) == protocol.CodeNoSession {
		return nil, errNothing
	}
	if err != nil {
		return nil, err
	}
	for i := range list {
		if list[i].Request == asked.Request {
			return r.pending(e.Session, &list[i])
		}
	}
	return nil, errNothing
}

func (r *runner) pending(id string, a *protocol.Approval) (*Approval, error) {
	p := &Approval{}
	p.Request, p.Digest = approval.Digest(a)
	for _, c := range a.Content {
		if c.Blob != "" && c.Data == nil {
			p.Missing += c.Bytes
		}
	}
	p.AnswerCommand = answerCommand(id, a)
	if r.hook.Links.Base == "" {
		return p, nil
	}
	uses := usesOf(a, p.Missing)
	expires := time.Now().Add(r.hook.Links.Expires).UTC().Truncate(time.Second)
	if due := a.Asked.Add(r.hook.DenyAfter); r.hook.DenyAfter > 0 && due.Before(expires) {
		expires = due.UTC().Truncate(time.Second) // the request is denied then
	}
	tokens, err := r.links.create(link{
		Hook: r.hook.Name, Session: id, Request: a.Request, Digest: p.Digest, Expires: expires,
	}, uses)
	if err != nil {
		return nil, err
	}
	p.Expires, p.Links = &expires, map[string]string{}
	for i, u := range uses {
		url := strings.TrimSuffix(r.hook.Links.Base, "/") + Path + tokens[i]
		switch {
		case u.Form:
			p.Links["answer"] = url
		case u.Choice == "":
			p.Links[string(u.Decision)] = url
		default:
			p.Answers = append(p.Answers, AnswerLink{Question: u.Question, Choice: u.Choice, Label: u.Label, URL: url})
		}
	}
	return p, nil
}
