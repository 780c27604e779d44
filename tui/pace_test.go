package tui

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

// A pacedOutput is a terminal with a pace.
type pacedOutput struct {
	tuitest.Output
	pace   *pace
	writes atomic.Int64
}

func (o *pacedOutput) Write(b []byte) (int, error) {
	o.pace.wrote(len(b))
	o.writes.Add(1)
	return o.Output.Write(b)
}

// A pacedScreen is a program with a session on a terminal with colours.
type pacedScreen struct {
	r       *tuitest.FakeSession
	out     *pacedOutput
	journal *tuitest.Journal
	rnd     *rand.Rand
	text    []string // words written
	stop    func()
}

// startPaced shows a session in a terminal over SSH, or a local one. It needs a synctest bubble.
func startPaced(t *testing.T, ssh bool, keys io.Reader, width, height int) *pacedScreen {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	build := testBuilder(ctx, Options{}, time.Now, func() string { return "client-new" })
	if ssh {
		build.pace = newPace([]string{"SSH_CONNECTION=10.0.0.2 50000 10.0.0.1 22"})
	}
	s := &pacedScreen{
		r: tuitest.NewFakeSession(), out: &pacedOutput{pace: build.pace}, journal: tuitest.Conversation(),
		rnd: rand.New(rand.NewPCG(1, 2)),
	}
	ended := make(chan error, 1)
	go func() {
		options := append(testProgramOptions(keys, s.out, width, height), tea.WithColorProfile(colorprofile.TrueColor))
		p := build.newSession(s.r)
		ended <- build.run(p, p, options...)
	}()
	s.journal.CaughtUp()
	s.feed()
	tuitest.Wait(time.Second)
	s.stop = func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("got error %v from the program, want none", err)
		}
	}
	return s
}

func (s *pacedScreen) feed() {
	for _, u := range s.journal.Take() {
		s.r.Feed <- u
	}
}

// write writes 500 words a second for some seconds, in paragraphs, and returns the bytes and the
// writes of the terminal a second.
func (s *pacedScreen) write(seconds int) (bytes, writes int) {
	synctest.Wait()
	before, count := len(s.out.String()), s.out.writes.Load()
	for range seconds * 500 {
		time.Sleep(2 * time.Millisecond)
		word := []byte(strings.Repeat("x", 1+s.rnd.IntN(9)))
		for i := range word {
			word[i] = 'a' + byte(s.rnd.IntN(26))
		}
		text := " " + string(word)
		if s.text = append(s.text, text); len(s.text)%80 == 0 {
			text += ".\n\n"
		}
		s.journal.Add(protocol.TextDelta, protocol.PartDeltaData{Part: "t3", Text: text})
		s.feed()
	}
	synctest.Wait()
	return (len(s.out.String()) - before) / seconds, int(s.out.writes.Load()-count) / seconds
}

// Over SSH a screen writes less than 8 KB a second while an agent writes 500 words a second, and
// soon has the last word. Other terminals get every frame.
func TestStreamingTextIsCheapOverSSH(t *testing.T) {
	for _, tt := range []struct {
		ssh  bool
		size Size
	}{{true, Size{80, 24}}, {true, Size{120, 40}}, {true, Size{200, 60}}, {false, Size{120, 40}}} {
		synctest.Test(t, func(t *testing.T) {
			s := startPaced(t, tt.ssh, nil, tt.size.Width, tt.size.Height)
			s.write(2)
			bytes, writes := s.write(5)
			t.Logf("%+v: %d bytes and %d writes a second", tt, bytes, writes)
			if tt.ssh && (bytes > 8000 || writes < 3) || !tt.ssh && writes < 50 {
				t.Errorf("%+v: %d bytes in %d writes a second", tt, bytes, writes)
			}
			tuitest.Wait(longestPace + 100*time.Millisecond)
			if last := s.text[len(s.text)-1]; !strings.Contains(s.out.String(), last) {
				t.Errorf("%+v: the last word %q is not on the terminal", tt, last)
			}
			s.stop()
		})
	}
}

// A key and a request do not wait for streaming text.
func TestOnlyStreamingTextWaitsOverSSH(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keys, typing := io.Pipe()
		s := startPaced(t, true, keys, 120, 40)
		s.write(2)
		expect := func(text string) {
			t.Helper()
			before := len(s.out.String())
			s.feed()
			if tuitest.Wait(40 * time.Millisecond); !strings.Contains(s.out.String()[before:], text) {
				t.Errorf("%q is not on the terminal after 40 ms", text)
			}
		}
		for i := range 10 { // at any point of the pace
			s.write(1)
			time.Sleep(time.Duration(i) * 17 * time.Millisecond)
			key := string(rune('\u0391' + i)) // no other text has it
			if _, err := io.WriteString(typing, key); err != nil {
				t.Error(err)
			}
			expect(key)
			request := tuitest.CommandApproval()
			request.Request, request.Title = fmt.Sprint("r", i), fmt.Sprint("Request ", 9-i)
			s.journal.RequestApproval(request)
			expect(request.Title)
			s.journal.Add(protocol.ApprovalResolved, protocol.ApprovalResolvedData{
				Request: request.Request, Outcome: protocol.Denied,
			})
		}
		_ = typing.Close() // always returns nil
		s.stop()
	})
}

func TestOnlyTerminalsOverSSHHaveAPace(t *testing.T) {
	for env, want := range map[string]bool{
		"TERM=xterm": false, "SSH_CONNECTION=": false, "SSH_AGENT_PID=7": false,
		"SSH_CONNECTION=10.0.0.2 50000 10.0.0.1 22": true, "SSH_TTY=/dev/pts/3": true,
	} {
		if got := newPace([]string{env}) != nil; got != want {
			t.Errorf("%s: a pace %v, want %v", env, got, want)
		}
	}
	var none *pace
	none.wrote(1)
	if none.updates().Wait != nil {
		t.Error("updates without a pace have one")
	}
}
