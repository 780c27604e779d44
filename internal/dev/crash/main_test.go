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

// program is the path of the built binary.
var program string

func TestMain(m *testing.M) {
	if fakeacp.Enabled() {
		os.Exit(fakeacp.Main())
	}
	dir, err := os.MkdirTemp("", "agentctl-crash")
	if err != nil {
		panic(err)
	}
	if program, err = testbinary.Build(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	_ = os.RemoveAll(dir)
	os.Exit(code)
}
