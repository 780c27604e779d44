//go:build sandbox

package sandboxtest

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// ownJobsVariable is set in a process that ownJobs started.
const ownJobsVariable = "AGENTCTL_TEST_SANDBOX_JOBS"

// ownJobs runs this program again, where cron and at have no jobs and no files of the machine: a test
// neither runs nor changes the machine's jobs.
func ownJobs() int {
	script := `set -e
		for dir in /var/spool/cron /etc/cron.d /run; do mount -t tmpfs -o mode=755 tmpfs "$dir"; done
		mount --bind /dev/null /etc/crontab; mount --bind /dev/null /etc/at.deny
		cd /var/spool/cron; mkdir crontabs atjobs atspool; touch atjobs/.SEQ
		chgrp crontab crontabs; chmod 1730 crontabs; chown -R daemon:daemon at*; chmod 1770 at*
		cd "$OLDPWD"; exec "$0" "$@"`
	cmd := exec.Command(
		"unshare", append([]string{"-m", "--propagation", "private", "bash", "-c", script}, os.Args...)...,
	)
	cmd.Env = append(os.Environ(), ownJobsVariable+"=1")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// serveJobs runs jobs of cron and at for each client of the socket BASE/jobs: cron's jobs that run when
// it starts, and at's jobs that are due. Then it closes the connection.
func serveJobs(base string, uid int) (stop func(), err error) {
	var log bytes.Buffer
	atd := exec.Command("/usr/sbin/atd", "-f")
	atd.Stderr = &log
	if err := atd.Start(); err != nil {
		return nil, err
	}
	l, err := net.Listen("unix", filepath.Join(base, "jobs"))
	if err == nil {
		err = os.Chown(l.Addr().String(), uid, uid)
	}
	if err != nil {
		_ = atd.Process.Kill()
		return nil, err
	}
	go func() {
		for n := 0; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if err := runJobs(filepath.Join(base, fmt.Sprint("ran", n))); err != nil {
				_, _ = io.WriteString(c, err.Error()+" "+log.String())
			}
			_ = c.Close()
		}
	}()
	return func() {
		_ = l.Close()
		_ = atd.Process.Kill()
		_ = atd.Wait()
	}, nil
}

// runJobs runs the jobs that wait, and a separate one with each daemon, which makes a file.
func runJobs(file string) error {
	_ = os.Remove("/run/crond.reboot") // else cron would run no job at its start
	err := os.WriteFile("/etc/cron.d/last", []byte("@reboot root touch "+file+".cron\n"), 0o600)
	if err != nil {
		return err
	}
	cron := exec.Command("/usr/sbin/cron", "-f")
	if err := cron.Start(); err != nil {
		return err
	}
	defer func() {
		_ = cron.Process.Kill()
		_ = cron.Wait()
	}()
	if out, err := exec.Command("bash", "-c", `echo "touch $1" | at now`, "bash", file+".at").CombinedOutput(); err != nil {
		return fmt.Errorf("at: %w: %s", err, out)
	}
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for deadline := time.Now().Add(time.Minute); ; <-poll.C {
		_, err := os.Stat(file + ".cron")
		_, err2 := os.Stat(file + ".at")
		if err == nil && err2 == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the jobs did not run: %w, %w", err, err2)
		}
	}
}

// runJobs lets cron and at run what waits, and forgets it.
func (h *home) runJobs() {
	h.t.Helper()
	c, err := net.Dial("unix", os.Getenv("JOBS"))
	if err != nil {
		h.t.Fatal(err)
	}
	defer c.Close()
	if failure, err := io.ReadAll(c); err != nil || len(failure) > 0 {
		h.t.Fatalf("%v: %s", err, failure)
	}
	h.t.Cleanup(func() { _ = exec.Command("crontab", "-r").Run() }) // of this process's mounts
}
