package replay

import "testing"

func TestRewriteReplacesIDsInTheirFieldsAlone(t *testing.T) {
	ids := NewIDs([]string{"id", "done"})
	ids.Learn(
		map[string]any{"id": "a", "text": "b", "in": []any{map[string]any{"id": "c"}}, "done": []any{"d"}},
		map[string]any{"id": "1", "text": "2", "in": []any{map[string]any{"id": "3"}}, "done": []any{"4"}},
	)
	for frame, want := range map[string]string{
		`{"id": "a","x":{"id":"c", "a":"a"}} ` + "\n":  `{"id": "1","x":{"id":"3", "a":"a"}} ` + "\n",
		`{"text":"b","done":["d","e",["d"]],"id":"d"}`: `{"text":"b","done":["4","e",["4"]],"id":"4"}`,
		`{"id":"a"}{"id":"z"}`:                         `{"id":"1"}{"id":"z"}`,
		`["a",{"id":["a",{"k":"a","id":"a"}]}]`:        `["a",{"id":["1",{"k":"a","id":"1"}]}]`,
		`not {"id":"a"}`:                               `not {"id":"a"}`,
	} {
		if got := ids.Rewrite(frame); got != want {
			t.Errorf("%s\nbecame %s\nwant   %s", frame, got, want)
		}
	}
}
