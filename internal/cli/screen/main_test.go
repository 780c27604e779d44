package screen

import (
	"testing"

	"go.uber.org/goleak"

	"agentctl/internal/dev/thorough"
)

func TestMain(m *testing.M) {
	thorough.Parallel(6) // most tests wait for connections that are tried again
	goleak.VerifyTestMain(m)
}
