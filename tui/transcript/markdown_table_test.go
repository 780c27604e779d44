package transcript

import (
	"runtime"
	"strings"
	"testing"
)

// What is laid out may cost some hundred times its size, and not its square.
func TestHostileTablesCostNoMoreThanTheirSize(t *testing.T) {
	const n = maxBlockBytes/6 - 10
	for name, in := range map[string]string{
		"short rows under many columns": strings.Repeat("|a", n) + "\n" + strings.Repeat("|-", n) + "\n" + strings.Repeat("x\n", n),
		"rows under a long name":        "|" + strings.Repeat("a", 4*n) + strings.Repeat("|a", 30) + "\n" + strings.Repeat("|-", 31) + "\n" + strings.Repeat("x\n", n/2),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		lines := laid(prose(in), 80, bare)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > uint64(3000*len(in)) {
			t.Errorf("%s: %d bytes took %d MB and are %d lines", name, len(in), took>>20, len(lines))
		}
	}
}
