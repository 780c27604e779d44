package approval

import (
	"slices"

	"agentctl/protocol"
)

// answers holds the answers to the questions of a request, by question ID.
type answers struct {
	questions []protocol.Question
	choices   map[string][]string // IDs of the chosen choices
	text      map[string]string   // free text
}

// newAnswers returns no answers to questions.
func newAnswers(questions []protocol.Question) answers {
	return answers{questions: questions, choices: map[string][]string{}, text: map[string]string{}}
}

// toggle selects or clears a choice. In a single-choice question it replaces the selected one. It
// reports whether the question is answered then and takes no other choice.
func (a *answers) toggle(question, choice int) (done bool) {
	q := &a.questions[question]
	id, chosen := q.Choices[choice].ID, a.choices[q.ID]
	switch i := slices.Index(chosen, id); {
	case i >= 0:
		a.choices[q.ID] = slices.Delete(chosen, i, i+1)
	case q.Many:
		a.choices[q.ID] = append(chosen, id)
	default:
		a.choices[q.ID] = []string{id}
	}
	return !q.Many && len(a.choices[q.ID]) > 0
}

// textOf returns the free text of a question.
func (a *answers) textOf(question int) string { return a.text[a.questions[question].ID] }

// setText sets the free text of a question.
func (a *answers) setText(question int, text string) { a.text[a.questions[question].ID] = text }

// all returns the answers by question ID, without unanswered questions.
func (a *answers) all() map[string][]string {
	out := map[string][]string{}
	for _, q := range a.questions {
		given := slices.Clone(a.choices[q.ID])
		if text := a.text[q.ID]; text != "" {
			given = append(given, text)
		}
		if len(given) > 0 {
			out[q.ID] = given
		}
	}
	return out
}
