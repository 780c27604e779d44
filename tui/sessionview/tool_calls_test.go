package sessionview

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/ui"
)

var toolCallScenes = []goldenScene{
	{
		name: "tool_calls", open: fromScene("cards"), heights: [3]int{110, 100, 90},
		shows: []string{
			"Make the counter safe.", "✓ Read file pkg/store/coun", "12ms", "It adds without its lock:",
			`func (c *Counter) Add(n int) {`, "and so does Value.",
			"✓ edit pkg/store/counter.", "+6 −2 · 40ms", "// Add adds n.",
			"// Add adds n to the sum.", "c.mu.Lock()", "defer c.mu.Unlock()", "more lines · ctrl+o shows all",
			"✓ shell go test ./...", "8.3s", "downloaded", "ok pkg/p0 0.000s", "… 21 more lines · ctrl+o shows all",
			"ok pkg/p29 0.203s", "✗ shell make", "failed · exit 2", "300ms", "more lines · ctrl+o shows all",
			"ok pkg/p29 0.203s", "error: counter.go:12 unused variabl", "make: *** [lint] Error 2",
			"✓ issues counter 90ms", `{"issues":[{"id":7,"title":"Counter r`, "✓ write NOTES.md", "+3 −0",
			"1 + # Notes", "3 + - the counter has a lock", "◐ shell sleep 60 running 36s", "waiting", ">",
		},
		wide: []string{
			"✓ Read file pkg/store/counter.go 19 lines · 12ms", "11 - // Add adds n. │ 11 + // Add adds n to the sum.",
			"✗ shell make lint failed · exit 2 · 32 lines · 300ms",
			`{"issues":[{"id":7,"title":"Counter races","open":true}]}`,
		},
		status: []string{"◐ running ", "fix-tests", "F1 help"},
	},
	{
		name: "file_changes", open: fromScene("changes"), heights: [3]int{40, 40, 40},
		shows: []string{
			"Make the counter safe.", "· waiting for a decision", "approval · patch, 2 files +7 −3",
			"│ ⚠ hidden or look", "▏ go.mod +1 −1", "⋯ module store", "3 - go 1.25",
			"3 + go 1.26‹U+202E›", "pkg/store/counter.go +6 −2", "// Add adds n.",
			"c.mu.Lock()", "defer c.mu.Unlock()",
			"Allow once", "Always allow", "Deny",
		},
		wide:   []string{"3 - go 1.25 │ 3 + go 1.26‹U+202E›", "18 - return c.n │ 22 + return c.n // under its lock"},
		status: []string{"◌ waiting for 1 approval", "fix-tests"},
	},
}

func TestGoldenToolCalls(t *testing.T) { testGoldenScenes(t, toolCallScenes) }

// TestGoldenToolCallThemes compares code, diffs and output with their styles in every theme.
func TestGoldenToolCallThemes(t *testing.T) {
	for _, c := range []struct {
		theme      ui.Theme
		background tea.Msg
	}{
		{ui.ThemeDark, nil},
		{ui.ThemeLight, nil},
		{ui.ThemeContrast, tea.BackgroundColorMsg{Color: black}},
		{ui.ThemeColorblind, tea.BackgroundColorMsg{Color: black}},
		{ui.ThemeEmber, tea.BackgroundColorMsg{Color: black}},
		{ui.ThemeFjord, tea.BackgroundColorMsg{Color: black}},
		{ui.ThemeSixteen, nil},
	} {
		t.Run("tool_calls_theme_"+string(c.theme), func(t *testing.T) {
			s := openWithTheme(t, c.theme, tuitest.Scenes["cards"](), 80, 90)
			s.update(tea.ColorProfileMsg{Profile: colorprofile.TrueColor})
			if c.background != nil {
				s.update(c.background)
			}
			tuitest.Golden(t, strings.ReplaceAll(s.m.View().Content, "\x1b", "␛")+"\n")
		})
	}
}

func TestToolClock(t *testing.T) {
	s := open(t, tuitest.Scenes["cards"](), 80, 24)
	s.mustShow("running 36s")
	s.now = s.now.Add(5 * time.Minute)
	s.tick()
	s.mustShow("running 5m36s")
	s.journal.Add(protocol.ToolEnded, protocol.ToolEndedData{
		Tool: "c7", Status: protocol.ToolCompleted, DurationMS: 61_000,
	})
	s.applyJournal()
	s.mustShow("✓ shell sleep 60", " 1m01s")
	s.tick()
}

func TestSideBySideDiff(t *testing.T) {
	s := open(t, tuitest.Scenes["cards"](), 100, 90)
	s.mustHide(" │ 12 ")
	s.press("tab", "d")
	s.mustShow(" │ 12 ")
	s.press("d")
	s.mustHide(" │ 12 ")
	s.update(tea.WindowSizeMsg{Width: 160, Height: 90})
	s.mustShow(" │ 12 ")
}

func TestToolOutputPager(t *testing.T) {
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "go")
	var out strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&out, "line %d of many\n", i)
	}
	j.Tool(
		"c1",
		protocol.ToolStartedData{
			Name:  "shell",
			Title: "seq",
			Input: json.RawMessage(`{"command":"seq","env":{"A":[1,2]}}`),
		},
		"",
	)
	for rest := out.String(); rest != ""; {
		n := min(len(rest), 100_000)
		j.Add(protocol.ToolOutput, protocol.ToolOutputData{Tool: "c1", Text: rest[:n]})
		rest = rest[n:]
	}
	j.Add(protocol.ToolEnded, protocol.ToolEndedData{Tool: "c1", Status: protocol.ToolCompleted})
	j.CaughtUp()
	s := open(t, j, 80, 24)
	s.mustShow("line 0 of many", "line 1 of many", "… 19990 more lines · ctrl+o", "line 19999 of many")
	s.mustHide("line 19992 of many")
	s.press("tab", "enter")
	s.mustShow("line 19999 of many")
	s.press("v")
	s.mustShow("arguments", `"command": "seq",`, `      1,`, "line 0 of many")
	s.press("/")
	s.typeText("line 12345 ")
	s.press("enter")
	s.mustShow("line 12345 of many", "line 12346 of many")
	s.mustHide("line 12344 of many")
	s.press("/")
	for range 20 {
		s.update(tea.KeyPressMsg{Code: tea.KeyBackspace})
	}
	s.typeText(`"999 of"`)
	s.press("enter", ">", ">")
	s.mustShow("line 14999 of many")
	s.mustHide("line 14998 of many")
	s.press("<")
	s.mustShow("line 13999 of many")
	for range 7 {
		s.press(">")
	}
	s.mustShow("from the start", "line 999 of many")
	s.press("G")
	s.mustShow("line 19999 of many", " seq ")
	if text := s.text(); !strings.Contains(text, " 20") {
		t.Errorf("got pager status\n%s", text[strings.LastIndex(text, " seq"):])
	}
	s.press("q")
	s.mustHide("arguments")
}

func TestPagerIndentsJSON(t *testing.T) {
	s := open(t, tuitest.Scenes["cards"](), 80, 60)
	s.press("tab", "up", "up", "v")
	s.mustShow("issues counter", "arguments", `  "limit": 3`, "output", `      "title": "Counter races",`)
}

func TestApprovalPatchDiff(t *testing.T) {
	s := open(t, tuitest.Scenes["changes"](), 100, 40)
	s.waitGrace()
	s.mustShow("go.mod +1 −1", "3   - go 1.25", "  3 + go 1.26‹U+202E›", "pkg/store/counter.go +6 −2")
	s.press("tab", "v")
	s.mustShow("Edit two files", "14 + ", "under its lock")
	s.press("d")
	s.mustShow(" │ ")
}

// BenchmarkKeyPressLongOutput scrolls a page in a session with long tool output.
func BenchmarkKeyPressLongOutput(b *testing.B) {
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "go")
	for i := range 40 {
		j.Tool(
			fmt.Sprint("c", i),
			protocol.ToolStartedData{Name: "shell", Title: "yes"},
			strings.Repeat("\x1b[32mok\x1b[m  \tpkg\t0.1s\n", 10_000),
		)
		j.Add(protocol.ToolEnded, protocol.ToolEndedData{Tool: fmt.Sprint("c", i), Status: protocol.ToolCompleted})
		j.Add(protocol.ToolStarted, protocol.ToolStartedData{
			Tool: fmt.Sprint("d", i), Name: "edit", Title: "x", Kind: protocol.ToolEdit,
		})
		j.Add(protocol.ToolOutput, protocol.ToolOutputData{
			Tool: fmt.Sprint("d", i),
			Content: []protocol.Content{
				{
					Type: "diff",
					Path: "x.go",
					Old:  new(strings.Repeat(tuitest.CounterGo, 100)),
					New:  strings.Repeat(tuitest.CounterFixed, 100),
				},
			},
		})
	}
	j.Text("t", "```go\n"+strings.Repeat("x := \"a string\" // and a comment\n", (1<<20)/33)+"```\n")
	j.CaughtUp()
	m := benchmarkView(b)
	m.Update(tea.WindowSizeMsg{Width: 200, Height: 60})
	m.Update(j.Take())
	m.View()
	for b.Loop() {
		m.Update(tuitest.KeyPress("pgup"))
		m.View()
	}
}

// BenchmarkOutputAndFrame applies a delta of a running tool and draws a screen with code and diffs.
func BenchmarkOutputAndFrame(b *testing.B) {
	j := tuitest.Scenes["cards"]()
	m := benchmarkView(b)
	m.Update(tea.WindowSizeMsg{Width: 200, Height: 60})
	m.Update(j.Take())
	for b.Loop() {
		j.Add(protocol.ToolOutput, protocol.ToolOutputData{Tool: "c7", Text: "\x1b[32mok\x1b[m  \tpkg\t0.1s\n"})
		m.Update(j.Take())
		m.View()
	}
}
