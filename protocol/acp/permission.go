package acp

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A call is a request to the client without an answer, about a pending request of a session.
type call struct {
	id      string
	session *session
	request string
	decide  func(result json.RawMessage) (*protocol.ApproveData, bool) // ok is false: nothing is decided
}

// Bounds of a request that can be allowed in the client: one that does not fit can only be rejected.
const (
	maxRequestText = 64 << 10 // bytes
	maxOptionName  = 300      // characters
)

// cardID returns the id of the tool call that shows a request. It is no call of the agent, so that
// nothing that the agent sends changes what is shown.
func cardID(request string) string { return "request:" + request }

// ask asks the client to decide a pending request, if its user may decide.
func (c *Conn) ask(s *session, a *protocol.Approval) {
	if a == nil || s.State.DecidedAtOnce(a) || !c.decides() {
		return
	}
	if v := s.requests[a.Request]; v != nil && c.calls[v.id] == v {
		return // it is asked
	}
	if form := c.formOf(a); form != nil {
		c.call(s, a.Request, "elicitation/create", form, func(result json.RawMessage) (*protocol.ApproveData, bool) {
			return formDecision(a, result)
		})
		return
	}
	text := requestText(a)
	unsafe := unsafeReason(a, text)
	if unsafe != "" {
		text = codec.Truncate(text, maxRequestText) + "\n\nIt cannot be allowed here: " + unsafe +
			".\nSee all of it, and decide: agentctl attach " + s.Session + "\n"
	}
	title := requestTitle(a)
	s.shown[a.Request] = title
	content := []object{{"type": "content", "content": textBlock(fenced(text))}}
	card := object{
		"toolCallId": cardID(a.Request), "title": title, "kind": requestKind(a), "status": "pending", "content": content,
	}
	choices := offeredChoices(a, unsafe == "")
	var options []object
	for i, choice := range choices {
		options = append(options, object{"optionId": strconv.Itoa(i), "name": choice.name, "kind": choice.kind})
	}
	params := object{"options": options}
	if c.version == 2 {
		params["title"], params["description"] = title, fenced(text)
		params["subject"] = object{"type": "tool_call", "toolCall": card}
	} else {
		params["toolCall"] = card
	}
	c.call(s, a.Request, "session/request_permission", params, func(result json.RawMessage) (*protocol.ApproveData, bool) {
		var r struct {
			Outcome struct {
				Outcome string `json:"outcome"`
				Option  string `json:"optionId"`
			} `json:"outcome"`
		}
		if json.Unmarshal(result, &r) != nil || r.Outcome.Outcome != "selected" {
			return nil, false
		}
		for i, choice := range choices {
			if strconv.Itoa(i) == r.Outcome.Option {
				return &protocol.ApproveData{Decision: choice.decision, Option: choice.option}, true
			}
		}
		return nil, false
	})
}

// decides reports whether the user of the client may decide requests. An agent never does.
func (c *Conn) decides() bool {
	return c.hello.Role != protocol.RoleAgent && c.hello.Role.May(protocol.DoApprove)
}

// unsafeReason returns why a request must not be allowed by what the client shows; empty: it may.
func unsafeReason(a *protocol.Approval, text string) string {
	args := protocol.ReadArguments(a.Input)
	_, opaque := a.RestArguments()
	switch {
	case a.Page != nil:
		return "it asks to open a page"
	case a.Kind == protocol.ApproveQuestion:
		return "it has questions"
	case len(text) > maxRequestText:
		return "it is too long"
	case opaque != "":
		return "its arguments can be read in two ways: " + opaque
	case len(a.Input) > 0 && string(a.Input) != "null" && args.Opaque() != "":
		return "its arguments can be read in two ways: " + args.Opaque()
	case !utf8.ValidString(text):
		return "it is not valid text"
	}
	return ""
}

// A choice is an option of a request as the client gets it.
type choice struct {
	name     string
	kind     string
	decision protocol.Decision
	option   string // id of the request's option
}

// offeredChoices returns the options of a request that the client gets. Their names are agentctl's,
// with the words of the agent and the scope behind them. A name that does not fit is not offered,
// except to reject.
func offeredChoices(a *protocol.Approval, allow bool) (list []choice) {
	rejects := false
	for _, o := range a.Offered() {
		v := choice{decision: o.Kind, option: o.ID}
		switch o.Kind {
		case protocol.AllowOnce:
			v.name, v.kind = "Allow once", "allow_once"
		case protocol.AllowAlways:
			v.name, v.kind = "Allow always", "allow_always"
		case protocol.Deny:
			v.name, v.kind = "Reject", "reject_once"
		case protocol.DenyStop:
			v.name, v.kind = "Reject and stop the turn", "reject_once"
		default:
			continue
		}
		if o.Kind.Allows() {
			if o.Label != "" && !strings.EqualFold(o.Label, v.name) {
				v.name += " (" + visibleLine(o.Label) + ")"
			}
			if o.Scope != "" {
				v.name += ": " + visibleLine(o.Scope)
			}
			if !allow || utf8.RuneCountInString(v.name) > maxOptionName {
				continue
			}
		}
		rejects = rejects || o.Kind == protocol.Deny
		list = append(list, v)
	}
	if !rejects {
		list = append(list, choice{name: "Reject", kind: "reject_once", decision: protocol.Deny})
	}
	return list
}

// call sends a request to the client about a pending request of a session.
func (c *Conn) call(
	s *session, request, method string, params object, decide func(json.RawMessage) (*protocol.ApproveData, bool),
) {
	c.lastCall++
	v := &call{id: "agentctl-" + strconv.Itoa(c.lastCall), session: s, request: request, decide: decide}
	c.calls[v.id], s.requests[request] = v, v
	params["sessionId"] = s.Session
	params["_meta"] = c.meta(object{"request": request})
	c.write(&rpcMessage{ID: protocol.MustEncode(v.id), Method: method, Params: params})
}

// withdraw forgets a request to the client, and tells the client so.
func (c *Conn) withdraw(v *call) {
	delete(v.session.requests, v.request)
	if c.calls[v.id] == v {
		delete(c.calls, v.id)
		c.notify("$/cancel_request", object{"requestId": v.id})
	}
}

// handleAnswer carries out the answer of the client to a request. An answer that is late, cancelled
// or an error decides nothing, and the client is not asked again.
func (c *Conn) handleAnswer(m *received) {
	v := c.calls[codec.String(m.ID)]
	if v == nil {
		return
	}
	delete(c.calls, v.id)
	if !codec.IsNull(m.Error) {
		return
	}
	d, ok := v.decide(m.Result)
	if !ok {
		return
	}
	d.Request = v.request
	s := v.session
	c.Request(protocol.DoApprove, s.Session, c.Options.ID("acp"), d, func(a protocol.Answer) {
		// Of a conflict the client learns from the event with the winner.
		if a.Error != nil && a.Error.Code != protocol.CodeConflict && c.sessions[s.Session] == s {
			c.note(s, nil, protocol.LevelWarning, "nothing was decided: "+a.Error.Message)
			c.ask(s, s.State.PendingApproval(v.request))
		}
	})
}

// sendDecision updates the card of a request that the client has seen with the decision and who made
// it.
func (c *Conn) sendDecision(s *session, e *protocol.Event) {
	d := codec.DecodeEvent[protocol.ApprovalResolvedData](e)
	title, shown := s.shown[d.Request]
	delete(s.shown, d.Request)
	if !shown {
		return
	}
	status, word := "failed", string(d.Outcome)
	if d.Outcome == protocol.Allowed {
		status = "completed"
	}
	switch {
	case d.ByRule != "":
		word += " by a rule"
	case d.ByPolicy != "":
		word += " by the policy " + visibleLine(d.ByPolicy)
	case e.By != nil:
		word += " by " + visibleLine(e.By.Name)
	}
	decided := object{"outcome": d.Outcome, "decision": d.Decision}
	if e.By != nil {
		decided["by"] = e.By.Name
	}
	c.update(s, e, object{
		"sessionUpdate": "tool_call_update", "toolCallId": cardID(d.Request), "status": status,
		"title": word + ": " + title, "_meta": c.meta(object{"decided": decided}),
	})
}
