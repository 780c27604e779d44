package protocol

import (
	"reflect"
	"strings"
	"testing"
)

func number(n float64) *float64 { return &n }

func TestAQuestionAcceptsWhatItsFieldSays(t *testing.T) {
	choices := []Choice{{ID: "b", Label: "Berlin"}, {ID: "m", Label: "Munich"}, {ID: "n", Label: "New York"}}
	for name, c := range map[string]struct {
		q     Question
		given []string
		want  []string
		wrong string // part of the error
	}{
		"text":             {Question{}, []string{" a b "}, []string{" a b "}, ""},
		"several texts":    {Question{Field: Field{Required: true}}, []string{"a", "b"}, nil, "want one answer"},
		"no text":          {Question{Field: Field{Required: true}}, []string{""}, nil, "it is required"},
		"no optional text": {Question{Field: Field{Format: "email"}}, nil, nil, ""},
		"a default":        {Question{Field: Field{Required: true, Default: []string{"x"}}}, nil, nil, ""},
		"short":            {Question{Field: Field{Min: number(2)}}, []string{"ü"}, nil, "want at least 2 characters"},
		"short enough": {
			Question{Field: Field{Min: number(2), Max: number(2)}}, []string{"üü"}, []string{"üü"}, "",
		},
		"long": {
			Question{Field: Field{Min: number(2), Max: number(2)}}, []string{"abc"}, nil, "want exactly 2 characters",
		},
		"pattern": {Question{Field: Field{Pattern: "^a+$"}}, []string{"aa"}, []string{"aa"}, ""},
		"not the pattern": {
			Question{Field: Field{Pattern: "^a+$"}}, []string{"ab"}, nil, `does not match the pattern "^a+$"`,
		},
		"unknown pattern": {Question{Field: Field{Pattern: "(?=a)"}}, []string{"b"}, []string{"b"}, ""},
		"email": {
			Question{Field: Field{Format: "email"}}, []string{"a@b.example"}, []string{"a@b.example"}, "",
		},
		"no email": {Question{Field: Field{Format: "email"}}, []string{"a@b c"}, nil, "want an email address"},
		"uri":      {Question{Field: Field{Format: "uri"}}, []string{"urn:a"}, []string{"urn:a"}, ""},
		"no uri":   {Question{Field: Field{Format: "uri"}}, []string{"/a"}, nil, "want a URI"},
		"date": {
			Question{Field: Field{Format: "date"}}, []string{"2026-02-28"}, []string{"2026-02-28"}, "",
		},
		"no date": {Question{Field: Field{Format: "date"}}, []string{"2026-02-30"}, nil, "want a date"},
		"time": {
			Question{Field: Field{Format: "date-time"}},
			[]string{"2026-02-28T10:00:00+01:00"},
			[]string{"2026-02-28T10:00:00+01:00"},
			"",
		},
		"no time":        {Question{Field: Field{Format: "date-time"}}, []string{"2026-02-28"}, nil, "want a time"},
		"unknown format": {Question{Field: Field{Format: "tel"}}, []string{"x"}, []string{"x"}, ""},
		"integer":        {Question{Field: Field{Type: FieldInteger}}, []string{" -3 "}, []string{" -3 "}, ""},
		"large integer": {
			Question{Field: Field{Type: FieldInteger}},
			[]string{"9223372036854775807"},
			[]string{"9223372036854775807"},
			"",
		},
		"too large integer": {
			Question{Field: Field{Type: FieldInteger}}, []string{"9223372036854775808"}, nil, "is no integer",
		},
		"no integer": {Question{Field: Field{Type: FieldInteger}}, []string{"3.5"}, nil, `"3.5" is no integer`},
		"integer bounds": {
			Question{Field: Field{Type: FieldInteger, Min: number(1), Max: number(9)}},
			[]string{"10"},
			nil,
			"want 1 to 9",
		},
		"number":       {Question{Field: Field{Type: FieldNumber}}, []string{"-.5e1"}, []string{"-.5e1"}, ""},
		"no number":    {Question{Field: Field{Type: FieldNumber}}, []string{"0x10"}, nil, "is no number"},
		"not a number": {Question{Field: Field{Type: FieldNumber}}, []string{"NaN"}, nil, "is no number"},
		"infinite":     {Question{Field: Field{Type: FieldNumber}}, []string{"1e999"}, nil, "is no number"},
		"number bounds": {
			Question{Field: Field{Type: FieldNumber, Min: number(0.5)}}, []string{"0.4"}, nil, "want at least 0.5",
		},
		"secret number": {
			Question{Field: Field{Type: FieldNumber, Secret: true}},
			[]string{"hunter2"},
			nil,
			"want a value of type number",
		},
		"choice by id": {Question{Choices: choices, Field: Field{Closed: true}}, []string{"m"}, []string{"m"}, ""},
		"choice by label": {
			Question{Choices: choices, Field: Field{Closed: true}}, []string{"new york"}, []string{"n"}, "",
		},
		"choice by number": {Question{Choices: choices, Field: Field{Closed: true}}, []string{"2"}, []string{"m"}, ""},
		"no choice": {
			Question{Choices: choices, Field: Field{Closed: true}},
			[]string{"Rome"},
			nil,
			`"Rome" is not one of the choices`,
		},
		"two choices": {
			Question{Choices: choices, Field: Field{Closed: true}}, []string{"b", "m"}, nil, "want one choice",
		},
		"choice and text": {
			Question{Choices: choices, Field: Field{Required: true}},
			[]string{"b", "but later"},
			[]string{"b", "but later"},
			"",
		},
		"several": {
			Question{Choices: choices, Many: true, Field: Field{Closed: true}},
			[]string{"1", "Munich", "m"},
			[]string{"b", "m"},
			"",
		},
		"too few": {
			Question{Choices: choices, Many: true, Field: Field{Closed: true, Min: number(2)}},
			[]string{"1"},
			nil,
			"want at least 2 choices",
		},
		"too many": {
			Question{Choices: choices, Many: true, Field: Field{Closed: true, Max: number(1)}},
			[]string{"1", "2"},
			nil, "want at most 1 choice",
		},
	} {
		c.q.ID = "the field"
		got, err := c.q.Check(c.given)
		switch {
		case c.wrong == "" && (err != nil || !reflect.DeepEqual(got, c.want)):
			t.Errorf("%s: %q, %v", name, got, err)
		case c.wrong != "" && (err == nil || CodeOf(err) != CodeInvalidMessage || !strings.Contains(err.Error(), c.wrong) ||
			!strings.Contains(err.Error(), `"the field"`) || strings.Contains(err.Error(), "hunter2")):
			t.Errorf("%s: %q, %v, want %q", name, got, err, c.wrong)
		}
	}
}

func TestAnswersOfARequestAreChecked(t *testing.T) {
	a := &Approval{Questions: []Question{
		{ID: "free"}, {ID: "n", Field: Field{Type: FieldInteger}}, {
			ID: "pw", Field: Field{Secret: true, Required: true},
		},
	}}
	in := &ApprovalInput{
		Answers: map[string][]string{"free": {"a", "b"}, "n": {"1"}}, Secrets: map[string][]string{"pw": {"hunter2"}},
	}
	got, err := a.CheckAnswers(in)
	want := map[string][]string{"free": {"a", "b"}, "n": {"1"}, "pw": {"hunter2"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	hidden, any := a.HideSecrets(got)
	want["pw"] = []string{HiddenAnswer}
	if !any || !reflect.DeepEqual(hidden, want) || got["pw"][0] != "hunter2" {
		t.Errorf("hidden %v, %v, of %v", hidden, any, got)
	}
	for name, in := range map[string]*ApprovalInput{
		`"pw": it is required`:                  nil,
		`"x": the request has no such question`: {Answers: map[string][]string{"x": {"1"}, "pw": {"y"}}},
	} {
		if _, err := a.CheckAnswers(in); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, err := (&Approval{Questions: []Question{{ID: "q"}}}).CheckAnswers(nil); got != nil || err != nil {
		t.Errorf("%v, %v", got, err)
	}
}

func TestAQuestionSaysWhatItWants(t *testing.T) {
	for want, q := range map[string]Question{
		"": {},
		"required · integer · 1 to 9": {
			Field: Field{Required: true, Type: FieldInteger, Min: number(1), Max: number(9)},
		},
		"at least 2 choices": {
			Choices: []Choice{{ID: "a"}}, Many: true, Field: Field{Min: number(2), Closed: true},
		},
		"email address · at most 80 characters": {Field: Field{Format: "email", Max: number(80)}},
		"not shown or stored":                   {Field: Field{Secret: true}},
	} {
		if got := q.Wants(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	q := Question{
		About: "about", Choices: []Choice{{ID: "a", Label: "A"}},
		Field: Field{Default: []string{"a", "b"}, Pattern: "^x"},
	}
	if got := q.Details(); !reflect.DeepEqual(got, []string{"about", "default: A, b", "pattern: ^x"}) {
		t.Errorf("%q", got)
	}
}
