package replay

import "testing"

func TestRewriteReplacesIDsInTheirFieldsAlone(t *testing.T) {
	ids := NewIDs(&Grammar{IDs: []string{"id", "done"}})
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

func TestLocalIDsBelongToTheirConnection(t *testing.T) {
	ids := NewIDs(&Grammar{IDs: []string{"id"}, LocalIDs: func(id string) bool { return id == "0" }})
	ids.Of(1).Learn(map[string]any{"id": "0"}, map[string]any{"id": "5"})
	ids.Of(2).Learn(map[string]any{"id": "a"}, map[string]any{"id": "b"})
	for conn, want := range map[int]string{1: `[{"id":"5"},{"id":"b"}]`, 2: `[{"id":"0"},{"id":"b"}]`} {
		if got := ids.Of(conn).Rewrite(`[{"id":"0"},{"id":"a"}]`); got != want {
			t.Errorf("connection %d: %s, want %s", conn, got, want)
		}
	}
}
