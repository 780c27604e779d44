package sessionview

import (
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/remote"
)

var screenHeights = [3]int{24, 24, 60}

// decisions are the last choices of a request.
var decisions = []string{"3 Deny", "4 Deny and stop the turn", "5 Explain first"}

// wideStatus is the session name, context usage and clients in the status line of the conversation.
const wideStatus = "fix-tests · 1 file +1 −1 · gemini · context 38% · 2 clients · "

// conversation lists the facts of the recorded conversation on a tall screen.
var conversation = []string{
	"The test in pkg/store fails now and then. Find out why and fix it, please.",
	"▸ thought · 3 lines", "failed · exit 1 · 8 lines · 8.1s", "WARNING: DATA RACE", "2 - b │ 2 + B",
	"── completed · 12s · 12.3k tokens in · 678 out", "Thanks. Now tidy the module.",
	"↻ retry 1 of 3: the provider is overloaded",
}

// conversationAnd returns the facts of the conversation and more.
func conversationAnd(more ...string) []string { return append(more, conversation...) }

var screenScenes = []goldenScene{
	{
		name:    "transcript",
		open:    fromScene("transcript"),
		heights: screenHeights,
		shows: []string{
			"bob 09:41 Thanks. Now tidy the module.",
			"↻ retry 1 of 3: the",
			"agent 09:41 I look at the imports",
			">",
		},
		wide:   conversationAnd(wideStatus + "F1 help"),
		status: []string{"◐ running 36s", "fix-tests", "F1 help"},
	},
	{
		name:    "queue",
		open:    fromScene("queue", pressing("tab")),
		heights: screenHeights,
		shows: []string{
			"I look at the imports",
			"queue · 2 messages · held by bob",
			"▸ 1 Then write the release",
			"ada 09:41",
			"2 Push it and tell me. bob 09:41",
			">",
		},
		wide: conversationAnd(
			"e edit · X remove · s send now · shift+up up · shift+down down · h release",
			"Then write the release notes for everything since the last tag.",
			wideStatus+"F1 help",
		),
		status: []string{"◐ running 36s", "fix-tests", "F1 help"},
	},
	{
		name:    "steering",
		open:    fromScene("steering"),
		heights: screenHeights,
		shows: []string{
			"ada into the turn", "Name the tables in the plural.", "⇢ sent to the agent", "queue · 3 messages",
			"⇢ Log the ", "2 And no migr",
		},
		wide: []string{
			"bob into the turn · 09:41", "Use Postgres, not SQLite.", "Postgres it is.",
			"⊘ not taken in, first in the queue: it failed",
			"⊘ unknown whether the agent got it, not sent again: the turn ended before the agent answered",
			"⇢ Log the slow queries.", "Queue a message for gemini · alt+j into the turn",
		},
		status: []string{"◐ running", "F1 help"},
	},
	{
		name:    "steering_queue",
		open:    fromScene("steering", pressing("tab", "down")),
		heights: screenHeights,
		shows:   []string{"Name the tables in the plural.", "▸ 2 And no migr"},
		wide:    []string{"s send now · t into the turn · shift+up up", "Name the tables in the plural."},
		status:  []string{"◐ running", "F1 help"},
	},
	{
		name:    "sub_agents",
		open:    fromScene("sub-agents"),
		heights: screenHeights,
		shows: []string{
			"✓ sub-agent Review pkg/store", "The counter lacks a lock.", "◐ sub-agent Review pkg/web", "Tidy the module",
		},
		wide:   []string{"asked 09:41 by the sub-agent Review the module", "waiting for a decision"},
		status: []string{"◌ waiting for 1 approval"},
	},
	{
		name:    "approval",
		open:    fromScene("approval", (*testScreen).focusApproval),
		heights: screenHeights,
		shows: append([]string{
			"I look at the imports", "· waiting for a decision", "? Fetch a page · waiting for a decision",
			"approval 1 of 2 · command", "│ command ▏ go mod tidy", "│ in ▏ /home/ada/store",
			"│ reason ▏ The imports changed.", "1 Allow once", "2 Always allow",
		}, decisions...),
		wide: conversationAnd(
			"? Tidy the module · waiting for a decision",
			"y allow once · n deny · 1…9 choose · enter confirm · r reason · v view · ] other · esc back",
			"2 Always allow ▏ go mod tidy in /home/ada/store",
			wideStatus+"F1 help",
		),
		status: []string{"◌ waiting for 2 approvals", "fix-tests"},
	},
	{
		name:    "refused_command",
		heights: screenHeights,
		open: fromScene(
			"refused command", (*testScreen).focusApproval, (*testScreen).waitGrace, pressing("y"), (*testScreen).mustSendNothing,
		),
		shows: []string{
			"· waiting for a decision", "approval · command", "│ refused ▏ the sandbox workspace does", "not change /etc/hosts",
			"│ command ▏ echo 10.0.0.7 db | tee -a", "/etc/hosts", "│ in ▏ /home/ada/store", "1 Deny", "2 Deny and stop the turn",
		},
		wide:   conversationAnd("n deny · 1…9 choose", "this request does not take “allow once”; it takes: deny, deny and stop"),
		status: []string{"◌ the sandbox workspace does not"},
	},
	{
		name:    "patch",
		open:    fromScene("patch", (*testScreen).focusApproval),
		heights: screenHeights,
		shows: append([]string{
			"· waiting for a decision", "approval · patch · expires in 24s", "▏ store.go +1 −1",
			"package store", "2 - const limit = 2", "2 + const limit = 20", "1 Allow once", "2 Always allow",
		}, decisions...),
		wide: conversationAnd(
			"r reason · v review · e edit",
			"│ in ▏ /home/ada/store", "│ reason ▏ Two was too few.",
			"2 Always allow ▏ every patch of exactly these files, in this session",
			"2 - const limit = 2 │ 2 + const limit = 20",
			wideStatus+"F1 help",
		),
		status: []string{"◌ waiting for 1 approval", "fix-tests"},
	},
	{
		name:    "edited_patch",
		heights: screenHeights,
		open: fromScene(
			"patch",
			(*testScreen).focusApproval,
			func(s *testScreen) { s.setEditor(`sed -i s/20/40/ "$1"`) },
			pressing("e"),
			(*testScreen).waitGrace,
		),
		shows: append([]string{
			"· waiting for a decision", "approval · patch · expires in 23s", "▏ store.go +1 −1",
			"2 - const limit = 2", "2 + const limit = 40", "▸ [x] with the patch as edited", "1 Allow once",
			"2 Always allow",
		}, decisions...),
		wide:   conversationAnd("r reason · v review · e edit", wideStatus+"F1 help"),
		status: []string{"◌ waiting for 1 approval", "fix-tests"},
	},
	{
		name:    "edited_command",
		heights: screenHeights,
		open: fromScene("command to edit", (*testScreen).focusApproval, pressing("e"), typing(" && rm -rf build"),
			pressing("alt+enter"), typing("go vet ./..."), pressing("enter"),
			(*testScreen).waitGrace, pressing("e")),
		shows: []string{
			"│ edited", "▏ go mod tidy", "▸ command:", "> go mod tidy && rm -rf build", "Allow once",
			"enter done · alt+enter new line",
		},
		wide:   conversationAnd("[x] with the command as edited", wideStatus+"F1 help"),
		status: []string{"◌ waiting for 1 approval", "fix-tests"},
	},
	{
		name:    "plan_approval",
		heights: screenHeights,
		open: fromScene(
			"tasks to confirm",
			(*testScreen).focusApproval,
			pressing("down", "enter", "down", "e"),
			typing(" it all"),
		),
		shows: []string{
			"? Three tasks · waiting for a decision", "approval · plan", "Three tasks", "[x] task 1 ▏ Read — all of it",
			"[ ] task 2 after 1", "▸ task: Build it all", "1 Allow once", "2 Deny", "3 Deny and stop the turn",
			"4 Explain first", "5 Revise with reason",
		},
		wide:   conversationAnd("enter done · esc discard"),
		status: []string{"◌ waiting for 1 approval", "fix-tests"},
	},
	{
		name: "question", open: fromScene("question", (*testScreen).focusApproval), heights: screenHeights,
		shows: []string{
			"· waiting for a decision", "approval · question · asked 09:41", "Two things to know",
			"Which database?", "▸ 1 ( ) ▏ Postgres — runs already", "2 ( ) ▏ SQLite", "Other:", "What is it called?",
			"Answer:", "Answer", "Skip", "Skip and stop the turn", "Explain first",
		},
		wide:   conversationAnd("r reason · v view", wideStatus+"F1 help"),
		status: []string{"◌ waiting for 1 approval", "fix-tests"},
	},
	{
		name:    "decided",
		open:    fromScene("decided"),
		heights: screenHeights,
		shows: []string{
			"I look at the imports",
			"? Tidy the module",
			"$ go mod tidy",
			"✗ denied · decided by bob at",
			">",
		},
		wide:   conversation,
		status: []string{"◐ running 35s", "fix-tests", "F1 help"},
	},
	{
		name:    "settings",
		open:    fromScene("settings", pressing("f3", "down")),
		heights: screenHeights,
		shows: []string{
			"settings · Gemini CLI 1.4.0",
			"Mode: Ask asks before every change",
			"▸ Model: Small 3",
			"effort: 7",
		},
		status: []string{"↑↓ · enter change", "esc back"},
	},
	{
		name: "setting_choices", open: fromScene("settings", pressing("f3", "enter", "down")), heights: screenHeights,
		shows: []string{
			"─ Mode ─", "(•) Ask", "asks before every change", "▸ ( ) Edit", "changes files without asking",
			"( ) plan", "only reads, and makes a plan before anything else is done to the files of the project",
		},
		status: []string{"↑↓ · enter set", "esc back"},
	},
	{
		name:    "completion",
		open:    fromScene("settings", typing("/pl"), pressing("down")),
		heights: screenHeights,
		shows: []string{
			"I look at the imports",
			"2 commands · enter run",
			"/plan", "▸ /play",
			"> /pl",
		},
		wide: conversationAnd(
			"for as long as it runs and not longer",
			wideStatus+"F1 help",
		),
		status: []string{"◐ running 36s", "fix-tests", "F1 help"},
	},
	{
		name: "rules", open: fromScene("rules", pressing("f4", "down")), heights: screenHeights,
		shows: []string{
			"rules · 3 rules", "$ go mod tidy",
			"command · by ada · 2026-03-04 09:41 · exactly this command in /home/ada/store, in this session",
			"▸ allows nothing, made by",
			"tool · by bob (bob@example.org) · 2026-03-05 11:41 · every use of the tool fetch␛[8m, in this session",
			"/home/ada/store/store.go, /home/ada/store/store_test.go",
			"patch · by ada · 2026-03-04 09:41 · every patch of exactly these files, in this session",
		},
		wide:   []string{"X revoke: the agent asks again"},
		status: []string{"↑↓", "esc back"},
	},
	{
		name:    "plan",
		open:    fromScene("plan"),
		heights: screenHeights,
		shows: []string{
			"I look at the imports", "• plan how to tidy 1 of 3 done", "plan · 1 of 3 done · tab",
			"✓ Read the imports", "▸ Drop what is unused running 30s", "✗ Build: no compiler failed", ">",
		},
		wide:   conversationAnd(wideStatus + "F1 help"),
		status: []string{"◐ running 36s", "fix-tests", "F1 help"},
	},
	{
		name:    "plan_focus",
		open:    fromScene("plan", pressing("tab")),
		heights: screenHeights,
		shows: []string{
			"• plan how to tidy 1 of 3 done",
			"plan · 1 of 3 · X cancel",
			"✓ Read the imports",
			"▸ ▸ Drop what is unused running 30s",
			"✗ Build: no compiler failed",
			">",
		},
		wide:   conversationAnd(wideStatus + "F1 help"),
		status: []string{"◐ running 36s", "fix-tests", "F1 help"},
	},
	{
		name:    "prose",
		open:    fromScene("prose"),
		heights: screenHeights,
		shows: []string{
			"1. detach 2. come back ☑ done", "func main() {",
			`fmt.Println("漢字")`, "word │ meaning", "─┼─", "turn │ one message to its end",
			"hold │ keeps the queue from running", "│ Everybody sees the same.", "-old +new",
			"The end is near, and `code",
		},
		wide: []string{
			"What is **agentctl**?",
			"It is tmux for AI agents: an agent works on a server, you attach with agentctl attach.",
			"See the site (https://example.org/docs).",
		},
		status: []string{"◐ running 58s", "fix-tests", "F1 help"},
	},
	{
		name:    "help",
		open:    fromScene("transcript", someKeys, pressing("f1")),
		heights: screenHeights,
		shows: []string{
			"Composer", "enter", "send, or queue", "Everywhere", "ctrl+k", "F2, ctrl+s",
			"sessions",
		},
		status: []string{"/ find", "esc back"},
	},
	{
		name:    "search",
		open:    fromScene("transcript", findTestStore),
		heights: screenHeights,
		shows: []string{
			"I run the test a hundred times to see it fail.", "failed · exit 1 ·",
			"WARNING: DATA RACE", "pkg/store/store.go +1 −1", "find: test store", "2 of 3", ">",
		},
		wide:   conversation,
		status: []string{"◐ running 36s", "fix-tests"},
	},
	{
		name:    "shell_command",
		open:    fromScene("transcript", typing("!go test ./...")),
		heights: screenHeights,
		shows:   []string{"shell on this machine", "! go test ./..."},
		status:  []string{"◐ running 36s", "fix-tests"},
	},
	{
		name:    "draft_cleared",
		open:    fromScene("transcript", typing("half a message"), pressing("ctrl+c")),
		heights: screenHeights,
		shows:   []string{">"},
		status:  []string{"draft cleared · ctrl+z"},
	},
	{
		name:    "message_search",
		open:    fromScene("transcript", typing("draft"), pressing("ctrl+r"), typing("test")),
		heights: screenHeights,
		shows:   []string{"earlier messages · 1 of 1", "▸ The test in pkg/store", "find: test", "> draft"},
		status:  []string{"◐ running 36s", "fix-tests"},
	},
	{
		name:    "copy_mode",
		open:    fromScene("transcript", pressing("tab", "[", "space", "space")),
		heights: screenHeights,
		shows: []string{
			"▌▎ bob 09:41",
			"Thanks. Now tidy the module.",
			"I look at the imports",
			"copy mode: 1 line",
			">",
		},
		wide:   conversation,
		status: []string{"◐ running 36s", "fix-tests"},
	},
	{
		name:    "long_queue",
		open:    fromScene("long queue", pressing("tab", "pgdown", "down", "down")),
		heights: screenHeights,
		shows: []string{
			"queue · 20 messages · e edit", "6 Message 6 of many ada 09:41", "7 Message 7 of many",
			"8 Message 8 of many", "▸ 9 Message 9 of many ada 09:41", "10 Message 10 of many edited by bob",
			"11 Message 11 of many", "↑ 5 more · ↓ 9 more", ">",
		},
		wide: conversationAnd(
			"X remove · s send now · shift+up up · shift+down down · h hold", wideStatus+"F1 help",
		),
		status: []string{"◐ running 36s", "fix-tests", "F1 help"},
	},
	{
		name: "queue_edit", open: fromScene("queue", editFirstMessage), heights: screenHeights,
		shows: []string{
			"queue · 2 messages · held by bob",
			"1 Then write the release",
			"editing",
			"2 Push it and tell me. bob 09:41",
			"editing · held for 24s more",
			"> Then write the release notes for everything since the last tag.",
		},
		wide:   conversation,
		status: []string{"○ reconnecting", "fix-tests", "F1 help"},
	},
	{
		name: "interrupting", heights: screenHeights,
		open:   fromScene("transcript", func(s *testScreen) { s.m.Update(tuitest.KeyPress("ctrl+x")) }),
		shows:  []string{"I look at the imports", "── interrupting …", ">"},
		wide:   conversationAnd(wideStatus + "F1 help"),
		status: []string{"◌ interrupting …", "fix-tests", "F1 help"},
	},
	{
		name:    "interrupted_queue",
		open:    fromScene("queue", interruptedQueue),
		heights: screenHeights,
		shows: []string{
			"queue · 2 messages · held by bob", "1 Then write the release", "ada 09:41",
			"2 Push it and tell me. bob 09:41", "> and",
		},
		wide:   conversationAnd("queue · 2 messages · held by bob · alt+r release · tab"),
		status: []string{"● idle"},
	},
	{
		name: "palette", open: fromScene("settings", someCommands, pressing("ctrl+k")), heights: screenHeights,
		shows: []string{"commands ─", "▸ /mode", "/model", "/settings", "/rules"},
		wide:  []string{"settings: mode, model", "F3"},
	},
	{
		name:    "palette_found",
		open:    fromScene("settings", pressing("ctrl+k"), typing("pl")),
		heights: screenHeights,
		shows:   []string{"▸ /plan", "/play", " /pl "},
		status:  []string{"enter run · tab complete · esc close"},
	},
	{
		name:    "reconnecting",
		open:    fromScene("reconnecting"),
		heights: screenHeights,
		shows: []string{
			"I look at the imports",
			"─ no connection ─",
			"the connection was closed",
			"F5 tries again now · you can read on; messages wait",
			">",
		},
		wide:   conversationAnd(wideStatus + "F1 help"),
		status: []string{"○ reconnecting in 4s (attempt 3)"},
	},
	{
		name: "offline", open: fromScene("offline"), heights: screenHeights,
		shows: []string{
			"I look at the imports", "─ no connection ─", "connect to wss://box.example.org: the token expired",
			"give a credential: --token or AGENTCTL_TOKEN · F5 tries again now · ctrl+c twice leaves", ">",
		},
		wide:   conversation,
		status: []string{"○ offline: connect to wss://box.examp"},
	},
	{
		name: "reconnected", open: fromScene("transcript", reconnectAfterTwoMinutes), heights: screenHeights,
		shows: []string{
			"── the connection was lost here", "? Tidy the module $ go mod tidy", "✓ allowed · decided by bob",
			"And the release notes?", "They are written.", "── completed · 12s · 12.3k tokens in · 678 out",
			"── you reconnected here · away 2m05s · 2 turns ended · 1 approval allowed by bob", ">",
		},
		wide:   conversationAnd("fix-tests · 1 file +1 −1 · gemini · context 38% · F1 help"),
		status: []string{"● idle", "fix-tests", "F1 help"},
	},
	{
		name: "catch_up", open: fromScene("catching"), heights: [3]int{24, 24, 75},
		shows:  []string{"word400 word401", "word447 word448 word449", ">"},
		wide:   conversationAnd("█████░░░░░ 45% running 36s", "fix-tests · 1 file +1 −1 · gemini · context 38% · F1 help"),
		status: []string{"catching up", "45% running 36s", "fix-tests"},
	},
}

func TestGoldenScreens(t *testing.T) { testGoldenScenes(t, screenScenes) }

// fromScene opens a screen of a scene of package tuitest and prepares it.
func fromScene(name string, prepare ...func(*testScreen)) func(t *testing.T, width, height int) *testScreen {
	return fromJournal(tuitest.Scenes[name], prepare...)
}

// someKeys shows the keys of some actions only: a further key does not change a golden help.
func someKeys(s *testScreen) {
	shown := []keymap.Action{
		keymap.Help, keymap.OpenPalette, keymap.Interrupt, keymap.ShowSessions, keymap.ShowSettings, keymap.ShowRules,
		keymap.Reconnect, keymap.ShowContext, keymap.NextPending, keymap.ShowChanges, keymap.JumpSession,
		keymap.ToggleSide, keymap.FocusNext, keymap.FocusPrevious, keymap.PageUp, keymap.PageDown,
		keymap.Top, keymap.Bottom, keymap.ExportSession, keymap.Send, keymap.Up, keymap.Back, keymap.ListFind,
	}
	s.m.Styles.Keys = keymap.Only(func(d keymap.Definition) bool { return slices.Contains(shown, d.Action) })
}

// someCommands shows some commands only: a further command does not change a golden palette.
func someCommands(s *testScreen) {
	shown := strings.Fields("mode model settings rules context compact undo repeat fork find copy expand top end")
	s.m.Styles.Keys = keymap.Only(func(d keymap.Definition) bool {
		return !slices.ContainsFunc(keymap.Commands(), func(c keymap.Command) bool {
			return c.Action == d.Action && !slices.Contains(shown, c.Name)
		})
	})
}

func pressing(keys ...string) func(*testScreen) { return func(s *testScreen) { s.press(keys...) } }

func typing(text string) func(*testScreen) { return func(s *testScreen) { s.typeText(text) } }

// findTestStore searches and goes to the second of three matches.
func findTestStore(s *testScreen) {
	s.session.ReplyToSearch(
		tuitest.NoHistory, []protocol.Hit{
			tuitest.Hit("m1", 2, 19, protocol.HitText, "t2"), tuitest.Hit("m1", 2, 12, protocol.HitTool, "c1"),
		},
		[]protocol.Hit{tuitest.Hit("m1", 2, 2, protocol.HitUser, "")},
	)
	s.press("ctrl+f")
	s.typeText("test store")
	s.press("enter", ">")
}

// editFirstMessage edits the first message of the queue and loses the connection for six seconds.
func editFirstMessage(s *testScreen) {
	s.press("tab", "e")
	hold := protocol.Hold{ID: "h9", Reason: protocol.HoldEdit, MessageID: "m3", By: &tuitest.Ada}
	s.journal.AddBy(tuitest.Ada, protocol.QueueHeld, hold)
	s.journal.Conn(remote.Conn{State: remote.Reconnecting, Attempt: 1})
	s.applyJournal()
	s.now = s.now.Add(6 * time.Second)
	s.tick()
}

// interruptedQueue interrupts the turn and continues typing.
func interruptedQueue(s *testScreen) {
	s.press("esc")
	s.journal.EndTurn(protocol.ReasonInterrupted)
	s.applyJournal()
	s.typeText("and")
}

func reconnectAfterTwoMinutes(s *testScreen) {
	s.journal.Conn(remote.Conn{State: remote.Reconnecting, Attempt: 1, Reason: "the connection was closed"})
	s.applyJournal()
	s.now = s.now.Add(2*time.Minute + 5*time.Second)
	tuitest.AddMissedEvents(s.journal)
	s.applyJournal()
}
