package arguments

import (
	"encoding/json"
	"strings"
	"testing"
)

// testArguments have a field of every kind.
type testArguments struct {
	Path       string `json:"path"`
	Offset     int    `json:"offset,omitempty" about:"of the first line"`
	ReplaceAll bool   `json:"replace_all,omitempty"`
	Command    string `json:"command,omitempty"`
	Steps      []struct {
		Title  string `json:"title"`
		Status string `json:"status,omitempty" enum:"pending,running"`
	} `json:"steps,omitempty"`
}

// The schema of arguments has what providers and models need, and nothing else is allowed.
func TestSchemaIsWhatTheFieldsSay(t *testing.T) {
	const want = `{"additionalProperties":false,"properties":{"command":{"type":"string"},` +
		`"offset":{"description":"of the first line","minimum":1,"type":"integer"},"path":{"type":"string"},` +
		`"replace_all":{"type":"boolean"},"steps":{"items":{"additionalProperties":false,"properties":{` +
		`"status":{"enum":["pending","running"],"type":"string"},"title":{"type":"string"}},` +
		`"required":["title"],"type":"object"},"type":"array"}},"required":["path"],"type":"object"}`
	if got := string(For[testArguments]().JSON()); got != want {
		t.Errorf("%s", got)
	}
	if got := string(For[struct {
		A bool `json:"a,omitempty"`
	}]().JSON()); !strings.Contains(got, `"required":[]`) {
		t.Errorf("%s", got)
	}
}

func TestArgumentsAreReadAsModelsSendThem(t *testing.T) {
	for input, want := range map[string]string{
		`{"path":"a"}`:                                `{"path":"a"}`,
		`{"Path":"a","replaceAll":"True"}`:            `{"path":"a","replace_all":true}`,
		`{"file_path":"a<b","offset":" 7"}`:           `{"offset":7,"path":"a<b"}`,
		`{"path":"a","offset":2.0}`:                   `{"offset":2,"path":"a"}`,
		`{"path":"a","offset":null}`:                  `{"path":"a"}`,
		`{"path":"a","cmd":["bash","-lc","ls | wc"]}`: `{"command":"bash -lc 'ls | wc'","path":"a"}`,
		`{"path":"a","command":["ls -l"]}`:            `{"command":"ls -l","path":"a"}`,
		`{"path":"a","command":["A=b","c"]}`:          `{"command":"'A=b' c","path":"a"}`,
		`{"path":"a","todos":"[\"x\",{\"content\":\"y\",\"status\":\"in_progress\"}]"}`://
		`{"path":"a","steps":[{"title":"x"},{"status":"running","title":"y"}]}`,

		`{"path":"a","paht":"b"}`: `invalid arguments: the call has no field "paht": it has the fields ` +
			`command (optional), offset (optional), path, replace_all (optional), steps (optional)`,
		`{"offset":1}`: "invalid arguments: path is missing: the call has the fields command (optional), " +
			"offset (optional), path, replace_all (optional), steps (optional)",
		`{"path":"a","path":"b"}`:      `invalid arguments: the call: duplicate field "path"`,
		`{"path":"a","Path":"b"}`:      `invalid arguments: path is given twice, also as "path"`,
		`{"path":"a","file_path":"b"}`: "invalid arguments: the call has no field \"file_path\"",
		`{"path":7}`:                   "invalid arguments: path must be a text, not a number",
		`{"path":"a","offset":"x"}`:    `invalid arguments: offset must be a whole number, not "x"`,
		`{"path":"a","offset":1.5}`:    "invalid arguments: offset must be a whole number, not 1.5",
		`{"path":"a","offset":1e300}`:  "invalid arguments: offset must be a whole number, not 1e300",
		`{"path":"a","command":["a",{}]}`: "invalid arguments: command must be a text, " +
			"or a list of texts",
		`{"path":"a","steps":[{"title":"x","status":"later"}]}`: "invalid arguments: steps[1].status cannot be \"later\": " +
			"use pending, running",
		`{"path":"a","steps":[7]}`: "invalid arguments: steps[1] must be an object with the fields status (optional), " +
			"title, not a number",
		`{"path":"a"} {"path":"b"}`: "invalid arguments: the call: more than one JSON value on a line",
		`[]`:                        "invalid arguments: the call must be an object with",
	} {
		var v testArguments
		got, err := For[testArguments]().Decode(json.RawMessage(input), &v)
		text := string(got)
		if err != nil {
			text = err.Error()
		}
		if text != want && (err == nil || !strings.HasPrefix(text, want)) {
			t.Errorf("%s:\n%s, want\n%s", input, text, want)
		}
	}
}

// Arguments that were decoded decode to themselves: a call that is checked again runs as it was shown. No error has
// words of Go.
func FuzzDecode(f *testing.F) {
	for _, input := range []string{
		`{"file_path":"a","offset":"1","cmd":["a b","'"],"todos":["x"]}`, `{"path":"a","path":"b"}`, `"{}"`, `{"path":"\ud800"}`,
		`{"path":"a","steps":"[{\"title\":\"x\"}]"}`, `{"path":"a","offset":-0}`, `null`, `{"path":"a\u0000","command":["\u0000","b"]}`,
	} {
		f.Add(input)
	}
	schema := For[testArguments]()
	f.Fuzz(func(t *testing.T, input string) {
		var v, again testArguments
		plain, err := schema.Decode(json.RawMessage(input), &v)
		if err != nil {
			for _, word := range []string{"json:", "unmarshal", "Go ", "struct", "runtime"} {
				if strings.Contains(err.Error(), word) && !strings.Contains(input, word) {
					t.Errorf("%q: %v", input, err)
				}
			}
			return
		}
		same, err := schema.Decode(plain, &again)
		if err != nil || string(same) != string(plain) {
			t.Errorf("%q: %s became %s, %v", input, plain, same, err)
		}
	})
}
