//go:build linux

package crash

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"agentctl/internal/dev/fakeacp"
	"agentctl/internal/dev/testbinary"
)

func TestMain(m *testing.M) {
	if fakeacp.Enabled() {
		os.Exit(fakeacp.Main())
	}
	code := testbinary.Run(m)
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
