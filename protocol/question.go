package protocol

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// A Question asks for a text, a value or a choice.
type Question struct {
	ID      string   `json:"id"`
	Text    string   `json:"text"`
	About   string   `json:"about,omitempty"`
	Choices []Choice `json:"choices,omitempty"`
	Many    bool     `json:"many,omitempty"` // accepts several choices

	Field
}

// A Choice is one offered answer to a question.
type Choice struct {
	ID    string `json:"id"`
	Label string `json:"label"`
	About string `json:"about,omitempty"`
}

// A Field says which answers a question accepts. Without it all texts are accepted, also beside a
// choice.
type Field struct {
	Type     string   `json:"type,omitempty"`     // integer or number; empty: a text, or choices
	Required bool     `json:"required,omitempty"` // an answer without it is refused
	Closed   bool     `json:"closed,omitempty"`   // only its choices are answers
	Secret   bool     `json:"secret,omitempty"`   // its answer is neither shown nor stored
	Default  []string `json:"default,omitempty"`  // what no answer means: a text, or ids of choices
	Min      *float64 `json:"min,omitempty"`      // of a number, of the characters of a text, of the count of choices
	Max      *float64 `json:"max,omitempty"`
	Format   string   `json:"format,omitempty"`  // of a text: email, uri, date, date-time; others are not checked
	Pattern  string   `json:"pattern,omitempty"` // regular expression that a part of a text matches
}

// Types of the answers to a question.
const (
	FieldInteger = "integer"
	FieldNumber  = "number"
)

// HiddenAnswer replaces answers to secret questions in events.
const HiddenAnswer = "[hidden]"

// IsForm reports whether a field of the question restricts its answers.
func (q *Question) IsForm() bool {
	f := &q.Field
	return f.Type != "" || f.Required || f.Closed || f.Secret || f.Default != nil || f.Min != nil || f.Max != nil ||
		f.Format != "" || f.Pattern != ""
}

// CheckAnswers returns the answers of an input: choices by their ids, and other answers as they
// are. Empty answers are left out. If a question does not accept an answer, or needs one, the error
// has the code invalid_message and names the question.
func (a *Approval) CheckAnswers(in *ApprovalInput) (map[string][]string, error) {
	answers := in.AllAnswers()
	for id := range answers {
		if !slices.ContainsFunc(a.Questions, func(q Question) bool { return q.ID == id }) {
			return nil, Errorf(CodeInvalidMessage, "answer %.80q: the request has no such question", id)
		}
	}
	for i := range a.Questions {
		q := &a.Questions[i]
		if !q.IsForm() {
			continue
		}
		accepted, err := q.Check(answers[q.ID])
		if err != nil {
			return nil, err
		}
		if delete(answers, q.ID); len(accepted) > 0 {
			answers[q.ID] = accepted
		}
	}
	if len(answers) == 0 {
		return nil, nil
	}
	return answers, nil
}

// AllAnswers returns the answers of an input, those to secret questions too.
func (in *ApprovalInput) AllAnswers() map[string][]string {
	answers := map[string][]string{}
	if in != nil {
		for _, given := range []map[string][]string{in.Answers, in.Secrets} {
			for id, texts := range given {
				answers[id] = append(answers[id], texts...)
			}
		}
	}
	return answers
}

// InputOf returns answers as the input of a decision.
func (a *Approval) InputOf(answers map[string][]string) *ApprovalInput {
	in := &ApprovalInput{}
	add := func(to *map[string][]string, id string, texts []string) {
		if *to == nil {
			*to = map[string][]string{}
		}
		(*to)[id] = texts
	}
	for id, texts := range answers {
		if a.hasSecret(id) {
			add(&in.Secrets, id, texts)
		} else {
			add(&in.Answers, id, texts)
		}
	}
	return in
}

func (a *Approval) hasSecret(id string) bool {
	return slices.ContainsFunc(a.Questions, func(q Question) bool { return q.ID == id && q.Secret })
}

// HideSecrets returns answers with HiddenAnswer in place of those to secret questions, and whether
// there are any.
func (a *Approval) HideSecrets(answers map[string][]string) (hidden map[string][]string, any bool) {
	hidden = map[string][]string{}
	for id, texts := range answers {
		if a.hasSecret(id) {
			texts, any = []string{HiddenAnswer}, true
		}
		hidden[id] = texts
	}
	return hidden, any
}

// Recorded returns an input as events have it, with HiddenAnswer in place of the answers to secret
// questions.
func (a *Approval) Recorded(in *ApprovalInput) *ApprovalInput {
	if in == nil {
		return nil
	}
	recorded := *in
	recorded.Secrets = nil
	if recorded.Answers, _ = a.HideSecrets(in.AllAnswers()); len(recorded.Answers) == 0 {
		recorded.Answers = nil
	}
	return &recorded
}

// Check returns the answers to a question as CheckAnswers does. The errors do not repeat the answer
// to a secret question.
func (q *Question) Check(given []string) ([]string, error) {
	var answers, chosen []string
	for _, text := range given {
		if c := q.Choice(text); c != nil {
			if !slices.Contains(answers, c.ID) {
				answers, chosen = append(answers, c.ID), append(chosen, c.ID)
			}
		} else if text != "" {
			if q.Closed {
				return nil, q.refuse("%.80q is not one of the choices", text)
			}
			answers = append(answers, text)
		}
	}
	switch {
	case len(answers) == 0 && q.Required && q.Default == nil:
		return nil, q.refuse("it is required")
	case len(answers) == 0:
		return nil, nil
	case len(chosen) > 1 && !q.Many:
		return nil, q.refuse("want one choice")
	case len(q.Choices) > 0:
		return answers, q.checkBounds(float64(len(answers)), "choices")
	case len(answers) > 1:
		return nil, q.refuse("want one answer")
	}
	return answers, q.checkValue(answers[0])
}

func (q *Question) checkValue(text string) error {
	switch q.Type {
	case FieldInteger, FieldNumber:
		n, err := ParseNumber(text, q.Type)
		if err != nil {
			return q.refuse("%v", q.secretError(err))
		}
		return q.checkBounds(n, "")
	}
	if err := q.checkBounds(float64(utf8.RuneCountInString(text)), "characters"); err != nil {
		return err
	}
	if want := wrongFormat(text, q.Format); want != "" {
		return q.refuse("want %s", want)
	}
	// A pattern that Go cannot compile is left to the agent.
	if p, err := regexp.Compile(q.Pattern); err == nil && !p.MatchString(text) {
		return q.refuse("it does not match the pattern %.200q", q.Pattern)
	}
	return nil
}

// secretError returns err, without the answer if it is a secret.
func (q *Question) secretError(err error) error {
	if q.Secret {
		return fmt.Errorf("want a value of type %s", q.Type)
	}
	return err
}

// ParseNumber parses the answer to a question of the type integer or number.
func ParseNumber(text, kind string) (float64, error) {
	text = strings.TrimSpace(text)
	n, err := strconv.ParseFloat(text, 64)
	if kind == FieldInteger {
		var i int64
		i, err = strconv.ParseInt(text, 10, 64)
		n = float64(i)
	}
	if err != nil || strings.Trim(text, "+-.0123456789eE") != "" {
		return 0, fmt.Errorf("%.80q is no %s", text, kind)
	}
	return n, nil
}

// wrongFormat returns what a text must be to have a format; empty: it has it.
func wrongFormat(text, format string) string {
	ok, want := true, ""
	switch format {
	case "email":
		name, host, found := strings.Cut(text, "@")
		ok = found && name != "" && host != "" && !strings.ContainsAny(host, "@") && !strings.ContainsAny(
			text, " \t\n<>",
		)
		want = "an email address"
	case "uri":
		u, err := url.Parse(text)
		ok, want = err == nil && u.IsAbs(), "a URI such as https://example.org"
	case "date":
		_, err := time.Parse(time.DateOnly, text)
		ok, want = err == nil, "a date such as 2026-01-31"
	case "date-time":
		_, err := time.Parse(time.RFC3339, text)
		ok, want = err == nil, "a time such as 2026-01-31T09:30:00Z"
	}
	if ok {
		return ""
	}
	return want
}

func (q *Question) checkBounds(n float64, unit string) error {
	if q.Min != nil && n < *q.Min || q.Max != nil && n > *q.Max {
		return q.refuse("want %s", q.bounds(unit))
	}
	return nil
}

// bounds returns the bounds of a question in words: "1 to 9 characters".
func (q *Question) bounds(unit string) string {
	number := func(n *float64) string { return strconv.FormatFloat(*n, 'g', -1, 64) }
	text := ""
	switch {
	case q.Min != nil && q.Max != nil && *q.Min == *q.Max:
		text = "exactly " + number(q.Min)
	case q.Min != nil && q.Max != nil:
		text = number(q.Min) + " to " + number(q.Max)
	case q.Min != nil:
		text = "at least " + number(q.Min)
	case q.Max != nil:
		text = "at most " + number(q.Max)
	default:
		return ""
	}
	if strings.HasSuffix(text, " 1") {
		unit = strings.TrimSuffix(unit, "s")
	}
	return strings.TrimSuffix(text+" "+unit, " ")
}

func (q *Question) refuse(format string, args ...any) *Error {
	return Errorf(CodeInvalidMessage, "answer %.80q: %s", q.ID, fmt.Sprintf(format, args...))
}

// Wants returns which answers a question accepts, in words of agentctl's: "required · 1 to 9". It
// is empty for a question without a field.
func (q *Question) Wants() string {
	var words []string
	add := func(word string) {
		if word != "" {
			words = append(words, word)
		}
	}
	if q.Required {
		add("required")
	}
	if q.Secret {
		add("not shown or stored")
	}
	unit := "characters"
	switch {
	case len(q.Choices) > 0:
		unit = "choices"
	case q.Type != "":
		add(q.Type)
		unit = ""
	}
	switch q.Format {
	case "email":
		add("email address")
	case "uri":
		add("URI")
	case "date":
		add("date YYYY-MM-DD")
	case "date-time":
		add("date and time")
	}
	add(q.bounds(unit))
	return strings.Join(words, " · ")
}

// Details returns what the agent says about a question in addition to its text, a line each: its
// description, its default answer and its pattern.
func (q *Question) Details() []string {
	var lines []string
	if q.About != "" {
		lines = append(lines, q.About)
	}
	var defaults []string
	for _, d := range q.Default {
		if c := q.Choice(d); c != nil {
			d = c.Label
		}
		defaults = append(defaults, d)
	}
	if defaults != nil {
		lines = append(lines, "default: "+strings.Join(defaults, ", "))
	}
	if q.Pattern != "" {
		lines = append(lines, "pattern: "+q.Pattern)
	}
	return lines
}

// MustAnswer returns the first question of a request that needs an answer of the user, or nil.
func (a *Approval) MustAnswer() *Question {
	for i := range a.Questions {
		if q := &a.Questions[i]; q.Required && q.Default == nil {
			return q
		}
	}
	return nil
}

// Prompt returns a question with its details and what it wants, for clients that know texts alone.
func (q *Question) Prompt() string {
	lines := append([]string{q.Text}, q.Details()...)
	if wants := q.Wants(); wants != "" {
		lines = append(lines, "("+wants+")")
	}
	return strings.Join(lines, "\n")
}
