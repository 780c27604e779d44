//go:build documents && unix

package documents

import "testing"

// Every line of the tutorial runs and prints what the tutorial shows.
func TestEveryLineOfTheTutorialRuns(t *testing.T) {
	t.Parallel()
	lines := newRunner(t, nil).runPage("docs/tutorial.md")
	if lines < 20 {
		t.Errorf("the tutorial shows %d lines of output", lines)
	}
}
