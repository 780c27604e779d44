package acp

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// permissions are the pending requests of a session, as the client knows them.
type permissions struct {
	*feed
	calls *calls
	asked map[string]*call  // requests to the client, by request
	shown map[string]string // titles of the requests that the client has seen, by request
}

// A decider returns the decision in the client's answer. ok is false: nothing is decided.
type decider func(result json.RawMessage) (_ *protocol.ApproveData, ok bool)

// Bounds of a request that can be allowed in the client: one that does not fit can only be rejected.
const (
	maxRequestText = 64 << 10 // bytes
	maxOptionName  = 300      // characters
)

// cardID returns the id of the tool call that shows a request. It is no call of the agent, so that
// nothing that the agent sends changes what is shown.
func cardID(request string) string { return "request:" + request }

// ask asks the client to decide a pending request, if its user may decide.
func (p *permissions) ask(pending *protocol.Approval) {
	if pending == nil || p.State.DecidedAtOnce(pending) || !p.client.decides() ||
		p.calls.waits(p.asked[pending.Request]) {
		return
	}
	a := *pending // the state changes
	switch form := p.client.formOf(&a); {
	case form != nil:
		p.askForm(&a, form)
	case p.client.opensPages() && a.Page != nil && a.Offers(protocol.AllowOnce):
		p.askPage(&a)
	default:
		p.askPermission(&a)
	}
}

// askForm asks the client with a form, or with a page to open.
func (p *permissions) askForm(a *protocol.Approval, form object) {
	p.call(a.Request, "elicitation/create", form, func(result json.RawMessage) (*protocol.ApproveData, bool) {
		return formDecision(a, result)
	})
}

// askPage asks the client to open a page, whose whole URL it gets. Without the URL it is asked as for
// other requests.
func (p *permissions) askPage(a *protocol.Approval) {
	d := protocol.OpenPageData{Request: a.Request}
	p.client.Request(protocol.DoOpenPage, p.Session, "", d, func(answer protocol.Answer) {
		r, failed := codec.DecodeResult[protocol.OpenPageResult](answer)
		if p.abandoned || p.State.PendingApproval(a.Request) == nil || p.calls.waits(p.asked[a.Request]) {
			return
		}
		page, err := protocol.ParsePage(r.PageURL)
		if failed != nil || err != nil || page.Public().URL != a.Page.URL {
			p.askPermission(a)
			return
		}
		p.askForm(a, object{
			"mode": "url", "elicitationId": a.Request, "url": page.URL,
			"message": codec.Truncate("Open a page of "+page.Host+"?\n"+requestText(a), maxRequestText),
		})
	})
}

// askPermission asks the client for one of the options of a request.
func (p *permissions) askPermission(a *protocol.Approval) {
	text := requestText(a)
	unsafe := unsafeReason(a, text)
	if unsafe != "" {
		text = codec.Truncate(text, maxRequestText) + "\n\nIt cannot be allowed here: " + unsafe +
			".\nSee all of it, and decide: agentctl attach " + p.Session + "\n"
	}
	title := requestTitle(a)
	if p.shown == nil {
		p.shown = map[string]string{}
	}
	p.shown[a.Request] = title
	card := object{
		"toolCallId": cardID(a.Request), "title": title, "kind": requestKind(a), "status": "pending",
		"content": cardContent(text),
	}
	choices := offeredChoices(a, unsafe == "")
	var options []object
	for i, choice := range choices {
		options = append(options, object{"optionId": strconv.Itoa(i), "name": choice.name, "kind": choice.kind})
	}
	params := object{"options": options}
	if p.client.version == 2 {
		params["title"], params["description"] = title, fenced(text)
		params["subject"] = object{"type": "tool_call", "toolCall": card}
	} else {
		params["toolCall"] = card
	}
	p.call(a.Request, "session/request_permission", params, func(result json.RawMessage) (*protocol.ApproveData, bool) {
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

func cardContent(text string) []object {
	return []object{{"type": "content", "content": textBlock(fenced(text))}}
}

// sendExplanation adds an explanation of the agent to the card of a request.
func (p *permissions) sendExplanation(e *protocol.Event) {
	d := codec.DecodeEvent[protocol.ApprovalExplainedData](e)
	if a := p.State.PendingApproval(d.Request); a != nil && p.shown[d.Request] != "" {
		p.update(e, object{
			"sessionUpdate": "tool_call_update", "toolCallId": cardID(d.Request),
			"content": cardContent(codec.Truncate(requestText(a), maxRequestText)),
		})
		return
	}
	p.note(e, protocol.LevelInfo, "the agent explains: "+visible(d.Text))
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

// call sends a request to the client about a pending request. An answer that is late, cancelled or an
// error decides nothing, and the client is not asked again.
func (p *permissions) call(request, method string, params object, decide decider) {
	params["sessionId"] = p.Session
	params["_meta"] = meta(object{"request": request})
	if p.asked == nil {
		p.asked = map[string]*call{}
	}
	p.asked[request] = p.calls.send(p.client, method, params, func(result json.RawMessage) {
		if d, ok := decide(result); ok {
			d.Request = request
			p.decide(d)
		}
	})
}

// decide sends a decision of the client.
func (p *permissions) decide(d *protocol.ApproveData) {
	p.client.Request(protocol.DoApprove, p.Session, p.client.Options.ID("acp"), d, func(a protocol.Answer) {
		// Of a conflict the client learns from the event with the winner.
		if a.Error != nil && a.Error.Code != protocol.CodeConflict && !p.abandoned {
			p.note(nil, protocol.LevelWarning, "nothing was decided: "+a.Error.Message)
			p.ask(p.State.PendingApproval(d.Request))
		}
	})
}

// withdraw withdraws what the client was asked about a request.
func (p *permissions) withdraw(request string) {
	if v := p.asked[request]; v != nil {
		delete(p.asked, request)
		p.calls.withdraw(p.client, v)
	}
}

// sync withdraws requests that are not pending any more, and asks all others.
func (p *permissions) sync() {
	for request := range p.asked {
		if p.State.PendingApproval(request) == nil {
			p.withdraw(request)
		}
	}
	for i := range p.State.Approvals {
		p.ask(&p.State.Approvals[i])
	}
}

// sendDecision updates the card of a request that the client has seen with the decision and who made
// it.
func (p *permissions) sendDecision(e *protocol.Event) {
	d := codec.DecodeEvent[protocol.ApprovalResolvedData](e)
	title, shown := p.shown[d.Request]
	delete(p.shown, d.Request)
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
	p.update(e, object{
		"sessionUpdate": "tool_call_update", "toolCallId": cardID(d.Request), "status": status,
		"title": word + ": " + title, "_meta": meta(object{"decided": decided}),
	})
}
