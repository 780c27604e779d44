package arguments

import (
	"encoding/json"
	"strings"
	"testing"
)

// testSchema has a field of every kind.
const testSchema = `{"type":"object","required":["path"],"properties":{"path":{"type":"string"},` +
	`"offset":{"type":"integer"},"replace_all":{"type":"boolean"},"command":{"type":"string"},` +
	`"steps":{"type":"array","items":{"type":"object","required":["title"],"properties":{"title":{"type":"string"},` +
	`"status":{"type":"string","enum":["pending","running"]}}}}}}`

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
		var v any
		got, err := Decode(json.RawMessage(testSchema), json.RawMessage(input), &v)
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
	f.Fuzz(func(t *testing.T, input string) {
		var v, again struct {
			Path    string `json:"path"`
			Offset  int    `json:"offset"`
			Command string `json:"command"`
			Steps   []struct{ Title, Status string }
		}
		plain, err := Decode(json.RawMessage(testSchema), json.RawMessage(input), &v)
		if err != nil {
			for _, word := range []string{"json:", "unmarshal", "Go ", "struct", "runtime"} {
				if strings.Contains(err.Error(), word) && !strings.Contains(input, word) {
					t.Errorf("%q: %v", input, err)
				}
			}
			return
		}
		same, err := Decode(json.RawMessage(testSchema), plain, &again)
		if err != nil || string(same) != string(plain) {
			t.Errorf("%q: %s became %s, %v", input, plain, same, err)
		}
	})
}
