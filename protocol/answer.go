package protocol

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// AnswerNames returns the short names of the questions, which ParseAnswer accepts in addition to
// their ids: their numbers from 1, or their ids if such a number is the id of another question.
func (a *Approval) AnswerNames() []string {
	return shortNames(len(a.Questions), func(i int) (id, label string) {
		return a.Questions[i].ID, a.Questions[i].ID
	})
}

// AnswerNames returns the short names of the choices, which ParseAnswer accepts in addition to
// their ids and labels: their numbers from 1, or their ids if such a number is the id or the label
// of another choice.
func (q *Question) AnswerNames() []string {
	return shortNames(len(q.Choices), func(i int) (id, label string) {
		return q.Choices[i].ID, q.Choices[i].Label
	})
}

// shortNames returns the numbers of n things, or their ids if a number names another of them.
func shortNames(n int, names func(i int) (id, label string)) []string {
	numbers, ids, ambiguous := make([]string, n), make([]string, n), false
	for i := range n {
		id, label := names(i)
		numbers[i], ids[i] = strconv.Itoa(i+1), id
		for _, name := range []string{id, label} {
			number, err := strconv.Atoi(name)
			ambiguous = ambiguous || err == nil && number >= 1 && number <= n && number != i+1
		}
	}
	if ambiguous {
		return ids
	}
	return numbers
}

// Choice returns the choice with an id, a label or a short name, or nil. The case of a label matters
// only where a text is an answer too.
func (q *Question) Choice(name string) *Choice {
	for _, matches := range []func(c Choice) bool{
		func(c Choice) bool { return c.ID == name },
		func(c Choice) bool { return c.Label == name },
		func(c Choice) bool { return q.Closed && strings.EqualFold(c.Label, name) },
	} {
		if i := slices.IndexFunc(q.Choices, matches); i >= 0 {
			return &q.Choices[i]
		}
	}
	if i := slices.Index(q.AnswerNames(), name); i >= 0 {
		return &q.Choices[i]
	}
	return nil
}

// parse returns the answers that a text stands for: a choice, several choices with commas between
// them if the question accepts several, or the text itself.
func (q *Question) parse(text string) []string {
	if c := q.Choice(text); c != nil {
		return []string{c.ID}
	}
	var chosen []string
	if q.Many {
		for name := range strings.SplitSeq(text, ",") {
			c := q.Choice(strings.TrimSpace(name))
			if c == nil {
				return []string{text}
			}
			chosen = append(chosen, c.ID)
		}
		return chosen
	}
	return []string{text}
}

// questionAt returns the question that text begins with, as QUESTION=, and the text after it, or
// nil. An id precedes a short name, and a long id precedes a short one.
func (a *Approval) questionAt(text string) (q *Question, rest string) {
	names, length := a.AnswerNames(), -1
	for i := range a.Questions {
		if after, ok := strings.CutPrefix(text, a.Questions[i].ID+"="); ok && len(a.Questions[i].ID) > length {
			q, rest, length = &a.Questions[i], after, len(a.Questions[i].ID)
		}
	}
	if q != nil {
		return q, rest
	}
	for i, name := range names {
		if after, ok := strings.CutPrefix(text, name+"="); ok {
			return &a.Questions[i], after
		}
	}
	return nil, text
}

// ParseAnswer parses the answer to one question, QUESTION=ANSWER. The question is its id or its
// number. The answer is a choice, by id, label or number, or free text; with commas between several
// choices where the question accepts several. The only question needs no name.
func (a *Approval) ParseAnswer(text string) (question string, answers []string, err error) {
	q, rest := a.questionAt(text)
	switch {
	case q != nil:
	case len(a.Questions) == 1:
		q = &a.Questions[0]
	default:
		return "", nil, fmt.Errorf("%.80q names none of the questions: write %s", text, a.AnswerExample())
	}
	if rest = strings.TrimSpace(rest); rest == "" {
		return "", nil, fmt.Errorf("an answer is empty: write %s", a.AnswerExample())
	}
	return q.ID, q.parse(rest), nil
}

// ParseAnswers parses a line of answers as of ParseAnswer, with spaces between them. An answer ends
// before the next word that begins with the name of a question. A question may have several.
func (a *Approval) ParseAnswers(line string) (map[string][]string, error) {
	answers := map[string][]string{}
	line = strings.TrimSpace(line)
	for from, i := 0, 1; i <= len(line); i++ {
		if i < len(line) {
			if line[i-1] != ' ' {
				continue
			}
			if q, _ := a.questionAt(line[i:]); q == nil {
				continue
			}
		}
		question, given, err := a.ParseAnswer(line[from:i])
		if err != nil {
			return nil, err
		}
		answers[question] = append(answers[question], given...)
		from = i
	}
	if len(answers) == 0 {
		return nil, fmt.Errorf("no answer: write %s", a.AnswerExample())
	}
	return answers, nil
}

// AnswerExample returns a line that ParseAnswers accepts: the first choice of each question, the
// first two where it accepts several, or TEXT, NUMBER or INTEGER for a question without choices.
func (a *Approval) AnswerExample() string {
	words := make([]string, len(a.Questions))
	for i, name := range a.AnswerNames() {
		words[i] = cmp.Or(strings.ToUpper(a.Questions[i].Type), "TEXT")
		if names := a.Questions[i].AnswerNames(); len(names) > 1 && a.Questions[i].Many {
			words[i] = names[0] + "," + names[1]
		} else if len(names) > 0 {
			words[i] = names[0]
		}
		if len(a.Questions) > 1 {
			words[i] = name + "=" + words[i]
		}
	}
	if len(words) == 0 {
		return "QUESTION=TEXT"
	}
	return strings.Join(words, " ")
}
