package form

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"agentctl/protocol"
)

// one is a form with one field, x.
func one(field string) string { return `{"type":"object","properties":{"x":` + field + `}}` }

func TestEachKindOfFieldTakesItsValues(t *testing.T) {
	for name, c := range map[string]struct {
		field  string
		wants  string // Question.Wants
		answer []string
		want   string // content, or a part of the error behind "!"
	}{
		"text":         {`{"type":"string"}`, "", []string{"a b"}, `{"x":"a b"}`},
		"no text":      {`{"type":"string"}`, "", nil, `{}`},
		"default text": {`{"type":"string","default":"d"}`, "", nil, `{"x":"d"}`},
		"text bounds": {
			`{"type":"string","minLength":2,"maxLength":3}`, "2 to 3 characters",
			[]string{"a"},
			"!want 2 to 3 characters",
		},
		"pattern": {`{"type":"string","pattern":"^a"}`, "", []string{"b"}, "!does not match"},
		"email":   {`{"type":"string","format":"email"}`, "email address", []string{"x"}, "!want an email"},
		"null is absent": {
			`{"type":"string","minLength":null,"default":null,"enum":null}`, "", []string{"y"}, `{"x":"y"}`,
		},
		"enum": {`{"type":"string","enum":["a","b"]}`, "", []string{"b"}, `{"x":"b"}`},
		"enum with names": {
			`{"type":"string","enum":["a","b"],"enumNames":["Ada","Bob"]}`, "", []string{"Bob"}, `{"x":"b"}`,
		},
		"an empty value": {`{"type":"string","enum":["","b"]}`, "", []string{"(empty)"}, `{"x":""}`},
		"no choice":      {`{"type":"string","enum":["a","b"]}`, "", []string{"c"}, "!not one of the choices"},
		"default choice": {`{"type":"string","enum":["a","b"],"default":"b"}`, "", nil, `{"x":"b"}`},
		"titled": {
			`{"type":"string","oneOf":[{"const":"a","title":"Ada","description":"d"}]}`, "",
			[]string{"ada"},
			`{"x":"a"}`,
		},
		"integer": {
			`{"type":"integer","minimum":1,"maximum":9}`, "integer · 1 to 9", []string{" 7 "}, `{"x":7}`,
		},
		"large integer":   {`{"type":"integer"}`, "integer", []string{"9007199254740993"}, `{"x":9007199254740993}`},
		"default integer": {`{"type":"integer","default":9007199254740993}`, "integer", nil, `{"x":9007199254740993}`},
		"no integer":      {`{"type":"integer"}`, "integer", []string{"1.5"}, "!no integer"},
		"out of bounds": {
			`{"type":"integer","maximum":9}`, "integer · at most 9", []string{"10"}, "!want at most 9",
		},
		"number":      {`{"type":"number"}`, "number", []string{"1.5e2"}, `{"x":150}`},
		"no number":   {`{"type":"number"}`, "number", []string{"many"}, "!no number"},
		"yes":         {`{"type":"boolean"}`, "", []string{"yes"}, `{"x":true}`},
		"no":          {`{"type":"boolean","default":true}`, "", []string{"false"}, `{"x":false}`},
		"default yes": {`{"type":"boolean","default":true}`, "", nil, `{"x":true}`},
		"neither":     {`{"type":"boolean"}`, "", []string{"perhaps"}, "!not one of the choices"},
		"list": {
			`{"type":"array","items":{"type":"string","enum":["a","b"]}}`, "", []string{"b", "a"}, `{"x":["b","a"]}`,
		},
		"titled list": {
			`{"type":"array","minItems":1,"items":{"anyOf":[{"const":"a","title":"A"}]}}`, "at least 1 choice",
			[]string{"A"},
			`{"x":["a"]}`,
		},
		"too many": {
			`{"type":"array","maxItems":1,"items":{"enum":["a","b"]}}`, "at most 1 choice",
			[]string{"a", "b"},
			"!at most 1",
		},
		"default list": {`{"type":"array","default":["a"],"items":{"enum":["a","b"]}}`, "", nil, `{"x":["a"]}`},
		"password": {
			`{"type":"string","format":"password"}`, "not shown or stored", []string{" p "}, `{"x":" p "}`,
		},
		"write only": {`{"type":"string","writeOnly":true}`, "not shown or stored", []string{"p"}, `{"x":"p"}`},
		"secret by a hint": {
			`{"type":"string","_meta":{"secret":true}}`, "not shown or stored", []string{"p"}, `{"x":"p"}`,
		},
		"secret by title": {`{"type":"string","title":"API key"}`, "not shown or stored", []string{"p"}, `{"x":"p"}`},
		"other keywords": {
			`{"type":"number","multipleOf":2,"x-y":{},"$comment":"c"}`, "number", []string{"2"}, `{"x":2}`,
		},
		"hidden choices": {`{"type":"string","title":"Token","enum":["a"]}`, "", []string{"a"}, `{"x":"a"}`},
		"no default shown": {
			`{"type":"string","format":"password","default":"d"}`, "not shown or stored", nil, `{"x":"d"}`,
		},
	} {
		f, err := Parse(json.RawMessage(one(c.field)), hints)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		q := f.Questions()[0]
		if got := q.Wants(); got != c.wants || q.ID != "x" {
			t.Errorf("%s: wants %q, %+v", name, got, q)
		}
		if q.Secret && q.Default != nil {
			t.Errorf("%s: the default is shown", name)
		}
		content, err := f.Content(map[string][]string{"x": c.answer})
		got := string(protocol.MustEncode(content))
		if wrong, ok := strings.CutPrefix(c.want, "!"); ok {
			if err == nil || !strings.Contains(err.Error(), wrong) || !strings.Contains(err.Error(), `"x"`) {
				t.Errorf("%s: %s, %v", name, got, err)
			}
		} else if err != nil || got != c.want {
			t.Errorf("%s: %s, %v, want %s", name, got, err, c.want)
		}
	}
}

func TestFieldsKeepTheirOrderAndTexts(t *testing.T) {
	f, err := Parse(json.RawMessage(`{"type":"object","title":"T","description":"D","additionalProperties":false,
		"required":["b"],"properties":{"z":{"type":"boolean"},"b":{"type":"number","title":"Size","description":"in cm",
		"multipleOf":2},"a":{"type":"string"}}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	q := f.Questions()
	if f.About != "T\nD" || len(q) != 3 || q[0].ID != "z" || q[0].Text != "z" || q[2].ID != "a" ||
		!reflect.DeepEqual(q[1], protocol.Question{
			ID: "b", Text: "Size", About: "in cm\nmultipleOf: 2", Field: protocol.Field{Type: "number", Required: true},
		}) {
		t.Errorf("%q, %+v", f.About, q)
	}
	if _, err := f.Content(nil); err == nil || !strings.Contains(err.Error(), `"b": it is required`) {
		t.Errorf("without a required field: %v", err)
	}
	if f.RequiredFirst(); f.Questions()[0].ID != "b" || f.Questions()[1].ID != "z" {
		t.Errorf("sorted %+v", f.Questions())
	}
}

// hints says that the field n is the note of db, and that the metadata marks secrets.
func hints(name, _ string, meta json.RawMessage) Hints {
	h := Hints{Secret: string(meta) == `{"secret":true}`}
	if name == "n" {
		h.NoteOf = "db"
	}
	return h
}

// The text field beside a choice is a part of the same question.
func TestANoteIsThePartOfItsChoice(t *testing.T) {
	const choice = `{"type":"string","title":"DB","oneOf":[{"const":"pg","title":"Postgres"},{"const":"lite","title":"SQLite"}]}`
	f, err := Parse(json.RawMessage(`{"properties":{"db":`+choice+
		`,"n":{"type":"string","title":"Other","description":"Your own."}}}`), hints)
	if err != nil {
		t.Fatal(err)
	}
	q := f.Questions()
	if len(q) != 1 || q[0].Closed || q[0].About != "Other: Your own." {
		t.Errorf("%+v", q)
	}
	for want, given := range map[string][]string{
		`{"db":"pg"}`: {"pg"}, `{"n":"MySQL"}`: {"MySQL"}, `{"db":"pg","n":"17"}`: {"pg", "17"},
	} {
		content, err := f.Content(map[string][]string{"db": given})
		if got := string(protocol.MustEncode(content)); err != nil || got != want {
			t.Errorf("%q is %s, %v, want %s", given, got, err, want)
		}
	}
	for name, schema := range map[string]string{
		"no note":    `"db":` + choice + `,"m":{"type":"string"}`,
		"bounded":    `"db":` + choice + `,"n":{"type":"string","maxLength":3}`,
		"a yes":      `"db":{"type":"boolean"},"n":{"type":"string"}`,
		"of another": `"db2":` + choice + `,"n":{"type":"string"}`,
	} {
		if f, err := Parse(json.RawMessage(`{"properties":{`+schema+`}}`), hints); err != nil || len(f.Questions()) != 2 {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
}

func TestAFormThatCannotBeShownCompletelyIsRefused(t *testing.T) {
	long := strings.Repeat("x", maxText+1)
	many := func(n int, format string) string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf(format, i)
		}
		return strings.Join(list, ",")
	}
	for name, schema := range map[string]string{
		"no object":              `[]`,
		"no JSON":                `{"properties":`,
		"another type":           `{"type":"array"}`,
		"an unknown part":        `{"type":"object","allOf":[{}]}`,
		"a field twice":          `{"properties":{"a":{"type":"string"},"a":{"type":"boolean"}}}`,
		"a keyword twice":        one(`{"type":"string","title":"a","title":"b"}`),
		"more than once defined": `{"properties":{},"properties":{"a":{"type":"string"}}}`,
		"a nested object":        one(`{"type":"object","properties":{}}`),
		"a list of objects":      one(`{"type":"array","items":{"type":"object"}}`),
		"a list of texts":        one(`{"type":"array","items":{"type":"string"}}`),
		"a list of lists":        one(`{"type":"array","items":{"type":"array","enum":["a"]}}`),
		"items with a condition": one(`{"type":"array","items":{"enum":["a"],"not":{}}}`),
		"no type":                one(`{"title":"a"}`),
		"two types":              one(`{"type":["string","null"]}`),
		"an unknown type":        one(`{"type":"_color"}`),
		"a condition":            one(`{"type":"string","not":{"const":"a"}}`),
		"a keyword's type":       one(`{"type":"string","minLength":"1"}`),
		"a negative length":      one(`{"type":"string","minLength":-1}`),
		"a choice of numbers":    one(`{"type":"string","enum":[1]}`),
		"a choice of nothing":    one(`{"type":"string","oneOf":[{"title":"a"}]}`),
		"no choices":             one(`{"type":"string","enum":[]}`),
		"a choice twice":         one(`{"type":"string","enum":["a","a"]}`),
		"a default no choice":    one(`{"type":"string","enum":["a"],"default":"b"}`),
		"two lists of choices":   one(`{"type":"string","enum":["a"],"oneOf":[{"const":"b","title":"b"}]}`),
		"a default of halves":    one(`{"type":"integer","default":0.5}`),
		"an unknown requirement": `{"required":["y"],"properties":{"x":{"type":"string"}}}`,
		"an empty name":          `{"properties":{"":{"type":"string"}}}`,
		"an invisible name":      "{\"properties\":{\"a\u200bb\":{\"type\":\"string\"}}}",
		"a long name":            `{"properties":{"` + strings.Repeat("x", maxName+1) + `":{"type":"string"}}}`,
		"a long title":           one(`{"type":"string","title":"` + long + `"}`),
		"a long description":     one(`{"type":"string","description":"` + long + `"}`),
		"a long choice":          one(`{"type":"string","enum":["` + long + `"]}`),
		"a large schema":         one(`{"type":"string","description":"` + strings.Repeat(long, 16) + `"}`),
		"1,000 fields":           `{"properties":{` + many(1000, `"f%d":{"type":"string"}`) + `}}`,
		"many fields":            `{"properties":{` + many(maxFields+1, `"f%d":{"type":"string"}`) + `}}`,
		"many choices":           one(`{"type":"string","enum":[` + many(maxChoices+1, `"%d"`) + `]}`),
	} {
		if f, err := Parse(json.RawMessage(schema), hints); err == nil || !strings.HasPrefix(err.Error(), "the form cannot be shown: ") {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
	for name, schema := range map[string]string{"none": "", "null": "null", "empty": "{}"} {
		if f, err := Parse(json.RawMessage(schema), hints); err != nil || len(f.Questions()) != 0 {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(one(`{"type":"string","title":"T","minLength":1,"pattern":"a(","format":"date","default":"d"}`), "x")
	f.Add(one(`{"type":"array","items":{"anyOf":[{"const":"a","title":"A"}]},"minItems":1,"default":["a"]}`), "a")
	f.Add(`{"required":["n"],"properties":{"n":{"type":"integer","maximum":9},"b":{"type":"boolean"},
		"c":{"type":"string","enum":["1",""]},"c_custom":{"type":"string","title":"Other"}}}`, "1")
	f.Fuzz(func(t *testing.T, schema, answer string) {
		form, err := Parse(json.RawMessage(schema), hints)
		if err != nil {
			return
		}
		questions := form.Questions()
		answers := map[string][]string{}
		names := map[string]bool{}
		for i := range questions {
			q := &questions[i]
			if names[q.ID] || q.ID == "" || q.Text == "" || len(q.Choices) > maxChoices {
				t.Fatalf("question %+v of %s", q, schema)
			}
			names[q.ID] = true
			if _, err := q.Check([]string{answer}); err == nil {
				answers[q.ID] = []string{answer}
			}
			for _, c := range q.Choices {
				if q.Choice(c.ID) == nil || q.Choice(c.ID).ID != c.ID {
					t.Fatalf("choice %+v of %s", c, schema)
				}
			}
		}
		// Checked answers have content, and it is JSON of the types of the fields.
		a := protocol.Approval{Questions: questions}
		checked, err := a.CheckAnswers(&protocol.ApprovalInput{Answers: answers})
		if err != nil {
			return
		}
		content, err := form.Content(checked)
		if err != nil {
			t.Fatalf("content of %v: %v, of %s", checked, err, schema)
		}
		if _, err := json.Marshal(content); err != nil {
			t.Fatalf("%v: %v", content, err)
		}
	})
}
