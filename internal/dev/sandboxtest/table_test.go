//go:build !sandbox

package sandboxtest

import (
	"os"
	"strings"
	"testing"
)

func TestTheManualHasTheTableOfTheWays(t *testing.T) {
	b, err := os.ReadFile("../../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), "\n"+Table()) {
		t.Errorf("docs/security.md lacks this table:\n%s", Table())
	}
}
