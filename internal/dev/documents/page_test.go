//go:build documents && unix

package documents

import (
	"io/fs"
	"os"
	"path/filepath"
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
	"docs/pipelines.md":   "TestEveryLineOfTheOtherPagesRuns",
	"docs/screen.md":      "TestEveryLineOfTheOtherPagesRuns",
	"docs/operations.md":  "cmd/agentctl.TestEveryLineOfTheOperationsPageWorks",
	"docs/http.md":        "internal/dev/interop/openapi.TestEveryLineOfThePageWorks",
	"docs/performance.md": "internal/dev/bench, by the section bench of CI: it needs Go",
	"CONTRIBUTING.md":     "the sections of CI: they need Go",
}

// pages returns the names of all documents.
func pages(t *testing.T) (names []string) {
	t.Helper()
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		more, err := fs.Glob(os.DirFS(root()), pattern)
		must(t, err)
		names = append(names, more...)
	}
	return names
}

func readPage(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(), name))
	must(t, err)
	return string(text)
}

var shellBlock = regexp.MustCompile("(?m)^ *```(sh|bash|console|shell)$")

func TestEveryPageWithLinesForAShellIsRun(t *testing.T) {
	for _, name := range pages(t) {
		if has := shellBlock.MatchString(readPage(t, name)); has != (pageRunners[name] != "") {
			t.Errorf("%s has lines for a shell: %t; it is run by %q", name, has, pageRunners[name])
		}
	}
}

// otherPages tells how a line of the pages below is run, if not simply to its end.
var otherPages = map[string]map[string]how{
	"docs/agents.md": {
		`agentctl run --agent claude --policy ci.json --timeout 20m -o json "make the tests pass" > result.json`: {
			before: "sed -n '/^```json/,/^```/p' docs/agents.md | sed '/^```/d' >ci.json", // the page's example
		},
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
}

func TestEveryLineOfTheOtherPagesRuns(t *testing.T) {
	for name, hows := range otherPages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRunner(t, hows)
			r.hosts[""].copyDocs()
			for _, block := range readConsole(t, name) {
				for i := range block {
					r.run(&block[i])
				}
			}
			r.done()
		})
	}
}

// codeSpan is a command of agentctl within a line of text.
var codeSpan = regexp.MustCompile("`(agentctl [^`]*)`")

// TestCommandsInTheTextExist reads the verbs and flags of commands within lines of text, which have
// placeholders and so are not run.
func TestCommandsInTheTextExist(t *testing.T) {
	m := newMachine(t)
	help, _, _ := strings.Cut(m.run("agentctl --help", "").stdout, "\nFlags:")
	var verbs []string
	for _, v := range verbLine.FindAllStringSubmatch(help, -1) {
		verbs = append(verbs, v[1])
	}
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
				if strings.HasPrefix(flag, "--") && !strings.Contains(helps[path], flag+" ") {
					t.Errorf("%s: agentctl %s has no flag %s, in `%s`", name, path, flag, span[1])
				}
			}
		}
	}
	if read < 80 {
		t.Errorf("%d commands in the text", read)
	}
}
