package plain

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/approval"
	"agentctl/tui/describe"
)

// decisionVerbs are the commands that decide a request, and the decisions they send. That of
// /option is the option's.
var decisionVerbs = map[string]protocol.Decision{
	"approve": protocol.AllowOnce,
	"always":  protocol.AllowAlways,
	"deny":    protocol.Deny,
	"stop":    protocol.DenyStop,
	"explain": protocol.Explain,
	"answer":  protocol.AllowOnce,
	"keep":    protocol.AllowOnce,
	"replan":  protocol.Deny,
	"option":  "",
}

// choose answers the only pending request if that asks for one choice and the line is a number. It
// reports whether it handled the line.
func (c *client) choose(line string) bool {
	out := c.renderer
	if len(out.state.Approvals) != 1 || !chooses(&out.state.Approvals[0]) {
		return false
	}
	if _, err := strconv.Atoi(line); err != nil {
		return false
	}
	if c.isNew() {
		out.linef("not answered: the question is new, type the number again")
		return true
	}
	a := &out.state.Approvals[0]
	q := &a.Questions[0]
	choice := q.Choice(line)
	if choice == nil {
		names := strings.Join(q.AnswerNames(), ", ")
		out.linef("no choice %s: the choices are %s; /answer %s gives another answer", line, names, line)
		return true
	}
	c.runCommand("answer", protocol.DoApprove, protocol.ApproveData{
		Request: a.Request, Decision: protocol.AllowOnce,
		Input: &protocol.ApprovalInput{Answers: map[string][]string{q.ID: {choice.ID}}},
	})
	return true
}

// isNew reports whether the newest request arrived so recently that a line may have been written
// before.
func (c *client) isNew() bool { return time.Since(c.asked) < approval.Grace }

// decide answers a pending request: the named one, or the only one unless it is new.
func (c *client) decide(verb, rest string) {
	out := c.renderer
	option := ""
	if verb == "option" {
		option, rest, _ = strings.Cut(rest, " ")
	}
	typed := strings.TrimSpace(rest)
	request, rest, err := findRequest(out.state.Approvals, typed)
	if err == nil && c.isNew() && !strings.HasPrefix(typed, request.Request) {
		err = fmt.Errorf("not decided: request %s is new, name it or type the command again", request.Request)
	}
	if err == nil {
		var d protocol.ApproveData
		if d, err = decision(request, verb, option, rest); err == nil {
			c.runCommand("/"+verb, protocol.DoApprove, d)
			return
		}
	}
	out.linef("/%s: %s", verb, err)
}

// decision returns the decision of a command with the text after it. The error names what the
// request takes instead.
func decision(a *protocol.Approval, verb, option, text string) (protocol.ApproveData, error) {
	d := protocol.ApproveData{Request: a.Request, Decision: decisionVerbs[verb], Option: option}
	if verb == "option" {
		d.Reason = text
		if !slices.ContainsFunc(a.Options, func(o protocol.Option) bool { return o.ID == option }) {
			return d, fmt.Errorf("no option %q: the options are %s", option, strings.Join(optionIDs(a), ", "))
		}
		return d, nil
	}
	if !a.Offers(d.Decision) {
		return d, fmt.Errorf("%s", describe.NotOffered(a, d.Decision))
	}
	var err error
	switch verb {
	case "approve":
		if d.Reason = text; len(a.Questions) > 0 {
			err = fmt.Errorf("the request asks: write /answer %s", a.AnswerExample())
		}
	case "answer":
		if len(a.Questions) == 0 {
			return d, errors.New("the request asks no question")
		}
		var answers map[string][]string
		answers, err = a.ParseAnswers(text)
		d.Input = a.InputOf(answers)
	case "keep":
		d.Input, err = parseTasks(a, text)
	case "replan":
		d.Reason, d.Input = text, &protocol.ApprovalInput{Replan: true}
		if a.Kind != protocol.ApprovePlan {
			err = errors.New("the request is no plan")
		}
	default:
		d.Reason = text
	}
	return d, err
}

// optionIDs returns the ids of the options of a request.
func optionIDs(a *protocol.Approval) []string {
	ids := make([]string, len(a.Options))
	for i := range a.Options {
		ids[i] = a.Options[i].ID
	}
	return ids
}

// findRequest returns the request that rest names, or the only pending one, and the text after the
// name.
func findRequest(pending []protocol.Approval, rest string) (*protocol.Approval, string, error) {
	name, after, _ := strings.Cut(rest, " ")
	if i := approval.IndexOf(pending, name); i >= 0 {
		return &pending[i], strings.TrimSpace(after), nil
	}
	switch len(pending) {
	case 0:
		return nil, "", errors.New("no approval is pending")
	case 1:
		return &pending[0], rest, nil
	}
	names := make([]string, len(pending))
	for i := range pending {
		names[i] = pending[i].Request
	}
	return nil, "", fmt.Errorf("%d approvals are pending, name one: %s", len(pending), strings.Join(names, ", "))
}

// parseTasks parses the numbers of the tasks to keep, separated by spaces or commas.
func parseTasks(a *protocol.Approval, rest string) (*protocol.ApprovalInput, error) {
	var keep []int
	for _, word := range strings.FieldsFunc(rest, func(r rune) bool { return r == ' ' || r == ',' }) {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > len(a.Tasks) {
			return nil, fmt.Errorf("no task %s: want 1 to %d", word, len(a.Tasks))
		}
		keep = append(keep, n-1)
	}
	kept := approval.KeepTasks(a.Tasks, keep)
	if len(kept) == 0 {
		return nil, fmt.Errorf("name one or more of the %s", format.Count(len(a.Tasks), "task"))
	}
	return &protocol.ApprovalInput{Tasks: kept}, nil
}
