package dashboard

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/remote"
)

// dashboardScene is a state of the  Facts are regular expressions that each must match
// within one row.
type dashboardScene struct {
	prepare func(*testDashboard)
	facts   []string // at any width
	wide    []string // at 200 columns only
	absent  []string // must not match at any width
}

// Rows of the session list at any width.
const (
	releaseRow = `\? release .*\+1 +4m$`
	testsRow   = `▸ fix-tests .*\+2 +now$`
	docsRow    = `· docs .* 1m$`
	failedRow  = `^ ✗ s5xyz7 .* 2m$`
	closedRow  = `^ × old .* 1h$`
)

// wideList are the heading and the rows of the session list at 200 columns.
var wideList = []string{
	`^─ sessions (1–[1-5] of )?5 · 1 needs you · by need ─+$`,
	`^   name +activity +agent +directory +queue +age$`,
	`^ NEEDS YOU 1$`,
	`\? release Ship it +git push --tags +codex +/home/bob/site +\+1 +4m$`,
	`^ FAILED 1$`,
	`▸ fix-tests +go test \./\.\.\. +gemini +\+2 +(now|1s)$`,
	`· docs Write the guide +claude +1m$`,
	`✗ s5xyz7 +the provider is overloaded +claude +2m$`,
	`× old +x +1h$`,
}

// releaseDetails is the detail line of the session release at 200 columns.
const releaseDetails = `^ codex · context 38% · \+1 held · /home/bob/site · Ship it · 2 clients · s3$`

// dashboardScenes are the tested scenes by name.
var dashboardScenes = map[string]dashboardScene{
	"sessions": {
		prepare: func(d *testDashboard) { d.press("down", "down") },
		facts: []string{
			`^─ sessions (1–[1-5] of )?5 · 1 needs you .*─$`,
			`^ ` + releaseRow,
			`^▸` + testsRow,
			`^ ` + docsRow,
			failedRow,
			closedRow,
			`^ gemini · context 82% · \+2 · s2$`,
			`^ enter open · F8 next pending .*F1 help$`,
		},
		wide: slices.Concat(
			wideList,
			[]string{
				`· \+ new · / filter · ctrl\+f find · O sort · y decide · p preview`,
				`· p preview · e rename · X close +F1 help$`,
			},
		),
	},
	"sub_agents": {
		prepare: func(d *testDashboard) {
			sub := func(id, parent, title string, change func(*protocol.Summary)) {
				s := protocol.Summary{
					Session: id, Title: title, Agent: "codex", Status: protocol.Idle, Updated: tuitest.Start,
					Reason: protocol.ReasonCompleted, Attributes: protocol.Attributes{Parent: parent, SubAgent: true},
				}
				if change != nil {
					change(&s)
				}
				d.put(s)
			}
			asked := tuitest.Start.Add(-time.Minute)
			sub("s_a", "s3", "Review pkg/store", func(s *protocol.Summary) { s.Reason = protocol.ReasonError })
			sub("s_b", "s3", "Review pkg/web", func(s *protocol.Summary) {
				s.Status, s.Turn, s.Approvals, s.Asked, s.Doing = protocol.Waiting, "t", 1, &asked, "go mod tidy"
			})
			sub("s_c", "s_b", "Count the tests", func(s *protocol.Summary) { s.Status, s.Turn = protocol.Running, "t" })
		},
		facts: []string{
			`^─ sessions (1–[1-8] of )?8 · 1 needs you`, `^ NEEDS YOU 1$`, `release \(2, 1 waiting\)`, `^ \? *└ Review pkg/web`,
			`^ ✗ *└ Review pkg/st`, `^ ▸ *└ Count the te`,
		},
		wide: []string{`^ FAILED 1$`, `^ IDLE 1$`},
	},
	"empty": {
		prepare: func(d *testDashboard) {
			for _, s := range tuitest.Summaries() {
				d.put(protocol.Summary{Session: s.Session, Deleted: true})
			}
		},
		facts: []string{
			`^─ sessions 0 ─+$`, `^ There is no session yet\.$`, `^ \+ creates one: it asks for an agent, a`,
			`^ In a shell: agentctl new --agent AGENT`, `--prompt TEXT$`, `^ F1 lists the keys$`, `F1 help$`,
		},
		wide: []string{
			`^ \+ creates one: .* directory and a first message$`,
			`agentctl new --agent AGENT --prompt TEXT$`,
		},
		absent: []string{`release`, `docs`, `need you`},
	},
	"preview": {
		prepare: func(d *testDashboard) { d.server.SetPending(tuitest.CommandApproval()); d.press("p") },
		facts: []string{
			`^▸` + releaseRow[:len(releaseRow)-1], `─ preview · release ─+$`,
			`\? Tidy the mo.* · waiting for a decision$`,
			`╭─ approval · command · asked 09:41 ─+╮$`, `│ command ▏ go mod tidy +│$`,
			`╰─ y decides ─+╯$`, `^ codex · context 38% · \+1 held`,
		},
		wide: []string{
			`^─ sessions 5 · 1 needs you · by need ─+┬─ preview · release ─+$`,
			`fix-tests +go test .*\+2 +now │`,
			`│ ✗ shell go test -race -count=100 \./pkg/store +failed · exit 1 · 8 lines · 8\.1s$`,
			`│ +store_test\.go:43: 漢字 and 👩‍🚀$`,
			`│ ✓ edit pkg/store/store\.go +\+1 −1 · 40ms$`,
			`│ +2 +- b$`,
			`│ +2 \+ B$`,
			`│   ── completed · 12s · 12\.3k tokens in · 678 out$`,
			`│ ▎ bob 09:41$`, `│ ▎ Push the tags\.$`, `│ ▏ agent 09:41$`, `│ ▏ They are right\.$`,
			`│ \? Tidy the module · waiting for a decision$`, `│ reason +▏ The imports changed\. +│$`,
			releaseDetails,
		},
	},
	"search_results": {
		prepare: func(d *testDashboard) { searchRace(d); d.press("down") },
		facts: []string{
			`^─ search in all sessions · “race” · 2.* ─+$`, `^ fix-tests +.*answer +the answer 7 is a`,
			`^▸release +.*tool +WARNING: DATA RA`, `^ gone +.*message +is there a race\?$`, `^ WARNING: DATA RACE$`,
			`^ enter open · / new search +esc back$`,
		},
		wide: []string{
			`“race” · 2 of 3 matches · 1 session cannot be read ─+$`,
			`^ fix-tests +2026-03-04 09:41 answer .* race: 漢字 long .*…$`,
			`^▸release +2026-03-04 09:41 tool +WARNING: DATA RACE$`,
			` esc back$`,
		},
		absent: []string{`docs`, `needs you`},
	},
	"creating": {
		prepare: func(d *testDashboard) {
			d.press("+")
			d.typeText("fix")
			d.press("tab", "right", "tab", "tab")
			d.typeText("Fix it")
		},
		facts: []string{
			`^▸` + releaseRow, `^ ` + testsRow, `^─ new session ─+$`, `^   name      fix$`, `^   agent     claude$`,
			`^   directory /home/ada$`, `^ ▸ prompt    Fix it$`, `^ tab next field · enter creates · esc c`,
		},
		wide: slices.Concat(wideList, []string{`· esc cancels$`, releaseDetails}),
	},
	"create_refused": {
		prepare: func(d *testDashboard) {
			d.server.OnCreate = func(protocol.CreateData) (protocol.CreateResult, error) {
				return protocol.CreateResult{}, &remote.AdvisedError{
					Err: protocol.Errorf(protocol.CodeNoAgent, "Gemini CLI is not installed: gemini not found "+
						"(npm install -g @google/gemini-cli)"),
					Advice: "list: agentctl agents; after a change of PATH or server.json: agentctl stop",
				}
			}
			d.press("+", "tab", "right", "right", "enter")
		},
		facts: []string{
			`^─ new session ─+$`, `^   Gemini CLI is not installed: `, `agentctl agents;`, `^ ▸ agent     gemini$`,
			`^   prompt    \(optional\)$`,
		},
		wide: []string{`^   list: agentctl agents; after a change of PATH or server.json: agentctl stop$`},
	},
	"filtering": {
		prepare: func(d *testDashboard) { d.press("/"); d.typeText("claude") },
		facts: []string{
			`^─ sessions 2 · 1 needs you · .*─$`,
			`^▸` + failedRow[2:],
			docsRow,
			`^ claude · s5xyz7$`,
			`^─ filter ─+$`,
			`^ ▸ words claude$`,
			`^ enter applies · esc clears`,
		},
		wide: []string{
			`· filter “claude” · by need ─+$`,
			`· docs Write the guide +1m$`,
			`✗ s5xyz7 +the provider is overloaded +2m$`,
		},
		absent: []string{`release`, `fix-tests`, `old`},
	},
	"renaming": {
		prepare: func(d *testDashboard) { d.press("e"); d.typeText("-2") },
		facts: []string{
			`^▸` + releaseRow,
			`^ ` + testsRow,
			`^─ rename release ─+$`,
			`^ ▸ name release-2$`,
			`^ enter renames · esc cancels$`,
		},
		wide: slices.Concat(wideList, []string{releaseDetails}),
	},
	"closing": {
		prepare: func(d *testDashboard) { d.press("down", "down", "X") },
		facts: []string{
			`^ ` + releaseRow,
			`^▸` + testsRow,
			`^ gemini · context 82% · \+2 · s2$`,
			`^─ close fix-tests\? ─+$`,
			`▸ Cancel`, `Close, keep the history`, `Delete with all history`,
			`^ ↑↓ choose · enter confirm · esc canc`,
		},
		wide: wideList,
	},
	"approval": {
		prepare: func(d *testDashboard) {
			d.openApproval(tuitest.CommandApproval())
		},
		facts: []string{
			`^▸\? release +.*4m$`, `^╭─ approval · release · command .*─╮$`,
			`^│ command ▏ go mod tidy +│$`, `^│ in +▏ /home/ada/store +│$`, `^│ title +▏ Tidy the module +│$`,
			`^│ reason +▏ The imports changed\. +│$`, `^│    1 Allow once +│$`, `^│    2 Always allow .*│$`,
			`^╰─ y allow once · n deny · .*─╯$`, `^ o open the session · esc back$`,
		},
		wide: slices.Concat(
			wideList,
			[]string{
				`· asked 00:00 ─+╮$`, `· 1…9 choose · enter confirm · r reason · v view · esc back ─+╯$`,
				releaseDetails,
			},
		),
	},
	"reconnecting": {
		prepare: func(d *testDashboard) {
			d.send(ConnMsg{State: remote.Reconnecting, Retry: now.Add(3 * time.Second), Attempt: 2})
		},
		facts: []string{
			`^▸` + releaseRow,
			`^ ` + testsRow,
			`^ ` + docsRow,
			failedRow,
			closedRow,
			`^ ○ reconnecting in 3s · F5 tries again`,
		},
		wide:   slices.Concat(wideList, []string{`^ ○ reconnecting in 3s · F5 tries again now$`, releaseDetails}),
		absent: []string{`enter open`},
	},
}

// TestGoldenDashboard compares the scenes at 80 columns with golden screens.
func TestGoldenDashboard(t *testing.T) {
	for name, scene := range dashboardScenes {
		t.Run("dashboard_"+name, func(t *testing.T) {
			tuitest.Golden(t, scene.screen(t, 80, 24))
		})
	}
}

// TestDashboardFacts checks the facts of the scenes at several widths.
func TestDashboardFacts(t *testing.T) {
	for name, scene := range dashboardScenes {
		for _, width := range []int{40, 80, 200} {
			t.Run(fmt.Sprintf("%s_%d", name, width), func(t *testing.T) {
				height, facts := 24, scene.facts
				if width == 200 {
					height, facts = 40, append(facts[:len(facts):len(facts)], scene.wide...)
				}
				screen := scene.screen(t, width, height)
				for _, fact := range facts {
					if !regexp.MustCompile(`(?m)` + fact).MatchString(screen) {
						t.Errorf("no row matches %s", fact)
					}
				}
				for _, text := range scene.absent {
					if regexp.MustCompile(text).MatchString(screen) {
						t.Errorf("got a row that matches %s, want none", text)
					}
				}
				if t.Failed() {
					t.Logf("the screen is\n%s", screen)
				}
			})
		}
	}
}

// screen draws the scene and checks its size: height rows, no row wider than width, and a heading
// that fills the width.
func (s *dashboardScene) screen(t *testing.T, width, height int) string {
	t.Helper()
	d := newTestDashboard(t, width, height, tuitest.Summaries()...)
	s.prepare(d)
	got := d.screen()
	rows := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
	if len(rows) != height {
		t.Errorf("got %d rows, want %d", len(rows), height)
	}
	for _, row := range rows {
		if n := ansi.StringWidth(row); n > width {
			t.Errorf("got a row of %d cells, want at most %d: %q", n, width, row)
		}
	}
	if n := ansi.StringWidth(rows[0]); n != width {
		t.Errorf("got a heading of %d cells, want %d: %q", n, width, rows[0])
	}
	return got
}
