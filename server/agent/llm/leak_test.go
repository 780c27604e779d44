package llm

import (
	"context"
	"runtime"
	"testing"

	"agentctl/internal/dev/fakemodel"
	"agentctl/internal/dev/thorough"
	"agentctl/server/agent/llm/provider"
	"agentctl/server/policy"
)

// TestManyTurnsLeakNothing compares goroutines and memory after warming up and after many more
// turns. The conversation itself is cut by compaction.
func TestManyTurnsLeakNothing(t *testing.T) {
	r := newRig(t, "chat", "qwen", func(_ context.Context, q fakemodel.Request, out *fakemodel.Reply) {
		if q.N%2 == 0 && q.Offers("shell") {
			out.Call("shell", x("ls"))
			return
		}
		out.Text("done")
	}, echo("shell"))
	r.set["test"].Models["qwen"] = provider.ModelConfig{Window: 2000} // a short conversation is fast
	r.opts.Config.Policy = policy.Full
	r.open(nil)
	requests := 0
	used := func(turns int) (goroutines int, heap uint64) {
		for range turns {
			if _, err := r.send(t.Context(), "go"); err != nil {
				t.Fatal(err)
			}
			r.mu.Lock()
			r.events, r.logs = nil, nil
			r.mu.Unlock()
			requests += len(r.fake.Requests())
			r.fake.Forget()
		}
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return runtime.NumGoroutine(), m.HeapAlloc
	}
	turns := thorough.Rounds(120, 1000)
	before, small := used(20)
	after, large := used(turns)
	t.Logf("%d goroutines, %d kB; after %d turns %d, %d kB", before, small>>10, turns, after, large>>10)
	if requests < turns*3/2 {
		t.Errorf("%d requests", requests)
	}
	runtime.KeepAlive(r)
	if after > before+2 {
		t.Errorf("%d goroutines became %d", before, after)
	}
	if large > small+uint64(turns)<<13 {
		t.Errorf("%d bytes became %d", small, large)
	}
}
