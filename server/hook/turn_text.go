package hook

import (
	"bytes"
	"encoding/json"
	"strings"

	"agentctl/protocol"
)

// maxTurnText bounds the text of a turn in a notification, in bytes.
const maxTurnText = 4 << 10

// A turnText collects the last text part of the agent itself, not of its tasks and tools.
type turnText struct {
	part    string
	text    strings.Builder
	missing int // bytes beyond maxTurnText
}

var textFields = [][]byte{[]byte(`"type":"text.`), []byte(`"type":"fold"`)}

func (t *turnText) apply(line []byte) {
	if !bytes.Contains(line, textFields[0]) && !bytes.Contains(line, textFields[1]) {
		return
	}
	var e protocol.Event
	if json.Unmarshal(line, &e) != nil || e.Task != "" || e.Parent != "" {
		return
	}
	switch e.Type {
	case protocol.TextDelta:
		var d protocol.PartDeltaData
		if e.Decode(&d) == nil {
			t.add(d.Part, d.Text)
		}
	case protocol.JoinedDeltas:
		var d protocol.JoinedData
		if e.Decode(&d) != nil {
			return
		}
		for _, p := range d.Parts {
			if p.Kind == protocol.KindText && p.Task == "" && p.Parent == "" {
				t.add(p.Part, p.Text)
			}
		}
	}
}

func (t *turnText) add(part, text string) {
	if part != t.part {
		t.part, t.missing = part, 0
		t.text.Reset()
	}
	fits := ""
	if room := maxTurnText - t.text.Len(); t.missing == 0 && room > 0 {
		fits = text
		if len(text) > room {
			fits = protocol.SplitText(text, room)[0]
		}
	}
	t.text.WriteString(fits)
	t.missing += len(text) - len(fits)
}
