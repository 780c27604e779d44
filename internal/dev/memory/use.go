package memory

import (
	"flag"
	"runtime/debug"
)

// Use makes testing.T.TempDir create directories in memory, where a sync costs nothing, if the system
// has enough. Garbage is collected less often: the heap is small, and full of what one test leaves.
// Call it from TestMain, after other defaults of flags. Benchmarks are left alone.
func Use() {
	if flag.Parse(); flag.Lookup("test.bench").Value.String() != "" {
		return
	}
	debug.SetGCPercent(400)
	useDirectory()
}
