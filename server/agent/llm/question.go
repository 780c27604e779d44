package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"agentctl/protocol"
)

// questionName is the name of questionTool.
const questionName = "ask_user"

// Limits of one call of questionTool.
const (
	maxQuestions = 10
	maxChoices   = 20
)

const skippedText = "The user skipped the questions. Go on with your best judgement, and say what you assumed."

// A questionTool asks the user. A call is a request for approval of the kind question: the answers
// are its result.
type questionTool struct{}

// Spec implements Tool.
func (questionTool) Spec() ToolSpec {
	return ToolSpec{
		Name: questionName, Kind: protocol.ToolThink,
		About: "Asks the user, when the answer decides what you do and you cannot find it out yourself. The user " +
			"chooses among choices, or writes an answer to a question without any.",
		Schema: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["questions"],"properties":` +
			`{"questions":{"type":"array","items":{"type":"object","additionalProperties":false,` +
			`"required":["question"],"properties":{"question":{"type":"string"},"several":{"type":"boolean",` +
			`"description":"accepts several choices"},"choices":{"type":"array","items":{"type":"object",` +
			`"additionalProperties":false,"required":["label"],"properties":{"label":{"type":"string"},` +
			`"about":{"type":"string"}}}}}}}}}`),
	}
}

// Preview implements Tool.
func (t questionTool) Preview(_ context.Context, c *ToolCall) (Preview, error) {
	var in struct {
		Questions []struct {
			Question string
			Several  bool
			Choices  []struct{ Label, About string }
		}
	}
	if err := c.Decode(t.Spec(), &in); err != nil {
		return Preview{}, err
	}
	if len(in.Questions) == 0 || len(in.Questions) > maxQuestions {
		return Preview{}, fmt.Errorf("want 1 to %d questions", maxQuestions)
	}
	questions := make([]protocol.Question, len(in.Questions))
	for i, asked := range in.Questions {
		if strings.TrimSpace(asked.Question) == "" || len(asked.Choices) > maxChoices {
			return Preview{}, fmt.Errorf("question %d: want a text, and at most %d choices", i+1, maxChoices)
		}
		q := protocol.Question{ID: strconv.Itoa(i + 1), Text: asked.Question, Many: asked.Several}
		for k, choice := range asked.Choices {
			if choice.Label == "" {
				return Preview{}, fmt.Errorf("question %d: choice %d has no label", i+1, k+1)
			}
			q.Choices = append(q.Choices, protocol.Choice{
				ID: strconv.Itoa(k + 1), Label: choice.Label, About: choice.About,
			})
		}
		questions[i] = q
	}
	c.Plan = questions
	return Preview{Title: questions[0].Text, Request: protocol.Approval{
		Kind: protocol.ApproveQuestion, Questions: questions,
	}}, nil
}

// Run implements Tool. The user has answered.
func (questionTool) Run(_ context.Context, c *ToolCall, _ func(string)) (ToolResult, error) {
	questions, ok := c.Plan.([]protocol.Question)
	if !ok {
		return ToolResult{}, errors.New("the questions were not checked")
	}
	var b strings.Builder
	for _, q := range questions {
		fmt.Fprintf(&b, "%s\n", q.Text)
		answers := c.Answers[q.ID]
		if len(answers) == 0 {
			b.WriteString("(no answer)\n")
		}
		for _, a := range answers {
			for _, choice := range q.Choices {
				if choice.ID == a {
					a = choice.Label
					break
				}
			}
			fmt.Fprintf(&b, "- %s\n", a)
		}
	}
	return ToolResult{Text: b.String()}, nil
}
