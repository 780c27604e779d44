package approval

import (
	"strings"

	"agentctl/internal/format"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// questionLines returns what is above the rows of a question: its text and details, which are the
// agent's, and which answers it accepts.
func (f *Form) questionLines(question, width int) []formLine {
	q, row := &f.answers.questions[question], formRow{rowText, question, 0}
	var out []formLine
	for _, line := range theirLines("   ", transcript.Reveal(q.Text), width) {
		out = append(out, formLine{text: f.styles.Bold.Render(line), row: row})
	}
	for _, detail := range q.Details() {
		for _, line := range theirLines("   ", transcript.Reveal(detail), width) {
			out = append(out, formLine{text: line, row: row})
		}
	}
	if wants := q.Wants(); wants != "" {
		for _, line := range ui.Wrap(wants, max(1, width-3)) {
			out = append(out, formLine{text: f.styles.Dim.Render("   " + line), row: row})
		}
	}
	return out
}

// answerLabel returns the label of the text that answers a question.
func (f *Form) answerLabel(question int) string {
	if len(f.answers.questions[question].Choices) > 0 {
		return "Other:"
	}
	return "Answer:"
}

// shownAnswer returns the text that answers a question as it is shown, on one line.
func (f *Form) shownAnswer(question int) string {
	text := f.answers.textOf(question)
	if f.answers.questions[question].Secret {
		return strings.Repeat("•", min(len(text), 8))
	}
	return format.JoinLines(transcript.Reveal(text))
}
