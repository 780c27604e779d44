//go:build documents && unix

package documents

import (
	"os"
	"path/filepath"
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
TEST='test -e repaired' AGENT=script:repairs.script docs/cookbook/fix-tests.sh`,
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
				got := m.run("set -e\n"+use.lines, "")
				if got.code != 0 {
					t.Errorf("use %d: exit code %d\n%s%s", i, got.code, got.stdout, got.stderr)
				}
				compare(t, &command{text: name, output: use.want}, got.stdout)
			})
		}
	}
}
