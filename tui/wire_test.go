package tui

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/protocol"
	"agentctl/tui/protolog"
)

// wired is a recording whose connection can be looked at.
type wired struct {
	*recording
	log *protolog.Log
}

func (w wired) Wire() *protolog.Log { return w.log }

// traffic is a short conversation on the wire.
func traffic() *protolog.Log {
	l := protolog.NewLog("the-token")
	at := dawn
	add := func(after time.Duration, sent bool, lines ...string) {
		at = at.Add(after)
		l.AddFrame(at, sent, false, []byte(strings.Join(lines, "\n")))
	}
	l.AddNote(at, "opened ws://box:7777/v1/ws")
	add(time.Millisecond, true, `{"id":"hello","command":"hello","data":{"version":"agentctl.v1","name":"ada"}}`)
	add(4*time.Millisecond, false, `{"id":"hello","result":{"version":"agentctl.v1","server":"agentctl","connection":"c1"}}`)
	add(time.Second, true, `{"id":"1","command":"send","session":"s1","key":"K1","data":{"text":"修复测试 please"}}`)
	add(23*time.Millisecond, false, `{"id":"1","result":{"status":"started","message_id":"m1"}}`,
		`{"session":"s1","seq":4,"turn":"t1","time":"2026-03-04T09:41:01Z","type":"turn.started","data":{"message_id":"m1"}}`)
	add(time.Second, false, `{"session":"s1","seq":9,"first_seq":5,"type":"fold","data":{"parts":[{"part":"p","kind":"text","text":"On it.\u001b[2J"}]}}`)
	add(time.Millisecond, true, `{"command":"ack","session":"s1","data":{"seq":9}}`)
	add(time.Second, true, `{"id":"2","command":"approve","session":"s1","data":{"request":"r1","decision":"deny","token":"the-token"}}`)
	add(3*time.Second, false, `{"id":"2","error":{"code":"conflict","message":"decided by bob"}}`)
	return l
}

// look reads all that the log holds onto the screen, without waiting for more.
func (s *screen) look() {
	s.t.Helper()
	s.m.Update(press("f7"))
	if s.m.wire == nil {
		s.t.Fatal("the wire is not open")
	}
	reading, err := s.m.wire.reader.Next(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	s.m.Update(wireMsg{s.m.wire, reading})
}

func openWired(t *testing.T, width, height int) *screen {
	s := open(t, scenes["transcript"](), width, height)
	s.m.session = wired{s.session, traffic()}
	s.look()
	return s
}

func TestGoldenWire(t *testing.T) {
	for _, size := range []struct{ width, height int }{{40, 16}, {80, 16}, {200, 20}} {
		for name, keys := range map[string][]string{"wire": nil, "wire_sent": {"d", "up"}, "wire_words": {"/", "s", "e", "n", "d"}, "wire_frame": {"up", "up", "up", "enter"}} {
			t.Run(fmt.Sprintf("%s_%d", name, size.width), func(t *testing.T) {
				s := openWired(t, size.width, size.height)
				s.press(keys...)
				got := s.text()
				for line := range strings.Lines(got) {
					if n := ansi.StringWidth(strings.TrimSuffix(line, "\n")); n > size.width {
						t.Errorf("%d cells: %q", n, line)
					}
				}
				golden(t, got)
			})
		}
	}
}

func TestTheWireFitsEverySize(t *testing.T) {
	for width := 1; width < 130; width += 7 {
		for _, height := range []int{1, 2, 3, 12} {
			s := openWired(t, width, height)
			for _, keys := range [][]string{nil, {"up"}, {"enter"}, {"esc"}, {"/", "x"}, {"esc"}, {"t"}, {"home"}, {"pgup"}, {"pgdown"}, {"end"}} {
				s.press(keys...)
				lines := strings.Split(s.m.View().Content, "\n")
				if len(lines) > height {
					t.Fatalf("%d rows at %dx%d", len(lines), width, height)
				}
				for _, line := range lines {
					if ansi.StringWidth(line) > width {
						t.Fatalf("%q at %dx%d", line, width, height)
					}
				}
			}
		}
	}
}

func TestNoCredentialShowsOnTheWire(t *testing.T) {
	s := openWired(t, 200, 30)
	if strings.Contains(s.text(), "the-token") {
		t.Errorf("the screen shows it:\n%s", s.text())
	}
	s.press("up", "enter")
	s.shows(`"token": "‹hidden›"`)
	s.press("q", "y")
	s.shows("copied")
	t.Chdir(t.TempDir())
	s.press("w")
	s.shows("9 frames saved to agentctl-wire-20260304-094200.jsonl")
	file, err := os.ReadFile("agentctl-wire-20260304-094200.jsonl")
	if err != nil || strings.Contains(string(file), "the-token") || strings.Count(string(file), "\n") != 9 {
		t.Errorf("%v\n%s", err, file)
	}
	s.press("w")
	s.shows("file exists")
}

func TestTheWireIsFilteredByTypeAndLeft(t *testing.T) {
	s := openWired(t, 100, 20)
	s.press("up", "t")
	s.shows("3 shown: approve")
	s.press("t", "/", "o", "n", " ", "i", "t", "enter")
	s.shows(`1 shown: "on it"`)
	s.press("esc")
	s.shows("10 messages · 802 B ──")
	s.press("esc")
	s.shows("gemini")
	if s.m.wire != nil {
		t.Error("the wire is still open")
	}
}

func TestASessionWithoutAWireSaysSo(t *testing.T) {
	s := open(t, scenes["transcript"](), 80, 24)
	s.press("f7")
	s.shows("cannot be seen")
}

func TestTheWireGoesOnWhileItIsOpenAndPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecording()
		log := protolog.NewLog()
		keys, typing := io.Pipe()
		c, _, end := launch(t, r, keys, 100, 12)
		defer end()
		defer typing.Close()
		c.mu.Lock()
		c.session = wired{r, log}
		c.mu.Unlock()
		j := conversation()
		j.caughtUp()
		for _, u := range j.take() {
			r.updates <- u
		}
		pass(time.Second)
		hit := func(key string) {
			if _, err := io.WriteString(typing, key); err != nil {
				t.Fatal(err)
			}
			pass(time.Second)
		}
		say := func(word string) {
			log.AddFrame(time.Now(), true, false, protocol.MustEncode(protocol.Command{Command: protocol.Verb(word)}))
			pass(time.Second)
		}
		shows := func(word string, want bool) {
			t.Helper()
			if strings.Contains(c.screen(), word) != want {
				t.Errorf("%s shows: %v\n%s", word, !want, c.screen())
			}
		}
		hit("\x1b[18~")
		say("before")
		shows("before", true)
		hit("p")
		say("meanwhile")
		shows("meanwhile", true) // it was being waited for already
		say("later")
		shows("later", false)
		hit("p")
		shows("later", true)
		hit("\x1b[18~")
		shows("later", false)
	})
}

// wiredPort is a fleet whose connection can be looked at.
type wiredPort struct {
	*port
	log *protolog.Log
}

func (p wiredPort) Wire() *protolog.Log { return p.log }

func TestTheWireShowsOverAllSessions(t *testing.T) {
	d := newDesk(t.Context(), wiredPort{newPort(), traffic()}, newLook(time.UTC, ""), Options{}, func() time.Time { return dawn }, func() string { return "" })
	shows := func(words string, want bool) {
		t.Helper()
		if got := ansi.Strip(d.View().Content); strings.Contains(got, words) != want {
			t.Errorf("%q shows: %v\n%s", words, !want, got)
		}
	}
	d.Update(tea.WindowSizeMsg{Width: 100, Height: 16})
	d.Update(press("f7"))
	reading, err := d.wire.reader.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w := d.wire
	d.Update(wireMsg{w, reading})
	shows("approve error conflict", true)
	d.Update(press("enter"))
	shows(`"code": "conflict"`, true)
	d.Update(press("q"))
	d.Update(press("f7"))
	shows("the wire", false)
	d.Update(wireMsg{w, reading}) // which comes too late
	shows("the wire", false)
}
