package tui

import (
	"context"
	"encoding/json"
	"image/color"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"agentctl/tui/remote"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"agentctl/protocol"
	"agentctl/tui/transcript"
)

func FuzzReadable(f *testing.F) {
	for _, s := range []string{`{"command":"ls\nx","n":[1,{"a":2}]}`, `"text"`, `[1]`, `{"a"`, ``, `null`, `{"a":1}{`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got := JSON(raw)
		if json.Valid(raw) && utf8.Valid(raw) && !utf8.ValidString(got) {
			t.Errorf("readable(%q) = %q is not UTF-8", raw, got)
		}
	})
}

func FuzzDiff(f *testing.F) {
	f.Add("a\nb\n", "a\nc\n")
	f.Add("", "x")
	f.Fuzz(func(t *testing.T, old, text string) {
		got := diffLines(old, text)
		for line := range strings.Lines(got) {
			if !strings.HasPrefix(line, "- ") && !strings.HasPrefix(line, "+ ") && !strings.HasPrefix(line, "  ") {
				t.Errorf("diffLines(%q, %q) has the line %q", old, text, line)
			}
		}
		if old == text && strings.ContainsAny(strings.ReplaceAll(got, "\n", "")[:min(1, len(got))], "+-") {
			t.Errorf("equal texts differ: %q", got)
		}
	})
}

func FuzzTyped(f *testing.F) {
	for _, line := range []string{
		"hello", "//path", "/approve", "/deny p1 no", "/keep 1, 3", "/keep p1 0 -1 99999999999999999999", "/replan x", "/answer q1 db=pg name=a=b", "/answer =", "/option", "/now 1",
		"/edit 2 text", "/edit -1 x", "/move 1 2 3", "/interrupt hold", "/queue", "/status", "/retry", "/", "/ ", "/\x1b[2J", "/approve \u202e",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		for _, name := range []string{"tasks to confirm", "question", "queue"} {
			p := &plainSession{renderer: newRenderer(time.UTC), session: newRecording(), work: make(chan func(context.Context) string, 1), quit: func() {}}
			for _, u := range scenes[name]().take() {
				p.renderer.update(u)
			}
			p.renderer.out.Reset()
			p.runLine(inputLine{line: line})
			if got := p.renderer.out.String(); strings.ContainsAny(got, "\x1b\u202e\u009b\r\a") || !utf8.ValidString(got) {
				t.Errorf("%q tells %q", line, got)
			}
		}
	})
}

// eventful draws any event of the protocol: with the data of its type, with
// other JSON, or with none.
func eventful(t *rapid.T, j *journal) {
	types := protocol.EventTypes
	et := types[rapid.IntRange(0, len(types)-1).Draw(t, "type")]
	id := rapid.SampledFrom([]string{"a", "b", "\x1b[2J", ""})
	data := map[string]any{}
	for _, field := range []string{"message_id", "client_message_id", "part", "tool", "request", "id", "task", "text", "title", "command", "reason", "message", "name", "output"} {
		if rapid.Bool().Draw(t, field) {
			data[field] = id.Draw(t, "value")
		}
	}
	switch rapid.IntRange(0, 7).Draw(t, "extra") {
	case 0:
		data["parts"] = []any{map[string]any{"part": "a", "kind": "text", "text": "x\ty"}, map[string]any{"part": "a", "kind": "output", "text": "z\n\n"}}
	case 1:
		data["tasks"] = []any{map[string]any{"id": "a", "title": "\u202et"}, map[string]any{}}
	case 2:
		data["options"] = []any{map[string]any{"id": "o", "kind": "allow_once"}}
		data["questions"] = []any{map[string]any{"id": "q", "choices": []any{map[string]any{"id": "c"}}}}
	case 3:
		data["content"] = []any{map[string]any{"type": "diff", "path": "p\x1b[2J", "old": "o\x1b[8m", "new": "n\n"}, map[string]any{"type": "blob", "blob": "b"}}
		data["patch"] = "--- a\n+++ b\n@@ -1 +1 @@\n-\x1b[2Jx\n+y\n"
	case 4:
		data["index"] = rapid.IntRange(-3, 9).Draw(t, "index")
		data["text"] = rapid.SampledFrom([]string{"[a b c](https://x.y/z)", "<https://x.y>\x1b]8;;http://q\x07", "[x", "](http://y)", "`[a](http://b)`"}).Draw(t, "link")
	case 7:
		data["text"], data["kind"] = "\x1b[31;5mred\x1b[m 10%\r20%\x1b[1A\x1b[8mx\n", "read"
		data["input"] = map[string]any{"path": "a\x1b[2J.go", "old_string": "a\n\x1b[8m", "new_string": "b"}
	case 5:
		data["settings"] = []any{map[string]any{"id": "s", "value": "\u202ev", "choices": []any{map[string]any{"id": "c", "about": "\x1b[2J"}}}}
		data["commands"] = []any{map[string]any{"name": "\x1b[2Jn"}}
	case 6:
		data["outcome"], data["rule"] = "allowed", map[string]any{"id": "u", "scope": "\u202es"}
	}
	numbers := rapid.SampledFrom([]int64{-5, 0, 1, 77, 1 << 50})
	for _, field := range []string{"tokens", "max_tokens", "percent", "before", "after", "input", "cost"} {
		if rapid.IntRange(0, 3).Draw(t, field) == 0 {
			data[field] = numbers.Draw(t, "number")
		}
	}
	if et.Ephemeral {
		j.ephemeral(et.Type, data)
		return
	}
	j.turn = rapid.SampledFrom([]string{"", "t1", "t2"}).Draw(t, "turn")
	if rapid.Bool().Draw(t, "by") {
		j.as(bob, et.Type, data)
		return
	}
	j.add(et.Type, data)
}

// dressOnly fails unless every sequence of a screen is SGR of what this program
// wears: nothing that blinks, hides or frames.
func dressOnly(t interface{ Fatalf(string, ...any) }, content string) {
	for rest := content; ; {
		at := strings.IndexByte(rest, 0x1b)
		if at < 0 {
			return
		}
		rest = rest[at:]
		if n, to := transcript.LinkSequence(rest); n > 0 {
			line, _, _ := strings.Cut(rest[n:], "\n")
			if to != "" && !strings.Contains(line, transcript.LinkEnd) {
				t.Fatalf("a link to %q does not end on its line", to)
			}
			rest = rest[n:]
			continue
		}
		n := sgrLength(rest)
		if n == 0 {
			t.Fatalf("%.20q is not SGR", rest)
		}
		fields := strings.Split(rest[2:n-1], ";")
		for len(fields) > 0 {
			f := fields[0]
			fields = fields[1:]
			switch v, _ := strconv.Atoi(f); {
			case f == "" || strings.HasPrefix(f, "4:"), v <= 4, v == 7, v == 9, v >= 22 && v <= 29 && v != 25 && v != 26 && v != 28, v >= 30 && v <= 37, v >= 90 && v <= 97, v == 39, v == 49:
			case v == 38 || v == 48:
				if len(fields) >= 4 && fields[0] == "2" {
					fields = fields[4:]
				} else if len(fields) >= 2 && fields[0] == "5" {
					fields = fields[2:]
				} else {
					t.Fatalf("%.20q is half a colour", rest)
				}
			default:
				t.Fatalf("%q in %.30q is nothing that this program wears", f, rest)
			}
		}
		rest = rest[n:]
	}
}

// Whatever a program writes, what reaches the terminal is text and SGR of the
// theme, folded, unfolded and in the pager.
func FuzzOutputOnTheScreen(f *testing.F) {
	for _, s := range []string{
		"\x1b[31;5;8mred\x1b[38;5;1;48;2;1;2;3mx\x1b[m", "10%\r20%\x1b[K\n\x1b[2A\x1b]8;;x\aa\x1b]8;;\a", "\x1b[58:2::1:2:3;21;53mx\x1bPq\x1b\\", "{\"a\":\"\x1b[8m\"}",
		"--- a\n+++ b\n@@ -1 +1 @@\n-\x1b[8mx\n+y\n", "\u009b31mx\u202e\xff\x1b[38;5", "diff --git a/x b/x\n@@ -1 +1 @@\n+a\n",
	} {
		f.Add(s, true)
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, text string, read bool) {
		j := newJournal()
		j.user(ada, "m1", "go")
		d := protocol.ToolStartedData{Name: "shell", Title: "x.go"}
		if read {
			d.Kind = protocol.ToolRead
		}
		j.tool("c1", d, text)
		j.caughtUp()
		s := open(t, j, 70, 20)
		look := func() {
			content := s.m.View().Content
			dressOnly(t, content)
			if bare := ansi.Strip(content); strings.ContainsAny(bare, "\x1b\u202e\u009b\r\a\b") || !utf8.ValidString(bare) {
				t.Fatalf("a control is on the screen: %q", bare)
			}
		}
		look()
		s.journal.add(protocol.ToolEnded, protocol.ToolEndedData{Tool: "c1", Status: protocol.ToolCompleted})
		s.tell()
		for _, key := range []string{"tab", "enter", "d", "v", "d", "q"} {
			look()
			s.press(key)
		}
		look()
	})
}

var anyKey = rapid.SampledFrom([]string{
	"enter", "esc", "tab", "shift+tab", "up", "down", "left", "right", "pgup", "pgdown", "home", "ctrl+home", "ctrl+end", "f1", "f3", "f4", "f6", "f8", "space",
	"f5", "ctrl+g", "ctrl+p", "ctrl+n", "shift+up", "s", "p", "pgup",
	"ctrl+x", "ctrl+o", "ctrl+r", "ctrl+f", "/", "n", "N", "alt+enter", "1", "5", "r", "v", "e", "x", "K", "J", "h", "d", "k", "c", "y", "b", "[", "]", "t", "T", "a", "A", "E", "alt+up", "alt+down", "?", "漢",
})

func TestWhateverHappensTheScreenFits(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := open(t, newJournal(), 60, 16)
		width, height := 60, 16
		rt.Repeat(map[string]func(*rapid.T){
			"event": func(rt *rapid.T) {
				for range rapid.IntRange(1, 5).Draw(rt, "events") {
					eventful(rt, s.journal)
				}
				s.tell()
				s.journal.seq = s.m.replica.state.Seq // what was refused left no gap
			},
			"caught up": func(*rapid.T) {
				s.journal.caughtUp()
				s.tell()
			},
			"link": func(rt *rapid.T) {
				s.journal.link(remote.Conn{State: rapid.SampledFrom([]remote.ConnState{remote.Connecting, remote.Connected, remote.Reconnecting, remote.Offline}).Draw(rt, "link"), Retry: s.now.Add(time.Second)})
				s.tell()
			},
			"resume": func(rt *rapid.T) {
				s.now = s.now.Add(time.Minute)
				s.journal.back(protocol.ModeResume, uint64(rapid.IntRange(0, 2000).Draw(rt, "missed")))
				s.tell()
			},
			"reset": func(*rapid.T) {
				s.journal.out = append(s.journal.out, remote.Update{Attached: &protocol.SubscribeResult{
					Mode: protocol.ModeReset, After: protocol.Position{Epoch: "e", Seq: 7}, Snapshot: &protocol.Snapshot{Epoch: "e", State: &protocol.State{Seq: 7}},
				}})
				s.tell()
				s.journal.seq = 7
			},
			"key":   func(rt *rapid.T) { s.press(anyKey.Draw(rt, "key")) },
			"paste": func(*rapid.T) { s.give(tea.PasteMsg{Content: "a\nb\x1b[2J"}) },
			"background": func(rt *rapid.T) {
				s.give(tea.BackgroundColorMsg{Color: rapid.SampledFrom([]color.Color{white, black}).Draw(rt, "background")})
			},
			"quiet": func(*rapid.T) { s.quiet() },
			"size": func(rt *rapid.T) {
				width, height = rapid.IntRange(1, 90).Draw(rt, "width"), rapid.IntRange(1, 30).Draw(rt, "height")
				s.give(tea.WindowSizeMsg{Width: width, Height: height})
			},
			"": func(rt *rapid.T) {
				content := s.m.View().Content
				lines := strings.Split(content, "\n")
				if len(lines) > height {
					rt.Fatalf("%d rows of %d", len(lines), height)
				}
				for _, line := range lines {
					if ansi.StringWidth(line) > width {
						rt.Fatalf("a line of %d cells in %d: %q", ansi.StringWidth(line), width, line)
					}
				}
				dressOnly(rt, content)
				if bare := ansi.Strip(content); strings.ContainsAny(bare, "\x1b\u202e\u009b") || strings.Contains(content, "\x1b[2J") {
					rt.Fatalf("a control sequence is on the screen: %q", content)
				}
			},
		})
	})
}

func TestWhateverHappensIsTold(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := newRenderer(time.UTC)
		j := newJournal()
		for range rapid.IntRange(1, 40).Draw(rt, "events") {
			eventful(rt, j)
			for _, u := range j.take() {
				n.update(u)
			}
			j.seq = n.state.Seq
		}
		if got := n.out.String(); strings.ContainsAny(got, "\x1b\u202e\u009b\r\a") || !utf8.ValidString(got) {
			rt.Fatalf("a control is told: %q", got)
		}
	})
}
