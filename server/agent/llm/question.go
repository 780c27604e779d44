package llm

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"agentctl/protocol"
)

// Limits of one call of questionTool.
const (
	maxQuestions = 10
	maxChoices   = 20
)

const skippedText = "The user skipped the questions. Go on with your best judgement, and say what you assumed."

type questionArguments struct {
	Questions []struct {
		Question string `json:"question"`
		Several  bool   `json:"several,omitempty" about:"accepts several choices"`
		Choices  []struct {
			Label string `json:"label"`
			About string `json:"about,omitempty"`
		} `json:"choices,omitempty"`
	} `json:"questions"`
}

// questionTool returns the tool that asks the user. A call is a request for approval of the kind question: the
// answers are its result.
func questionTool() Tool {
	return NewTool(Tool{
		Name: "ask_user", Kind: protocol.ToolThink,
		About: "Asks the user, when the answer decides what you do and you cannot find it out yourself. The user " +
			"chooses among choices, or writes an answer to a question without any.",
	}, checkQuestions)
}

func checkQuestions(_ context.Context, c *ToolCall, in questionArguments) (Preview, error) {
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
	return Preview{
		Title:   questions[0].Text,
		Request: protocol.Approval{Kind: protocol.ApproveQuestion, Questions: questions},
		Run: func(context.Context, func(string)) (ToolResult, error) {
			return ToolResult{Text: answersText(questions, c.Answers)}, nil
		},
	}, nil
}

// answersText returns the answers of the user for the model.
func answersText(questions []protocol.Question, all map[string][]string) string {
	var b strings.Builder
	for _, q := range questions {
		fmt.Fprintf(&b, "%s\n", q.Text)
		answers := all[q.ID]
		if len(answers) == 0 {
			b.WriteString("(no answer)\n")
		}
		for _, a := range answers {
			i := slices.IndexFunc(q.Choices, func(c protocol.Choice) bool { return c.ID == a })
			if i >= 0 {
				a = q.Choices[i].Label
			}
			fmt.Fprintf(&b, "- %s\n", a)
		}
	}
	return b.String()
}
