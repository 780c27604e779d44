package record

import (
	"encoding/json"
	"testing"

	"agentctl/protocol"
)

func TestForeignJSONIsEncodedCompactAndValid(t *testing.T) {
	got, err := Encode(protocol.ToolStartedData{Tool: "c", Input: json.RawMessage("{ \"a\" : [ \"\xff<\" ]\n}")})
	if want := `{"tool":"c","input":{"a":["` + "\uFFFD<" + `"]}}`; err != nil || string(got) != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
	if got, err := Encode(protocol.ToolStartedData{Tool: "c", Input: json.RawMessage("{")}); err == nil {
		t.Errorf("invalid JSON is encoded as %s", got)
	}
}

func TestTheSizeOfAListIsCountedUpToTheLimit(t *testing.T) {
	list := []string{"aa", "bb", "cc"} // 4 bytes each, encoded
	for limit, want := range map[int64]int64{100: 12, 12: 12, 4: 8, 0: 4} {
		if got := Size(list, limit); got != want {
			t.Errorf("up to %d: %d, want %d", limit, got, want)
		}
	}
}
