package composer

import (
	"testing"

	"pgregory.net/rapid"

	"agentctl/internal/tuitest"
)

func TestRecallReturnsToDraft(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var r inputHistory
		texts := rapid.SliceOfN(rapid.StringN(1, 5, 10), 0, 2*maxEntries).Draw(rt, "texts")
		for i, text := range texts {
			r.add(string(rune('a'+i%26)), text)
		}
		if len(r.sent) > maxEntries {
			rt.Fatalf("%d are kept", len(r.sent))
		}
		now, steps := "draft", 0
		for range rapid.IntRange(0, 50).Draw(rt, "steps") {
			by := rapid.SampledFrom([]int{1, -1}).Draw(rt, "by")
			if text, ok := r.step(by, now, tuitest.Ada); ok {
				now = text
				steps += by
			}
			if r.draft(now) != "draft" {
				rt.Fatalf("%d steps back the draft is %q", steps, r.draft(now))
			}
		}
		for range steps {
			now, _ = r.step(-1, now, tuitest.Ada)
		}
		if now != "draft" || r.active() {
			rt.Fatalf("the way back led to %q", now)
		}
	})
}
