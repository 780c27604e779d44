package approval

import (
	"errors"
	"slices"

	"agentctl/protocol"
)

// answers holds the answers to the questions of a request, by question ID.
type answers struct {
	questions []protocol.Question
	choices   map[string][]string // IDs of the chosen choices
	text      map[string]string   // other answers
}

// newAnswers returns the default answers to questions.
func newAnswers(questions []protocol.Question) answers {
	a := answers{questions: questions, choices: map[string][]string{}, text: map[string]string{}}
	for i := range questions {
		a.text[questions[i].ID] = a.defaultText(i)
		if len(questions[i].Choices) > 0 {
			a.choices[questions[i].ID] = slices.Clone(questions[i].Default)
		}
	}
	return a
}

// defaultText returns the default answer to a question without choices.
func (a *answers) defaultText(question int) string {
	q := &a.questions[question]
	if len(q.Choices) > 0 || len(q.Default) == 0 {
		return ""
	}
	return q.Default[0]
}

// rows returns the rows of all questions: their choices, and a text unless only choices are answers.
func (a *answers) rows() (rows []formRow) {
	for q := range a.questions {
		for c := range a.questions[q].Choices {
			rows = append(rows, formRow{rowChoice, q, c})
		}
		if !a.questions[q].Closed {
			rows = append(rows, formRow{rowAnswer, q, 0})
		}
	}
	return rows
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

// textOf returns the text that answers a question.
func (a *answers) textOf(question int) string { return a.text[a.questions[question].ID] }

// written returns the texts that the user wrote, without secrets.
func (a *answers) written() (out []string) {
	for i := range a.questions {
		if text := a.textOf(i); text != a.defaultText(i) && !a.questions[i].Secret {
			out = append(out, text)
		}
	}
	return out
}

// answersOf returns the answers to a question.
func (a *answers) answersOf(question int) []string {
	given := slices.Clone(a.choices[a.questions[question].ID])
	if text := a.textOf(question); text != "" {
		given = append(given, text)
	}
	return given
}

// all returns the answers by question ID, without unanswered questions.
func (a *answers) all() map[string][]string {
	out := map[string][]string{}
	for i := range a.questions {
		if given := a.answersOf(i); len(given) > 0 {
			out[a.questions[i].ID] = given
		}
	}
	return out
}

// input returns the answers as input of a decision.
func (a *answers) input() *protocol.ApprovalInput {
	return (&protocol.Approval{Questions: a.questions}).InputOf(a.all())
}

// check returns why a question does not accept its answers, and its index; or "".
func (a *answers) check() (question int, problem string) {
	form := false
	for i := range a.questions {
		q := &a.questions[i]
		form = form || q.IsForm()
		var refused *protocol.Error
		if !q.IsForm() {
			continue
		}
		if _, err := q.Check(a.answersOf(i)); errors.As(err, &refused) {
			return i, refused.Message
		}
	}
	if len(a.questions) > 0 && !form && len(a.all()) == 0 {
		return 0, "no question is answered yet"
	}
	return 0, ""
}
