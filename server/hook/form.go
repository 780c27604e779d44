package hook

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"agentctl/protocol"
)

// maxForm bounds the body of a form, in bytes.
const maxForm = 256 << 10

// A formQuestion is a question on the page of a link. Its texts are visible.
type formQuestion struct {
	Name     string // of its inputs; the text beside choices has "t" after it
	Text     string
	Details  []string
	Wants    string
	Kind     string // type of the input
	Required bool
	Value    string
	Choices  []formChoice
	Many     bool
	Other    bool // other answers than the choices
}

type formChoice struct {
	Value, Label, About string
	Checked             bool
}

// inputName returns the name of the inputs of a question. The page has no ids of the agent.
func inputName(question int) string { return fmt.Sprintf("q%d", question) }

// formQuestions returns the questions of an encoded request with the answers of a form, or else
// their defaults. Secrets are not repeated.
func formQuestions(raw json.RawMessage, given map[string][]string) ([]formQuestion, error) {
	var a protocol.Approval
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, fmt.Errorf("show request: %w", err)
	}
	var list []formQuestion
	for i := range a.Questions {
		q := &a.Questions[i]
		answers := q.Default
		if given != nil {
			answers = given[q.ID]
		}
		f := formQuestion{
			Name: inputName(i), Text: visible(q.Text), Wants: q.Wants(), Kind: "text", Many: q.Many, Other: !q.Closed,
			Required: q.Required && q.Default == nil && (len(q.Choices) == 0 || q.Closed && !q.Many),
		}
		if q.Secret {
			f.Kind = "password"
		}
		for _, d := range q.Details() {
			f.Details = append(f.Details, visible(d))
		}
		for k, c := range q.Choices {
			f.Choices = append(f.Choices, formChoice{
				fmt.Sprint(k), visible(c.Label), visible(c.About), slices.Contains(answers, c.ID),
			})
		}
		for _, text := range answers {
			if q.Choice(text) == nil && !q.Secret {
				f.Value = text
			}
		}
		list = append(list, f)
	}
	return list, nil
}

// readForm returns a link's request and the answers of its form; nil if a program posts without it.
func (h *Hooks) readForm(
	w http.ResponseWriter, r *http.Request, token string,
) (raw json.RawMessage, input *protocol.ApprovalInput, err error) {
	_, raw, err = h.request(r.Context(), token)
	if err != nil {
		return nil, nil, err
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if r.ParseForm() != nil || r.PostForm.Get("form") == "" {
		return raw, nil, nil
	}
	var a protocol.Approval
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, nil, fmt.Errorf("read request: %w", err)
	}
	return raw, a.InputOf(formAnswers(a.Questions, r.PostForm)), nil
}

// formAnswers returns the answers of a form, by the ids of the questions.
func formAnswers(questions []protocol.Question, form url.Values) map[string][]string {
	answers := map[string][]string{}
	add := func(question, answer string) {
		if answer != "" {
			answers[question] = append(answers[question], protocol.ValidText(answer))
		}
	}
	for i := range questions {
		q := &questions[i]
		for _, value := range form[inputName(i)] {
			for k, c := range q.Choices {
				if value == fmt.Sprint(k) {
					add(q.ID, c.ID)
				}
			}
			if len(q.Choices) == 0 {
				add(q.ID, value)
			}
		}
		if len(q.Choices) > 0 {
			add(q.ID, form.Get(inputName(i)+"t"))
		}
	}
	return answers
}
