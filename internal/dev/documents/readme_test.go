//go:build documents && unix

package documents

import "testing"

// readmeHows describes how to run a line of the README that does not simply run to its end.
var readmeHows = map[string]how{
	"go run ./cmd/agentctl tour":                       {instead: "agentctl tour", keys: []step{{"tour", leave}}}, // without Go
	"go test ./...":                                    {skip: "the section tests of CI"},
	"go build -o ~/.local/bin/agentctl ./cmd/agentctl": {skip: "needs Go; the section build of CI runs it"},
	"agentctl attach fix":                              {keys: []step{{"fix", leave}}},
	"agentctl --server ssh://ada@box attach fix": {
		before: "agentctl --server ssh://ada@box new --name fix --agent gemini", keys: []step{{"fix", leave}},
	},
	`agentctl --on box send fix "what is wrong here?" --attach screen.png`: {
		before: "echo x >screen.png; " + nameBox,
	},
	`agentctl events fix --follow --since "$POSITION"`: {
		instead: "agentctl events fix --follow --since 1", follows: true, code: 130,
	},
}

// Every line of the README runs, as a user would type it, on two machines.
func TestEveryLineOfTheReadmeRuns(t *testing.T) {
	t.Parallel()
	newRunner(t, readmeHows).runPage("README.md")
}
