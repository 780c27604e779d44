package transcript

import (
	"runtime"
	"strings"
	"testing"
)

// The memory used for a table is linear in its size.
func TestHostileTableMemoryIsLinear(t *testing.T) {
	const n = maxBlockBytes/6 - 10
	for name, in := range map[string]string{
		"short rows under many columns": strings.Repeat("|a", n) + "\n" +
			strings.Repeat("|-", n) + "\n" + strings.Repeat("x\n", n),
		"rows under a long name": "|" + strings.Repeat("a", 4*n) + strings.Repeat("|a", 30) + "\n" +
			strings.Repeat("|-", 31) + "\n" + strings.Repeat("x\n", n/2),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		lines := layOut(markdown(in), 80, unstyled)
		runtime.ReadMemStats(&after)
		if allocated := after.TotalAlloc - before.TotalAlloc; allocated > uint64(3000*len(in)) {
			t.Errorf("%s: %d bytes of input allocated %d MB for %d lines", name, len(in), allocated>>20, len(lines))
		}
	}
}
