package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/acp/catalog"
	"agentctl/server/agent/acp/rpc"
	"agentctl/server/agent/form"
)

// Actions of the answer to an elicitation. It is cancelled if no user refused or accepted it.
const (
	actionAccept  = "accept"
	actionDecline = "decline"
	actionCancel  = "cancel"
)

// An elicitation is what an agent asks a user: to fill in a form, or to open a page.
type elicitation struct {
	session string // ACP session id; "": it is about a request, such as a login
	tool    string // ACP tool call id, or ""
	message string
	form    *form.Form     // nil: a page
	page    *protocol.Page // nil: a form
	id      string         // of a page, by which its end is reported
	cancel  func()         // withdraws it; set when a user is asked
}

type elicitationResult struct {
	Action  string         `json:"action"`
	Content map[string]any `json:"content,omitempty"`
}

// readElicitation reads a request. The error is for the agent and for users; the elicitation then
// has what could be read.
func readElicitation(params json.RawMessage) (*elicitation, error) {
	e := &elicitation{}
	fields := map[string]json.RawMessage{}
	if !exactNames(params) || json.Unmarshal(params, &fields) != nil {
		return e, errInexactNames
	}
	var mode, page string
	for name, v := range map[string]*string{
		"sessionId": &e.session, "toolCallId": &e.tool, "mode": &mode, "message": &e.message, "url": &page,
		"elicitationId": &e.id,
	} {
		if raw := fields[name]; raw != nil && json.Unmarshal(raw, v) != nil {
			return e, fmt.Errorf("%s is no text", name)
		}
	}
	var err error
	switch {
	case len(e.message) > form.MaxMessage:
		err = fmt.Errorf("the message is longer than %d bytes", form.MaxMessage)
	case mode == "url":
		if e.page, err = protocol.ParsePage(page); err == nil {
			for _, whole := range []string{page, e.page.URL} {
				e.message = strings.ReplaceAll(e.message, whole, e.page.Public().URL)
			}
		}
	case fields["requestedSchema"] == nil:
		err = errors.New("it has no form")
	case mode == "form" || mode == "":
		e.form, err = form.Parse(fields["requestedSchema"], catalog.FieldHints)
	default:
		err = fmt.Errorf("the mode %.40q is not known", mode)
	}
	return e, err
}

// elicit asks the user for what an agent wants to know, if a turn runs. What cannot be asked is
// noted, without the page and the form: they may hold secrets.
func (c *client) elicit(req *rpc.Request) {
	e, err := readElicitation(req.Params)
	drop := func() {
		c.noteElicitation(e, errors.New("it belongs to no turn"))
		c.reply(req, elicitationResult{Action: actionCancel})
	}
	lane := c.targetOf(e.session).lane
	switch {
	case err != nil:
	case lane == nil && e.session != "":
		err = errors.New("the session is not known")
	case lane == nil:
		drop()
	default:
		lane.pass(arrival{work: true, apply: func(t *turn) bool { return t.elicit(req, e, &c.pages) }, drop: drop})
	}
	if err != nil {
		c.noteElicitation(e, err)
		if err := req.ReplyError(context.Background(), rpc.CodeInvalidParams, err.Error()); err != nil {
			c.host.Logf("refuse %s: %v", c.config.Name, err)
		}
	}
}

// noteElicitation emits a notice that says why users are not asked.
func (c *client) noteElicitation(e *elicitation, why error) {
	text := fmt.Sprintf("%s asks something that cannot be asked: %v", c.config.Name, why)
	if e.page != nil {
		text += "; it wants a page of " + e.page.Host + " to be opened"
	}
	if line, _, _ := strings.Cut(strings.TrimSpace(e.message), "\n"); line != "" {
		text += fmt.Sprintf(" (%.200s)", line)
	}
	c.notice(protocol.LevelWarning, text, "")
}

// completePage notes that a page which a user was asked to open is complete. It returns false for
// one that is not known.
func (c *client) completePage(params json.RawMessage) bool {
	var p struct {
		ID string `json:"elicitationId"`
	}
	if decode(params, &p) != nil {
		return false
	}
	page := c.pages.complete(p.ID)
	if page == nil {
		return false
	}
	c.notice(protocol.LevelInfo, "the page of "+page.Host+" is complete", "")
	return true
}

// approval returns the elicitation as a request.
func (e *elicitation) approval() protocol.Approval {
	message := strings.TrimSpace(e.message)
	line, rest, _ := strings.Cut(message, "\n")
	a := protocol.Approval{Kind: protocol.ApproveQuestion, Title: line, Page: e.page}
	const longTitle = 200
	if rest != "" || len(line) > longTitle {
		a.Title, a.Why = protocol.SplitText(line, longTitle)[0], message
	}
	if e.form != nil {
		a.Questions = e.form.Questions()
		a.Why = strings.TrimSpace(a.Why + "\n" + e.form.About)
	}
	a.Title = cmp.Or(a.Title, "answer a question")
	return a
}

// result returns the answer to the agent for a verdict.
func (e *elicitation) result(v agent.Verdict) (elicitationResult, error) {
	switch {
	case v.Outcome == protocol.Denied && v.Decision != protocol.DenyStop:
		return elicitationResult{Action: actionDecline}, nil
	case v.Outcome != protocol.Allowed:
		return elicitationResult{Action: actionCancel}, nil
	case e.form == nil:
		return elicitationResult{Action: actionAccept}, nil
	}
	var answers map[string][]string
	if v.Input != nil {
		answers = v.Input.Answers
	}
	content, err := e.form.Content(answers)
	if err != nil {
		return elicitationResult{Action: actionCancel}, err
	}
	return elicitationResult{actionAccept, content}, nil
}

// elicit asks the session and answers the request with the decision. It returns false without an
// answer when the turn is over. The agent may withdraw the request, and report a page complete.
func (t *turn) elicit(req *rpc.Request, e *elicitation, pages *pages) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended || t.endPart() != nil {
		return false
	}
	a := e.approval()
	a.CWD = t.cwd
	known := t.tools[e.tool]
	if known != nil {
		a.Tool, a.Name = known.id, known.call.Name
	}
	ctx, stop := context.WithCancel(t.ctx)
	pending := context.AfterFunc(req.Context(), stop)
	e.cancel = stop
	pages.add(e)
	t.activity.ask()
	t.approvals.Go(func() {
		defer stop()
		v, err := t.out.Ask(ctx, a)
		result := elicitationResult{Action: actionCancel}
		if err == nil && t.ctx.Err() == nil {
			if result, err = e.result(v); err != nil { // the session checks answers
				t.warn("the answer was not sent: " + err.Error())
			}
		}
		pages.answered(e, result.Action == actionAccept)
		t.activity.answer()
		t.mu.Lock()
		if known != nil {
			known.start = time.Now() // the call waited for the user
		}
		t.mu.Unlock()
		reply(context.WithoutCancel(t.ctx), req, pending, result)
	})
	return true
}
