package composer

import (
	"testing"

	"pgregory.net/rapid"

	"agentctl/internal/dev/tuitest"
)

func TestRecallReturnsToDraft(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var h History
		texts := rapid.SliceOfN(rapid.StringN(1, 5, 10), 0, 2*maxEntries).Draw(rt, "texts")
		for i, text := range texts {
			h.Add(string(rune('a'+i%26)), text)
		}
		if len(h.sent) > maxEntries {
			rt.Fatalf("got %d entries, want at most %d", len(h.sent), maxEntries)
		}
		current, steps := "draft", 0
		for range rapid.IntRange(0, 50).Draw(rt, "steps") {
			by := rapid.SampledFrom([]int{1, -1}).Draw(rt, "by")
			if text, ok := h.step(by, current, tuitest.Ada); ok {
				current = text
				steps += by
			}
			if h.draft(current) != "draft" {
				rt.Fatalf("after %d steps back the draft is %q, want %q", steps, h.draft(current), "draft")
			}
		}
		for range steps {
			current, _ = h.step(-1, current, tuitest.Ada)
		}
		if current != "draft" || h.active() {
			rt.Fatalf("after stepping forward got %q, active %t, want the inactive draft", current, h.active())
		}
	})
}
