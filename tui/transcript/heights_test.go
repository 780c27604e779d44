package transcript

import (
	"testing"

	"pgregory.net/rapid"

	"agentctl/internal/dev/thorough"
)

func init() { thorough.Checks(40, 100) }

func TestHeightsMatchModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h heights
		var model []int
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				v := rapid.IntRange(0, 9).Draw(t, "height")
				h.push(v)
				model = append(model, v)
			},
			"set": func(t *rapid.T) {
				if len(model) == 0 {
					return
				}
				i := rapid.IntRange(0, len(model)-1).Draw(t, "item")
				v := rapid.IntRange(0, 9).Draw(t, "height")
				h.set(i, v)
				model[i] = v
			},
			"": func(t *rapid.T) {
				line := 0
				for i, v := range model {
					if got := h.before(i); got != line {
						t.Fatalf("before(%d) = %d, want %d", i, got, line)
					}
					line += v
				}
				if h.total() != line {
					t.Fatalf("total() = %d, want %d", h.total(), line)
				}
			},
		})
	})
}

func BenchmarkHeights(b *testing.B) {
	var h heights
	for range 100_000 {
		h.push(3)
	}
	for i := 0; b.Loop(); i++ {
		n := i * 7919 % 100_000
		h.set(n, 5)
		h.before(n)
		h.set(n, 3)
	}
}
