//go:build linux

package crash

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"agentctl/internal/dev/fakeacp"
	"agentctl/internal/dev/memory"
	"agentctl/internal/dev/testbinary"
	"agentctl/internal/dev/thorough"
)

func TestMain(m *testing.M) {
	if fakeacp.Enabled() {
		os.Exit(fakeacp.Main())
	}
	thorough.Parallel(4) // trials wait for processes and for the moments of kills
	memory.Use()
	code := testbinary.Run(m)
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
