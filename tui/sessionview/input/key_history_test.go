package input

import (
	"testing"
	"time"

	"agentctl/internal/dev/tuitest"
	"agentctl/tui/drafts"
)

func TestTheSecondEscComesSoonAfterTheFirst(t *testing.T) {
	for name, test := range map[string]struct {
		keys  []string // after the first esc
		after time.Duration
		empty bool
		want  bool
	}{
		"soon":        {keys: []string{"esc"}, after: escapeInterval, empty: true, want: true},
		"late":        {keys: []string{"esc"}, after: escapeInterval + 1, empty: true},
		"with a text": {keys: []string{"esc"}, after: 1},
		"after a key": {keys: []string{"left", "esc"}, after: 1, empty: true},
	} {
		now := tuitest.Start
		h := keyHistory{now: func() time.Time { return now }}
		if h.escaped(true) {
			t.Fatal("one esc is two")
		}
		now = now.Add(test.after)
		for _, key := range test.keys {
			h.begin(key)
		}
		if got := h.escaped(test.empty); got != test.want {
			t.Errorf("%s: got %v, want %v", name, got, test.want)
		}
	}
}

func TestAClearedDraftIsReturnedToTheNextKeyOnly(t *testing.T) {
	h := keyHistory{cleared: &drafts.Draft{Text: "x"}, deleted: true}
	if d := h.begin("ctrl+d"); d == nil || d.Text != "x" || !h.deleted {
		t.Errorf("got draft %+v, deleted %v", d, h.deleted)
	}
	if d := h.begin("x"); d != nil || h.deleted {
		t.Errorf("after another key: got draft %+v, deleted %v", d, h.deleted)
	}
}
