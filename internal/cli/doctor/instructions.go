package doctor

import (
	"fmt"
	"os"
	"strings"

	"agentctl/internal/config"
	"agentctl/internal/instructions"
)

// shownInstructions are the bytes of instructions that agents with a model get if their context is large.
const shownInstructions = 32 << 10

// checkInstructions names the files with instructions that agents with a model get in this directory.
func checkInstructions(env func(string) string) (checks []check) {
	dir, err := os.Getwd()
	if err != nil {
		return nil
	}
	files, left := instructions.Read(instructions.Place{
		Dir: dir, Global: config.UserInstructions(env), Most: shownInstructions,
	})
	for _, f := range files {
		detail := fmt.Sprintf("%s, %d bytes", f.Path, len(f.Text))
		if f.By != "" {
			detail += ", imported by " + f.By
		}
		checks = append(checks, check{"instructions", checkOK, detail})
	}
	if left != nil {
		checks = append(checks, check{"instructions", checkNote, fmt.Sprintf(
			"more than %d KiB: left out or cut are %s", shownInstructions>>10, strings.Join(left, ", "))})
	}
	return checks
}
