package process

import (
	"bufio"
	"io"
	"os/exec"
	"strconv"
	"testing"
	"time"
)

func TestADescendantInAGroupOfItsOwnDoesNotOutliveTheProgram(t *testing.T) {
	t.Parallel()
	escape := `setsid sh -c 'echo $$; exec sleep 100' & wait`
	for name, end := range map[string]func(*Process) error{
		"ended by its server":   func(p *Process) error { p.End(20 * time.Millisecond); return nil },
		"killed by its server":  func(p *Process) error { p.End(0); return nil },
		"ended by a later one":  func(p *Process) error { return EndGroup(t.Context(), p.Group(), time.Second) },
		"killed by a later one": func(p *Process) error { return EndGroup(t.Context(), p.Group(), 0) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t, `trap '' TERM; `+escape)
			pid, err := strconv.Atoi(readLine(t, bufio.NewReader(p.Stdout)))
			if err != nil {
				t.Fatal(err)
			}
			if err := end(p); err != nil {
				t.Fatal(err)
			}
			waitGone(t, pid)
		})
	}
}

func TestAProcessThatLeftItsGroupAndItsParentEndsWithAMarkedProgram(t *testing.T) {
	t.Parallel()
	p, err := Start(Command{
		Args: []string{"sh", "-c", `(setsid sh -c 'echo $$; exec sleep 100' &); sleep 100`},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Release()
	pid, err := strconv.Atoi(readLine(t, bufio.NewReader(p.Stdout)))
	if err != nil {
		t.Fatal(err)
	}
	p.EndAll(0)
	waitGone(t, pid)
}

// A process that left the group and keeps the pipe ends the output of the program neither by
// silence nor by writing on.
func TestAProcessThatHoldsTheOutputDoesNotKeepTheReader(t *testing.T) {
	t.Parallel()
	for name, writer := range map[string]string{
		"silent":       `exec sleep 600`,
		"now and then": `while :; do echo tick; sleep 0.05; done`,
		"all the time": `exec yes`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := Start(Command{
				Args: []string{"sh", "-c", `setsid sh -c 'echo $$; ` + writer + `' & sleep 0.2`},
			})
			if err != nil {
				t.Fatal(err)
			}
			out := bufio.NewReader(p.Stdout)
			pid, err := strconv.Atoi(readLine(t, out))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, out); err != nil {
				t.Error(err)
			}
			if p.End(0); !alive(pid) {
				t.Fatal("the process that holds the output has ended before it had to")
			}
			p.Release()
			waitGone(t, pid)
		})
	}
}

// The group is killed while its leader is not reaped, so that its number is still its own.
func TestTheGroupIsKilledBeforeItsLeaderIsReaped(t *testing.T) {
	c := exec.Command("true")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if !waitExited(c.Process.Pid) {
		t.Error("the leader was reaped")
	}
	if f := procStat(c.Process.Pid); f == nil || f[statState] != "Z" {
		t.Errorf("the leader is %v, want a zombie", f)
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	if waitExited(c.Process.Pid) {
		t.Error("a reaped process counts as not reaped")
	}
}

// A supervisor passes no signal on: TERM would end it, and its processes without a grace period.
func TestTheProcessesOfASupervisorAreTerminated(t *testing.T) {
	t.Parallel()
	var printed string
	for _, grace := range []time.Duration{50 * time.Millisecond, time.Second, 30 * time.Second} { // for a slow machine
		launched := 0
		p, err := Start(Command{
			Args:       []string{"sh", "-c", `trap "echo terminated; exit 0" TERM; echo ready; while :; do sleep 0.01; done`},
			Supervisor: []string{"/bin/sh", "-c", `"$@"; echo gone`, "sh"},
			Launch:     func(start func() error) error { launched++; return start() },
		})
		if err != nil {
			t.Fatal(err)
		}
		out := bufio.NewReader(p.Stdout)
		readLine(t, out)
		p.End(grace)
		rest, err := io.ReadAll(out)
		p.Release()
		if err != nil || launched != 1 {
			t.Fatalf("%v; launched %d times", err, launched)
		}
		if printed = string(rest); printed == "terminated\ngone\n" {
			return
		}
	}
	t.Errorf("read %q", printed)
}
