//go:build documents && unix

package documents

import "testing"

// Every line of the tutorial runs and prints what the tutorial shows.
func TestEveryLineOfTheTutorialRuns(t *testing.T) {
	t.Parallel()
	r := newRunner(t, nil)
	r.hosts[""].copyDocs()
	lines := 0
	for _, block := range readConsole(t, "docs/tutorial.md") {
		for i := range block {
			r.run(&block[i])
			lines += len(block[i].output)
		}
	}
	if lines < 20 {
		t.Errorf("the tutorial shows %d lines of output", lines)
	}
}
