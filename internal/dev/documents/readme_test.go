//go:build documents && unix

package documents

import "testing"

// asks is a message that has the agent "gemini" of the tests ask for a decision.
const asks = `agentctl send fix 'ask {"toolCallId":"c1","kind":"execute","title":"rm -rf build"}'; ` +
	"agentctl wait fix --for approval"

// readmeHows tells how a line of the README is run, if not simply to its end.
var readmeHows = map[string]how{
	"agentctl tour": {keys: []step{{"tour", leave}}},
	"tar xzf agentctl_*_linux_amd64.tar.gz": {
		before: `tar czhf agentctl_1.0.0_linux_amd64.tar.gz -C "${PATH%%:*}" agentctl`,
	},
	"go build -o ~/.local/bin/agentctl ./cmd/agentctl": {skip: "needs Go; the section build of CI runs it"},
	"go test ./...":       {skip: "the section tests of CI"},
	"agentctl attach fix": {keys: []step{{"fix", leave}}},
	`agentctl send fix "what is wrong here?" --attach screen.png --attach app.log`: {
		before: "echo x >screen.png; echo log >app.log",
	},
	"agentctl blob fix b_0f343b0931126a20f133d67c --out shot.png": {
		before: "agentctl send fix 'image 600000' --wait",
	},
	`agentctl approve fix --reason "only this once"`: {before: asks},
	`agentctl events fix --follow --since "$POSITION"`: {
		instead: "agentctl events fix --follow --since 1", follows: true, code: 130,
	},
	`agentctl search "connection refused"`: {
		before: "agentctl send fix 'say connection refused' --wait",
	},
	"agentctl --server ssh://ada@box attach fix": {
		before: "agentctl --server ssh://ada@box new --name fix --agent gemini", keys: []step{{"fix", leave}},
	},
	"agentctl --on box ls": {
		before: `mkdir -p ~/.config/agentctl; echo '{"servers": {"box": {"url": "ssh://ada@box"}}}' >~/.config/agentctl/config.json`,
	},
	"agentctl token user ada --role approver --file users.json": {keys: password},
	"agentctl serve --listen 127.0.0.1:7777 --users users.json": {before: "agentctl stop", serves: true},
	"agentctl login ada --server ws://127.0.0.1:7777":           {keys: []step{{"assword", "pass-word-1\n"}}},
	"agentctl serve --listen 0.0.0.0:7777 --tls --users users.json": {
		before: "agentctl stop; until ! agentctl ls --no-start 2>/dev/null; do sleep 0.1; done", serves: true,
	},
	"agentctl login ada --server wss://box:7777": {
		keys: []step{{"assword", "pass-word-1\n"}, {"type yes", "yes\n"}},
	},
	"agentctl serve --listen-dialect sandcastle=127.0.0.1:3001,open": {
		before: "agentctl stop", serves: true,
		// Also serves as the server of AgentLoop for the next line.
		instead: "agentctl serve --default-agent gemini --listen-dialect sandcastle=127.0.0.1:3001,open " +
			"--listen-dialect agentloop=127.0.0.1:8080,open",
	},
	"agentctl attach --server ws://127.0.0.1:8080/fix --dialect agentloop": {keys: []step{{"fix", leave}}},
}

// Every line of the README runs, as a user would type it, on two machines.
func TestEveryLineOfTheReadmeRuns(t *testing.T) {
	r := newRunner(t, readmeHows)
	box := newMachine(t)
	r.hosts["box"] = box
	r.hosts[""].env["BOX"] = box.home
	for _, block := range readConsole(t, "README.md") {
		for i := range block {
			r.run(&block[i])
		}
	}
	r.done()
}
