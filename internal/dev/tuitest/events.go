package tuitest

import (
	"pgregory.net/rapid"

	"agentctl/protocol"
)

// DrawEvent adds a random event to a journal. The data may belong to another type, be malformed or
// hostile.
func DrawEvent(t *rapid.T, j *Journal) {
	types := protocol.EventTypes
	et := types[rapid.IntRange(0, len(types)-1).Draw(t, "type")]
	id := rapid.SampledFrom([]string{"a", "b", "\x1b[2J", ""})
	data := map[string]any{}
	for _, field := range []string{
		"message_id", "client_message_id", "part", "tool", "request", "id", "task", "text", "title",
		"command", "reason", "message", "name", "output",
	} {
		if rapid.Bool().Draw(t, field) {
			data[field] = id.Draw(t, "value")
		}
	}
	switch rapid.IntRange(0, 7).Draw(t, "extra") {
	case 0:
		data["parts"] = []any{
			map[string]any{"part": "a", "kind": "text", "text": "x\ty"},
			map[string]any{"part": "a", "kind": "output", "text": "z\n\n"},
		}
	case 1:
		data["tasks"] = []any{map[string]any{"id": "a", "title": "\u202et"}, map[string]any{}}
	case 2:
		data["options"] = []any{map[string]any{"id": "o", "kind": "allow_once"}}
		data["questions"] = []any{map[string]any{"id": "q", "choices": []any{map[string]any{"id": "c"}}}}
	case 3:
		data["content"] = []any{
			map[string]any{"type": "diff", "path": "p\x1b[2J", "old": "o\x1b[8m", "new": "n\n"},
			map[string]any{"type": "blob", "blob": "b"},
		}
		data["patch"] = "--- a\n+++ b\n@@ -1 +1 @@\n-\x1b[2Jx\n+y\n"
	case 4:
		data["index"] = rapid.IntRange(-3, 9).Draw(t, "index")
		data["text"] = rapid.SampledFrom([]string{
			"[a b c](https://x.y/z)",
			"<https://x.y>\x1b]8;;http://q\x07",
			"[x",
			"](http://y)",
			"`[a](http://b)`",
		}).Draw(t, "link")
	case 7:
		data["text"], data["kind"] = "\x1b[31;5mred\x1b[m 10%\r20%\x1b[1A\x1b[8mx\n", "read"
		data["input"] = map[string]any{"path": "a\x1b[2J.go", "old_string": "a\n\x1b[8m", "new_string": "b"}
	case 5:
		data["settings"] = []any{
			map[string]any{
				"id":      "s",
				"value":   "\u202ev",
				"choices": []any{map[string]any{"id": "c", "about": "\x1b[2J"}},
			},
		}
		data["commands"] = []any{map[string]any{"name": "\x1b[2Jn"}}
	case 6:
		data["outcome"], data["rule"] = "allowed", map[string]any{"id": "u", "scope": "\u202es"}
	}
	numbers := rapid.SampledFrom([]int64{-5, 0, 1, 77, 1 << 50})
	for _, field := range []string{"tokens", "max_tokens", "percent", "before", "after", "input", "cost"} {
		if rapid.IntRange(0, 3).Draw(t, field) == 0 {
			data[field] = numbers.Draw(t, "number")
		}
	}
	if et.Ephemeral {
		j.Ephemeral(et.Type, data)
		return
	}
	j.Turn = rapid.SampledFrom([]string{"", "t1", "t2"}).Draw(t, "turn")
	if rapid.Bool().Draw(t, "by") {
		j.AddBy(Bob, et.Type, data)
		return
	}
	j.Add(et.Type, data)
}
