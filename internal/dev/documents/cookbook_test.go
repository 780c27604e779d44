//go:build documents && unix

package documents

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A recipe runs a script of the cookbook: lines for bash, of which the first that fails ends it,
// and lines that they print.
type recipe struct {
	lines string
	want  []string
}

const newFix = `agentctl new --name fix --agent "$AGENT" >/dev/null` + "\n"

// recipes are the uses of each script.
var recipes = map[string][]recipe{
	"fix-tests.sh": {
		{"TEST=true docs/cookbook/fix-tests.sh", []string{"the tests pass after 0 rounds"}},
		{
			`echo '{"on":"*"}
{"say":"done"}
{"spawn":["touch","repaired"]}' >repairs.script
TEST='mkdir tried || until test -e repaired; do sleep 0.1; done; test -e repaired' AGENT=script:repairs.script docs/cookbook/fix-tests.sh`,
			[]string{"the tests pass after 1 rounds"},
		},
		{"code=0; TEST=false docs/cookbook/fix-tests.sh || code=$?; echo code $code", []string{"code 6"}},
	},
	"approve-by-policy.sh": {
		{
			newFix + `agentctl send fix "make the tests pass"
ALLOW='go test [./a-z]+' DENY='rm .*' docs/cookbook/approve-by-policy.sh fix
agentctl send fix "delete everything"
ALLOW='go test [./a-z]+' DENY='rm .*' docs/cookbook/approve-by-policy.sh fix
agentctl history fix
agentctl send fix "delete everything"
code=0; ALLOW='go test' docs/cookbook/approve-by-policy.sh fix || code=$?; echo code $code`,
			[]string{"All tests pass.", "I left everything as it was.", "code 6"},
		},
	},
	"many-repositories.sh": {
		{
			`mkdir -p r/{1..20}
docs/cookbook/many-repositories.sh "update the licence header" r/*
agentctl ls --filter label=task=batch --no-header | wc -l
code=0; docs/cookbook/many-repositories.sh "make the tests pass" r/1 r/2 || code=$?; echo code $code`,
			[]string{"done r/20", "20", "waiting r/2 agentctl attach s_…", "code 1"},
		},
	},
	"resume-from-position.sh": {
		{
			newFix + `for n in 1 2; do
	agentctl send fix "job $n" --wait
	docs/cookbook/resume-from-position.sh fix position >out$n
	agentctl stop
	agentctl send fix "restart" --wait
done
docs/cookbook/resume-from-position.sh fix position >out3
wc -l out1 out2 out3
docs/cookbook/resume-from-position.sh fix position | wc -l`,
			[]string{"1 out1", "2 out2", "1 out3", "0"},
		},
	},
	"hand-over.sh": {
		{newFix + `agentctl send fix "remember me" --wait
agentctl state key >$BOX/first.pem
echo '{"state_keys": ["first.pem"]}' >$BOX/config.json
HOME=$BOX XDG_RUNTIME_DIR=$BOX agentctl serve --config $BOX/config.json >/dev/null 2>&1 &
until agentctl --server ssh://ann@box ls --no-start; do sleep 0.1; done
docs/cookbook/hand-over.sh fix ssh://ann@box
agentctl ls --no-header | wc -l
agentctl --server ssh://ann@box history fix`, []string{"0", "Done: remember me"}},
	},
	"webhook.sh": {
		{
			`cat >config.json <<END
{"hooks": {"policy": {"command": ["env", "ALLOW=go test [./a-z]+", "DENY=rm .*", "$PWD/docs/cookbook/webhook.sh"],
                      "events": ["approval.requested"], "decide_urls": {"base": "http://127.0.0.1:7777"}}}}
END
agentctl serve --config config.json --listen 127.0.0.1:7777 >/dev/null 2>&1 &
until agentctl ls --no-start; do sleep 0.1; done
` + newFix + `for task in "make the tests pass" "delete everything"; do
	agentctl send fix "$task"
	until agentctl wait fix --for idle; do sleep 0.1; done
done
agentctl history fix
agentctl events fix --jq 'select(.type == "approval.resolved") | .by.name + " " + .data.outcome'`,
			[]string{"All tests pass.", "I left everything as it was.", "hook policy allowed", "hook policy denied"},
		},
		{
			`link() { echo '{"approval":{"request":{"command":"'$1'"},"links":{"allow_once":"http://127.0.0.1:1/"}}}'; }
link make | ALLOW='go test' docs/cookbook/webhook.sh; echo left
link 'go test\nrm -rf .' | ALLOW='go test' docs/cookbook/webhook.sh; echo left
code=0; link 'go test' | ALLOW='go test' docs/cookbook/webhook.sh || code=$?; echo code $code`,
			[]string{"left", "left", "code 7"},
		},
	},
	"interrupt-on-timeout.sh": {
		{newFix + `docs/cookbook/interrupt-on-timeout.sh fix "a short job"
code=0; LIMIT=1s docs/cookbook/interrupt-on-timeout.sh fix "a long job" || code=$?; echo code $code
agentctl status fix --jq .last.reason`, []string{"code 130", "interrupted"}},
	},
	"nightly-batch.sh": {
		{`printf 'a short job\ndelete everything\n' >tasks
docs/cookbook/nightly-batch.sh tasks report.md
cat report.md`, []string{"# Batch of 20…", "## a short job", "Done: a short job", "## delete everything", "I left everything as it was."}},
	},
}

func TestEveryScriptOfTheCookbookWorks(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root(), "docs", "cookbook.md"))
	must(t, err)
	scripts, err := filepath.Glob(filepath.Join(root(), "docs", "cookbook", "*.sh"))
	must(t, err)
	if len(scripts) != len(recipes) {
		t.Errorf("%d scripts, %d are run", len(scripts), len(recipes))
	}
	for _, path := range scripts {
		name := filepath.Base(path)
		if !strings.Contains(string(page), "(cookbook/"+name+")") {
			t.Errorf("docs/cookbook.md lacks %s", name)
		}
		for i, use := range recipes[name] {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				m, box := newMachine(t), newMachine(t)
				m.copyDocs()
				m.env["BOX"], m.env["AGENT"] = box.home, "script:"+m.path("docs/tutorial.script")
				got := m.run("set -e\n"+new(network).replace(t, use.lines), "")
				if got.code != 0 {
					t.Errorf("use %d: exit code %d\n%s%s", i, got.code, got.stdout, got.stderr)
				}
				compare(t, &command{text: name, output: use.want}, got.stdout)
			})
		}
	}
}

// The lines for status bars work: tmux shows the summary, the commands of the others print it.
func TestTheStatusBarsOfTheCookbookWork(t *testing.T) {
	t.Parallel()
	page := readPage(t, "docs/cookbook.md")
	m := newMachine(t)
	m.prepare("")
	_, rest, _ := strings.Cut(page, "```tmux\n")
	settings, _, _ := strings.Cut(rest, "```")
	must(t, os.WriteFile(filepath.Join(m.home, ".tmux.conf"), []byte(settings), 0o600))
	// The names of the session and of the window take no place of the summary.
	line := "unset TMUX; tmux -S $HOME/tmux -f $HOME/.tmux.conf new-session 'sleep 60'"
	got := m.onTerminal(line, []step{{"1 idle | ", "\x02d"}})
	if got.code != 0 {
		t.Errorf("tmux: exit code %d\n%q", got.code, got.stdout)
	}
	m.run("tmux -S $HOME/tmux kill-server", "")
	commands := regexp.MustCompile(`(?m)(?:^command = |"exec": )"(agentctl [^"]*)"`).FindAllStringSubmatch(page, -1)
	if len(commands) != 2 {
		t.Fatalf("the page has the commands %q", commands)
	}
	for _, c := range commands {
		got := m.start(c[1])()
		if !strings.HasPrefix(got.stdout, "1 idle") {
			t.Errorf("%s: %q %s", c[1], got.stdout, got.stderr)
		}
	}
}
