//go:build documents && unix

package documents

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pageRunners are the pages with lines for a shell, and what runs them.
var pageRunners = map[string]string{
	"README.md":           "TestEveryLineOfTheReadmeRuns",
	"docs/tutorial.md":    "TestEveryLineOfTheTutorialRuns",
	"docs/agents.md":      "TestEveryLineOfTheOtherPagesRuns",
	"docs/dialects.md":    "TestEveryLineOfTheOtherPagesRuns",
	"docs/install.md":     "TestEveryLineOfTheOtherPagesRuns",
	"docs/pipelines.md":   "TestEveryLineOfTheOtherPagesRuns",
	"docs/screen.md":      "TestEveryLineOfTheOtherPagesRuns",
	"docs/scripts.md":     "TestEveryLineOfTheOtherPagesRuns",
	"docs/servers.md":     "TestEveryLineOfTheOtherPagesRuns",
	"docs/sessions.md":    "TestEveryLineOfTheOtherPagesRuns",
	"docs/operations.md":  "cmd/agentctl.TestEveryLineOfTheOperationsPageWorks",
	"docs/http.md":        "internal/dev/interop/openapi.TestEveryLineOfThePageWorks",
	"docs/performance.md": "internal/dev/bench, by the section bench of CI: it needs Go",
	"CONTRIBUTING.md":     "the sections of CI: they need Go",
}

var shellBlock = regexp.MustCompile("(?m)^ *```(sh|bash|console|shell)$")

func TestEveryPageWithLinesForAShellIsRun(t *testing.T) {
	for _, name := range pages(t) {
		if has := shellBlock.MatchString(readPage(t, name)); has != (pageRunners[name] != "") {
			t.Errorf("%s has lines for a shell: %t; it is run by %q", name, has, pageRunners[name])
		}
	}
}

// asks is a message that has the agent "gemini" of the tests ask for a decision.
const asks = `agentctl send fix 'ask {"toolCallId":"c1","kind":"execute","title":"rm -rf build"}'; ` +
	"agentctl wait fix --for approval"

// nameBox gives the server of the machine box its name in the configuration.
const nameBox = `mkdir -p ~/.config/agentctl; ` +
	`echo '{"servers": {"box": {"url": "ssh://ada@box"}}}' >~/.config/agentctl/config.json`

// otherPages describes how to run a line of the pages below that does not simply run to its end.
var otherPages = map[string]map[string]how{
	"docs/agents.md": {
		`agentctl run --agent claude --policy ci.json --fail-on-denied --timeout 20m -o json "make the tests pass" > result.json`: {
			before: "sed '1,/^### Policy files/d' docs/agents.md | sed -n '/^```json/,/^```/p' | sed '/^```/d' >ci.json",
		},
	},
	"docs/dialects.md": {
		"agentctl serve --listen-dialect sandcastle=127.0.0.1:3001,open": {
			serves: true,
			// Also serves as the server of AgentLoop for the next line.
			instead: "agentctl serve --default-agent gemini --listen-dialect sandcastle=127.0.0.1:3001,open " +
				"--listen-dialect agentloop=127.0.0.1:8080,open",
		},
		"agentctl attach --server ws://127.0.0.1:8080/fix --dialect agentloop": {keys: []step{{"fix", leave}}},
	},
	"docs/install.md": {
		"tar xzf agentctl_*_linux_amd64.tar.gz": {
			before: `tar czhf agentctl_1.0.0_linux_amd64.tar.gz -C "${PATH%%:*}" agentctl`,
		},
		"go build -o ~/.local/bin/agentctl ./cmd/agentctl": {skip: "needs Go; the section build of CI runs it"},
	},
	"docs/pipelines.md": {
		`agentctl new --name flags --agent team --prompt "add a --version flag, with a test and a line in the manual"`: {
			before: `cp ~/planner.script .
cat >team.json <<'END'
{"agents": {"planner": {"script": "planner.script"},
  "team": {"pipeline": {"planner": "planner", "solver": "claude", "aggregator": "claude"}}}}
END
agentctl serve --config team.json >/dev/null 2>&1 & until agentctl ls --no-start; do sleep 0.1; done`,
		},
		"agentctl attach flags": {keys: []step{{"flags", leave}}},
	},
	"docs/screen.md": {
		"agentctl export fix --format jsonl >fix.jsonl": {
			before: "agentctl new --name fix --agent claude --prompt hello --wait",
		},
		"agentctl attach --replay fix.jsonl": {keys: []step{{"fix", leave}}},
		"agentctl attach --replay fix":       {keys: []step{{"fix", leave}}},
	},
	"docs/scripts.md": {
		`agentctl send fix "what is wrong here?" --attach screen.png --attach app.log`: {
			before: "echo x >screen.png; echo log >app.log",
		},
		"agentctl blob fix b_0f343b0931126a20f133d67c --out shot.png": {
			before: "agentctl send fix 'image 600000' --wait",
		},
		`agentctl events fix --follow --since "$POSITION"`: {
			instead: "agentctl events fix --follow --since 1", follows: true, code: 130,
		},
		`agentctl search "connection refused"`: {
			before: "agentctl send fix 'say connection refused' --wait",
		},
		"agentctl wait fix --for approval": {before: asks},
	},
	"docs/servers.md": {
		"agentctl --server ssh://ada@box attach fix": {
			before: "agentctl --server ssh://ada@box new --name fix --agent gemini", keys: []step{{"fix", leave}},
		},
		"agentctl --on box ls": {before: nameBox},
		"agentctl token user ada --role approver --file users.json": {keys: password},
		"agentctl serve --listen 127.0.0.1:7777 --users users.json": {before: "agentctl stop", serves: true},
		"agentctl login ada --server ws://127.0.0.1:7777":           {keys: []step{{"assword", "pass-word-1\n"}}},
		"agentctl serve --listen 0.0.0.0:7777 --tls --users users.json": {
			before: "agentctl stop; until ! agentctl ls --no-start 2>/dev/null; do sleep 0.1; done", serves: true,
		},
		"agentctl login ada --server wss://box:7777": {
			keys: []step{{"assword", "pass-word-1\n"}, {"type yes", "yes\n"}},
		},
	},
	"docs/sessions.md": {
		"agentctl attach fix": {keys: []step{{"fix", leave}}},
	},
}

func TestEveryLineOfTheOtherPagesRuns(t *testing.T) {
	for name, hows := range otherPages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			newRunner(t, hows).runPage(name)
		})
	}
}

// codeSpan is a command of agentctl within a line of text.
var codeSpan = regexp.MustCompile("`(agentctl [^`]*)`")

// TestCommandsInTheTextExist reads the verbs and flags of commands within lines of text, which have
// placeholders and so are not run.
func TestCommandsInTheTextExist(t *testing.T) {
	m := newMachine(t)
	help := m.run("agentctl help verbs", "").stdout
	var verbs []string
	for _, v := range verbLine.FindAllStringSubmatch(help, -1) {
		verbs = append(verbs, v[1])
	}
	flags := m.run("agentctl help flags", "").stdout
	helps := map[string]string{}
	read := 0
	for _, name := range pages(t) {
		text := strings.ReplaceAll(readPage(t, name), "\n", " ")
		for _, span := range codeSpan.FindAllStringSubmatch(text, -1) {
			words := strings.Fields(span[1])
			verb := slices.IndexFunc(words, func(word string) bool { return slices.Contains(verbs, word) })
			path := ""
			switch {
			case verb > 0:
				path = words[verb]
			case strings.HasPrefix(words[1], "-"), strings.ToUpper(words[1]) == words[1]: // no verb, or any
			default:
				t.Errorf("%s: no verb in `%s`", name, span[1])
				continue
			}
			if helps[path] == "" {
				helps[path] = m.run("agentctl "+path+" --help", "").stdout
			}
			if verb > 0 && verb+1 < len(words) && strings.Contains(helps[path], "\n  "+words[verb+1]+" ") {
				path += " " + words[verb+1]
				helps[path] = m.run("agentctl "+path+" --help", "").stdout
			}
			read++
			for _, word := range words {
				flag, _, _ := strings.Cut(word, "=")
				flag = strings.Trim(flag, "[],;.")
				if strings.HasPrefix(flag, "--") && !strings.Contains(helps[path]+flags, flag+" ") {
					t.Errorf("%s: agentctl %s has no flag %s, in `%s`", name, path, flag, span[1])
				}
			}
		}
	}
	if read < 80 {
		t.Errorf("%d commands in the text", read)
	}
}
