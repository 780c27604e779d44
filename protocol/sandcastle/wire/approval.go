package wire

import (
	"encoding/json"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// Tools of the real system that need an answer.
const (
	ToolQuestion = "AskUserQuestion"
	toolPlan     = "ExitPlanMode"
)

// ToolCallOf returns the id of the tool call that represents an approval.
func ToolCallOf(a *protocol.Approval) string {
	if a.Tool != "" {
		return a.Tool
	}
	return a.Request
}

// CallNameOf returns the tool name in the call that shows an approval.
func CallNameOf(a *protocol.Approval) string {
	if name := ToolNameOf(a); name == ToolQuestion || name == toolPlan {
		return ToolServerPrefix + name
	}
	return ToolNameOf(a)
}

// ToolNameOf returns the tool name of an approval, by which clients recognize questions and plans.
func ToolNameOf(a *protocol.Approval) string {
	switch {
	case a.Kind == protocol.ApproveQuestion:
		return ToolQuestion
	case a.Kind == protocol.ApprovePlan:
		return toolPlan
	case a.Name != "":
		return a.Name
	}
	return a.Kind
}

// DecisionOf decodes the answer to an approval.
func DecisionOf(a *protocol.Approval, p *ApprovalResponse) protocol.ApproveData {
	d := protocol.ApproveData{Request: a.Request, Decision: protocol.Deny}
	if *p.Approved {
		d.Decision = protocol.AllowOnce
	}
	if p.Payload == nil {
		return d
	}
	switch p.Payload.Type {
	case FeedbackPayload:
		d.Reason = p.Payload.Feedback
		if d.Decision == protocol.Deny && d.Reason != "" && a.Kind == protocol.ApprovePlan {
			d.Input = &protocol.ApprovalInput{Replan: true}
		}
	case answersPayload:
		if len(a.Questions) == 0 { // the question to open a page is the dialect's
			return d
		}
		answers := map[string][]string{}
		for key, raw := range p.Payload.Answers {
			many := AnswerTexts(raw)
			q := questionOf(a, key)
			for i := range many {
				many[i] = q.choiceID(many[i])
			}
			answers[q.id(key)] = many
		}
		if len(answers) > 0 {
			d.Input = &protocol.ApprovalInput{Answers: answers}
		}
	}
	return d
}

// A question is a question of an approval, or nil.
type question protocol.Question

// questionOf finds a question by id or, as the real client sends it, by its text as shown.
func questionOf(a *protocol.Approval, key string) *question {
	i := slices.IndexFunc(a.Questions, func(q protocol.Question) bool {
		return q.ID == key || q.Text == key || q.Prompt() == key
	})
	if i < 0 {
		return nil
	}
	return (*question)(&a.Questions[i])
}

func (q *question) id(key string) string {
	if q == nil {
		return key
	}
	return q.ID
}

// choiceID returns the id of the choice with a label. Any other answer is free text.
func (q *question) choiceID(answer string) string {
	if q != nil {
		for _, c := range q.Choices {
			if c.Label == answer {
				return c.ID
			}
		}
	}
	return answer
}

// SupportsDecision reports whether the protocol carries a decision.
func SupportsDecision(d protocol.Decision) bool { return d == protocol.AllowOnce || d == protocol.Deny }

// AnswerOf encodes the content of a decision: the answers to a question, or else the reason. The
// protocol carries a reason as plan feedback only.
func AnswerOf(a *protocol.Approval, d *protocol.ApproveData) *ApprovalAnswer {
	if a.Kind != protocol.ApproveQuestion || d.Input == nil || len(d.Input.AllAnswers()) == 0 {
		if d.Reason == "" {
			return nil
		}
		return &ApprovalAnswer{Type: FeedbackPayload, Feedback: d.Reason}
	}
	return &ApprovalAnswer{Type: answersPayload, Answers: AnswersOf(a, d.Input)}
}

// AnswersOf encodes answers by the question's text.
func AnswersOf(a *protocol.Approval, in *protocol.ApprovalInput) map[string]json.RawMessage {
	answers := map[string]json.RawMessage{}
	if in == nil {
		return answers
	}
	for key, values := range in.AllAnswers() {
		q := questionOf(a, key)
		if q != nil {
			key = (*protocol.Question)(q).Prompt()
		}
		labels := make([]string, len(values))
		for i, w := range values {
			labels[i] = q.choiceLabel(w)
		}
		if len(labels) == 1 && (q == nil || !q.Many) {
			answers[key] = protocol.MustEncode(labels[0])
		} else {
			answers[key] = protocol.MustEncode(labels)
		}
	}
	return answers
}

// choiceLabel returns the server's label of a choice.
func (q *question) choiceLabel(answer string) string {
	if q != nil {
		for _, c := range q.Choices {
			if c.ID == answer {
				return c.Label
			}
		}
	}
	return answer
}

// A PromptInput is the input of the tools that need an answer.
type PromptInput struct {
	Questions []promptQuestion `json:"questions,omitempty"`
	Plan      string           `json:"plan,omitempty"`
}

type promptQuestion struct {
	Question    string         `json:"question"`
	Header      string         `json:"header"`
	Options     []promptOption `json:"options"`
	MultiSelect bool           `json:"multiSelect"`
}

type promptOption struct {
	Label       string `json:"label"`
	Description string `json:"description"`
}

// ApprovalInput returns the tool input that shows an approval.
func ApprovalInput(a *protocol.Approval) json.RawMessage {
	switch a.Kind {
	case protocol.ApproveQuestion:
		var in PromptInput
		if a.Page != nil {
			in.Questions = append(in.Questions, promptQuestion{
				Question: a.Title + "\n" + a.Page.Prompt(), Header: "page", Options: []promptOption{},
			})
		}
		for i := range a.Questions {
			q := &a.Questions[i]
			question := promptQuestion{
				Question: q.Prompt(), Header: q.ID, MultiSelect: q.Many, Options: []promptOption{},
			}
			for _, c := range q.Choices {
				question.Options = append(question.Options, promptOption{c.Label, c.About})
			}
			in.Questions = append(in.Questions, question)
		}
		return protocol.MustEncode(in)
	case protocol.ApprovePlan:
		in := PromptInput{Plan: a.Title}
		for _, t := range a.Tasks {
			in.Plan += "\n" + t.ID + ". " + t.Title
		}
		return protocol.MustEncode(in)
	}
	if a.TellsInput() {
		return a.Input
	}
	title := a.Title
	if a.Command != "" || a.Patch != "" || len(a.Content) > 0 {
		title = "" // the call has it
	}
	return protocol.MustEncode(struct {
		Command string             `json:"command,omitempty"`
		CWD     string             `json:"cwd,omitempty"`
		Patch   string             `json:"patch,omitempty"`
		Title   string             `json:"title,omitempty"`
		Input   json.RawMessage    `json:"input,omitempty"`
		Content []protocol.Content `json:"content,omitempty"`
		Paths   []string           `json:"paths,omitempty"`
	}{a.Command, a.CWD, a.Patch, title, a.Input, a.Content, a.Paths})
}

// QuestionsOf decodes the input of the question tool. A question's text is its id, because it keys
// the answers.
func QuestionsOf(input json.RawMessage) []protocol.Question {
	var in PromptInput
	if json.Unmarshal(input, &in) != nil {
		return nil
	}
	var list []protocol.Question
	for _, q := range in.Questions {
		question := protocol.Question{ID: q.Question, Text: q.Question, Many: q.MultiSelect}
		for _, o := range q.Options {
			question.Choices = append(question.Choices, protocol.Choice{
				ID: o.Label, Label: o.Label, About: o.Description,
			})
		}
		list = append(list, question)
	}
	return list
}

// ApprovalOf returns the approval of a tool call that awaits a decision.
func ApprovalOf(id, name, title string, input json.RawMessage) protocol.Approval {
	a := protocol.Approval{
		Request: id, Tool: id, Name: name, Kind: protocol.ApproveTool, Title: title, Input: input,
	}
	args := protocol.ReadArguments(input)
	allow, deny := "Allow once", "Deny"
	switch name {
	case ToolQuestion:
		a.Kind, a.Questions, a.Input = protocol.ApproveQuestion, QuestionsOf(input), nil
		allow, deny = "Answer", "Skip"
		if a.Title == "" && len(a.Questions) > 0 {
			a.Title = a.Questions[0].Text
		}
	case toolPlan:
		plan, _ := args.Text("plan")
		a.Kind, a.Why, a.Input = protocol.ApprovePlan, plan, nil
		allow = "Approve plan"
		if a.Title == "" {
			a.Title = "Approve the plan"
		}
	default:
		if p, ok := args.Command(); ok {
			a.Kind, a.Command, a.CWD = protocol.ApproveCommand, p.Line, p.Dir
		}
	}
	if a.Title == "" {
		a.Title = name
	}
	a.Options = []protocol.Option{
		{ID: string(protocol.AllowOnce), Kind: protocol.AllowOnce, Label: allow},
		{ID: string(protocol.Deny), Kind: protocol.Deny, Label: deny},
	}
	return a
}

// Differs reports whether a request differs from its tool call in the name of the tool or in its
// input. Only tools of the real system show questions and plans.
func Differs(a *protocol.Approval, name string, input json.RawMessage) bool {
	if a.Tool != "" && CallNameOf(a) != ToolNameOf(a) {
		return strings.TrimPrefix(name, ToolServerPrefix) != ToolNameOf(a)
	}
	tellsNothing := len(a.Input) == 0 && a.Command == "" && a.Patch == "" && len(a.Content) == 0
	if a.Tool == "" || tellsNothing {
		return false
	}
	told, asked := protocol.ReadArguments(input), protocol.ReadArguments(ApprovalInput(a))
	return told.String() != asked.String()
}

// AnswerTexts decodes an answer: a text or several.
func AnswerTexts(raw json.RawMessage) []string {
	var many []string
	if json.Unmarshal(raw, &many) != nil {
		many = []string{codec.String(raw)}
	}
	return many
}
