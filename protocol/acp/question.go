package acp

import (
	"cmp"
	"encoding/json"
	"strings"

	"agentctl/protocol"
)

// otherField is the suffix of the field for an answer that is none of the choices.
const otherField = "/other"

// formOf returns the form that asks the client the questions of a request; nil: the client has no
// forms, or a form cannot have the request. A form asks no secrets: clients keep what they sent.
func (c *client) formOf(a *protocol.Approval) object {
	if a.Kind != protocol.ApproveQuestion || a.Page != nil || len(a.Questions) == 0 ||
		c.capabilities.Elicitation == nil || c.capabilities.Elicitation.Form == nil || !a.Offers(protocol.AllowOnce) {
		return nil
	}
	properties, required := object{}, []string{}
	for i := range a.Questions {
		q := &a.Questions[i]
		if q.Secret || properties[q.ID] != nil || properties[q.ID+otherField] != nil {
			return nil
		}
		properties[q.ID] = field(q)
		if len(q.Choices) > 0 && !q.Closed {
			properties[q.ID+otherField] = object{"type": "string", "title": "Other: " + visibleLine(q.Text)}
		} else if q.Required {
			required = append(required, q.ID)
		}
	}
	lines := []string{visibleLine(a.Title)}
	if a.Why != "" {
		lines = append(lines, visible(a.Why))
	}
	form := object{
		"mode": "form", "message": strings.Join(lines, "\n"),
		"requestedSchema": object{"type": "object", "properties": properties, "required": required},
	}
	if len(protocol.MustEncode(form)) > maxRequestText {
		return nil
	}
	return form
}

// opensPages reports whether the client asks its user to open pages.
func (c *client) opensPages() bool {
	return c.capabilities.Elicitation != nil && c.capabilities.Elicitation.URL != nil
}

// field returns the field of a form for a question.
func field(q *protocol.Question) object {
	f := object{"title": visibleLine(cmp.Or(q.Text, q.ID)), "type": "string"}
	about := strings.Join(q.Details(), "\n")
	if wants := q.Wants(); wants != "" {
		about = strings.TrimPrefix(about+"\n("+wants+")", "\n")
	}
	if about != "" {
		f["description"] = visible(about)
	}
	var choices []object
	for _, choice := range q.Choices {
		title := visibleLine(cmp.Or(choice.Label, choice.ID))
		if choice.About != "" {
			title += ": " + visibleLine(choice.About)
		}
		choices = append(choices, object{"const": choice.ID, "title": title})
	}
	switch {
	case choices != nil && q.Many:
		f["type"], f["items"] = "array", object{"anyOf": choices}
	case choices != nil:
		f["oneOf"] = choices
	case q.Type != "":
		f["type"] = q.Type
	}
	return f
}

// formDecision returns the decision of an answered form: accepted, it has the answers; declined, it
// denies. ok is false if the form was left.
func formDecision(a *protocol.Approval, result json.RawMessage) (_ *protocol.ApproveData, ok bool) {
	var r struct {
		Action  string                     `json:"action"`
		Content map[string]json.RawMessage `json:"content"`
	}
	if json.Unmarshal(result, &r) != nil {
		return nil, false
	}
	switch r.Action {
	case "decline":
		return &protocol.ApproveData{Decision: protocol.Deny}, true
	case "accept":
	default:
		return nil, false
	}
	answers := map[string][]string{}
	for i := range a.Questions {
		id := a.Questions[i].ID
		for _, name := range []string{id, id + otherField} {
			if texts := fieldTexts(r.Content[name]); len(texts) > 0 {
				answers[id] = append(answers[id], texts...)
			}
		}
	}
	if a.Page != nil {
		return &protocol.ApproveData{Decision: protocol.AllowOnce}, true
	}
	return &protocol.ApproveData{Decision: protocol.AllowOnce, Input: a.InputOf(answers)}, true
}

// fieldTexts returns the value of a field as texts.
func fieldTexts(raw json.RawMessage) []string {
	var list []string
	var text string
	switch {
	case len(raw) == 0 || string(raw) == "null" || string(raw) == `""`:
		return nil
	case json.Unmarshal(raw, &text) == nil:
		return []string{text}
	case json.Unmarshal(raw, &list) == nil:
		return list
	}
	return []string{string(raw)} // a number or a boolean
}
