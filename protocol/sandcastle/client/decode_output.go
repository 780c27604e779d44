package client

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/sandcastle/wire"
)

// blockText returns the text of an output that is a list of text blocks, as the tools of the real
// system have it.
func blockText(raw []byte) (text string, ok bool) {
	if len(raw) == 0 || raw[0] != '[' {
		return "", false
	}
	var blocks []wire.TextBlock
	if json.Unmarshal(raw, &blocks) != nil || len(blocks) == 0 {
		return "", false
	}
	texts := make([]string, len(blocks))
	for i, b := range blocks {
		if b.Type != "text" {
			return "", false
		}
		texts[i] = b.Text
	}
	return strings.Join(texts, "\n"), true
}

// answersIn returns the answers in the output of the question tool, by question, or nil.
func answersIn(tool, output string) map[string][]string {
	if strings.TrimPrefix(tool, wire.ToolServerPrefix) != wire.ToolQuestion {
		return nil
	}
	var told struct{ Answers map[string]json.RawMessage }
	if json.Unmarshal([]byte(output), &told) != nil || told.Answers == nil {
		return nil
	}
	answers := map[string][]string{}
	for question, raw := range told.Answers {
		answers[question] = wire.AnswerTexts(raw)
	}
	return answers
}

// describeAnswers returns answers as text, in the order of the questions in the tool's input.
func describeAnswers(input json.RawMessage, answers map[string][]string) string {
	var lines []string
	add := func(question string) {
		if given, ok := answers[question]; ok {
			lines = append(lines, question+" "+strings.Join(given, ", "))
		}
	}
	asked := wire.QuestionsOf(input)
	for _, q := range asked {
		add(q.ID)
	}
	for _, question := range slices.Sorted(maps.Keys(answers)) {
		if !slices.ContainsFunc(asked, func(q protocol.Question) bool { return q.ID == question }) {
			add(question)
		}
	}
	return strings.Join(lines, "\n")
}
