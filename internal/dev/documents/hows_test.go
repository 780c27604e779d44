//go:build documents && unix

package documents

// placeholders are ids and other values in the documents that a server makes. Each is replaced by
// the output of its command.
var placeholders = map[string]string{
	"m_12":                       "agentctl queue fix --jq .message_id | head -n 1",
	"r_3":                        "agentctl approvals fix --jq .request",
	"u_1":                        "agentctl rules fix --jq .id",
	"b_0f343b0931126a20f133d67c": "agentctl events fix | grep -o 'b_[0-9a-f]*' | head -n 1",
	"t_4GTQX2YB3K7WZ5LA":         "agentctl token --subject x >/dev/null; agentctl token list --jq .id | head -n 1",
	"k_ABCDEFGH":                 "agentctl token key --jq '.keys[0].id'",
	"01j9":                       "agentctl ls --jq .session",
	"59:80:…":                    `cut -s -d " " -f 2 $BOX/.local/share/agentctl/url`,
}

// prepare makes what the examples of a verb need.
func (m *machine) prepare(verb string) {
	m.t.Helper()
	line := "agentctl new --name fix --agent script:$HOME/agent.script >/dev/null"
	if more := prepared[verb]; more != "" {
		line += "\n" + more
	}
	if got := m.run("set -e\n"+line, ""); got.code != 0 {
		m.t.Fatalf("prepare %s: exit code %d\n%s%s", verb, got.code, got.stdout, got.stderr)
	}
}

const (
	ask     = "agentctl send fix ask && agentctl wait fix --for approval"
	picture = "agentctl send fix picture --wait"
	queue   = "agentctl send fix slow && agentctl send fix more && agentctl send fix again"
	turn    = "agentctl send fix 'connection refused, panic: cache key' --wait"
	// repository has a change that is not committed.
	repository = "git init -q . && echo 1 >f && git add f && echo 2 >f"
	plan       = "agentctl send fix plan && until agentctl status fix | grep -q running; do sleep 0.1; done"
)

// prepared are lines for bash, by verb.
var prepared = map[string]string{
	"approvals": ask,
	"backup":    turn,
	"blob":      picture,
	"check":     "agentctl backup sessions.db",
	"deny":      ask,
	"doctor":    turn,
	"events":    turn,
	"explain":   ask,
	"export":    turn,
	"history":   turn,
	"plan":      "agentctl send fix propose && agentctl wait fix --for approval",
	"queue":     queue,
	"restore":   "agentctl backup sessions.db; agentctl rm fix --yes; agentctl stop",
	"rules":     ask + " && agentctl approve fix --always && agentctl wait fix",
	"run":       repository,
	"search":    turn,
	"send":      repository + "; echo x >screen.png; echo log >app.log",
	"task":      plan,
}

// exampleHows describes how to run an example of the help that does not simply run to its end.
var exampleHows = map[string]how{
	// The script agent has no conversation to change; server/agent/llm has, and its tests.
	"agentctl fork fix --before 3 --name fix-again": {code: 10},
	"agentctl retry fix":                            {code: 10},
	"agentctl undo fix":                             {code: 10},

	"agentctl agents login claude":                          {instead: "agentctl agents login claude; true"},
	"agentctl agents login claude --method console-login":   {instead: "agentctl agents login claude; true"},
	"agentctl agents sessions claude --cwd .":               {code: 10},
	"agentctl new --agent claude --load 0190a2b4-0c1d-7e2f": {code: 10},
	"agentctl new --worktree fix/login --base main --agent claude": {
		before: "git init -q -b main . && git -c user.name=ann -c user.email=ann@example.com commit -q --allow-empty -m start",
	},
	"agentctl logs -n 20 --follow":         {follows: true, code: 130},
	"agentctl mcp --on box":                {instead: "agentctl mcp --on local"},
	"agentctl acp --on box --cwd /srv/app": {instead: "agentctl acp --on local --cwd /srv/app"},
	"agentctl up team.yaml --dry-run":      {before: team},
	"agentctl up team.yaml -o json":        {before: team},
	"agentctl approve fix":                 {before: ask},
	"agentctl approve fix --answer database=postgres": {
		before: questions, instead: "agentctl approve fix --answer database=postgres --answer tests=yes",
	},
	"agentctl approve fix --answer 1=2 --answer 2=yes": {before: questions},
	"agentctl approve fix r_3 --always":                {before: ask},
	"agentctl attach fix":                              {keys: []step{{"fix", leave}}},
	"agentctl attach --replay fix.jsonl": {
		before: turn + "; agentctl export fix --format jsonl >fix.jsonl", keys: []step{{"fix", leave}},
	},
	"agentctl deny fix r_3 --stop": {before: ask},
	"agentctl events fix --since 120 --follow": {
		instead: "agentctl events fix --since 1 --follow", follows: true, code: 130,
	},
	"agentctl import fix.jsonl --name fix-of-ada --agent claude": {
		before: turn + "; agentctl export fix --format jsonl >fix.jsonl",
	},
	"agentctl login ada --server wss://agents.example.com": {
		before: "agentctl stop; echo pass-word-1 | agentctl token user ada --file users.json --password-stdin;" +
			"agentctl serve --listen 127.0.0.1:7777 --tls --users users.json >/dev/null 2>&1 & " +
			"until agentctl ls --no-start; do sleep 0.1; done",
		instead: "agentctl login ada --server wss://127.0.0.1:7777",
		keys:    []step{{"assword", "pass-word-1\n"}},
	},
	"agentctl login ci --server ws://127.0.0.1:7777 --password-stdin <secret": {
		before: "echo pass-word-1 >secret; agentctl stop; agentctl token user ci --file users.json --password-stdin <secret;" +
			"agentctl serve --listen 127.0.0.1:7777 --users users.json >/dev/null 2>&1 & " +
			"until agentctl ls --no-start; do sleep 0.1; done",
	},
	`agentctl new --name fix --agent claude --prompt "make the tests pass"`: {before: "agentctl rm fix --yes"},
	"agentctl plan run fix tasks.json":                                      {before: tasks},
	"agentctl plan run fix tasks.json --wait --timeout 1h":                  {before: tasks},
	"agentctl restore sessions.db": {
		before: "rm -r ~/.local/share/agentctl",
	},
	"agentctl rm --keep fix": {fresh: true},
	"agentctl serve": {
		before: "agentctl stop", follows: true,
	},
	"agentctl serve --listen 127.0.0.1:7777 --default-agent claude":       {follows: true},
	"agentctl serve --listen-dialect effectiveagent=127.0.0.1:12345,open": {follows: true},
	"agentctl serve --listen 0.0.0.0:7777 --tls --users users.json": {
		before: "echo pass-word-1 | agentctl token user ada --file users.json --password-stdin", follows: true,
	},
	"agentctl state restore fix.state --name fix-again":         {},
	"agentctl state export fix >fix.state":                      {fresh: true},
	"agentctl token key add ci issuer.pem":                      {before: "cp ~/issuer.pem ."},
	"agentctl token user ada --role approver --file users.json": {fresh: true, keys: password},
	"agentctl tour":                       {keys: []step{{"tour", leave}}},
	"agentctl tour --theme light --mouse": {keys: []step{{"tour", leave}}},
	"agentctl wait fix --for approval && agentctl approvals fix": {before: "agentctl send fix ask"},
	"agentctl watch": {follows: true, code: 130},
	"agentctl watch --columns name,status,turn,rate,lag": {follows: true, code: 130},
	"agentctl watch --filter label=team=infra -o json": {
		before: "agentctl label fix team=infra", follows: true, code: 130,
	},
	"agentctl watch --summary --all-servers": {follows: true, code: 130},
}

// tasks is a file of given tasks.
const tasks = `echo '{"tasks":[{"id":"1","title":"Measure"}]}' >tasks.json`

// team is a file of one session.
const team = `printf 'sessions:\n  - name: api\n    agent: claude\n' >team.yaml`

// password is the dialog that asks for a new one.
var password = []step{{"assword", "pass-word-1\n"}, {"gain", "pass-word-1\n"}}

const questions = "agentctl send fix questions && agentctl wait fix --for approval"
