package sqlite_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"agentctl/internal/dev/memory"
	"agentctl/internal/dev/thorough"
	"agentctl/server/eventlog"
	"agentctl/server/sqlite"
)

// writerEnv makes the test binary a writer process. Its value is "BOOT SYNC DIR".
const writerEnv = "SQLITE_TEST_WRITER"

func TestMain(m *testing.M) {
	thorough.Checks(40, 100)
	if args, ok := os.LookupEnv(writerEnv); ok {
		fmt.Fprintln(os.Stderr, runWriter(strings.SplitN(args, " ", 3)))
		os.Exit(1)
	}
	memory.Use()
	installFaultVFS()
	goleak.VerifyTestMain(m)
}

// runWriter appends to session "a" without end, one to fifty events per commit, and prints the last
// seq of every commit.
func runWriter(args []string) error {
	s, err := sqlite.Open(args[2], sqlite.Options{BootID: args[0], Sync: sqlite.Sync(args[1])})
	if err != nil {
		return err
	}
	record, err := s.Session(context.Background(), "a")
	if err != nil {
		return err
	}
	for first := record.Head + 1; ; {
		last := first + first*7%50
		b := events("a", first, last)
		b.Answers = []eventlog.Answer{{Key: fmt.Sprint(last), Body: []byte("done")}}
		if err := s.Commit([]*eventlog.Batch{b}); err != nil {
			return err
		}
		if _, err := fmt.Println(last); err != nil {
			return err
		}
		first = last + 1
	}
}

// runWriterUntilKilled runs a writer process, kills it after n reported commits and returns the
// last reported seq.
func runWriterUntilKilled(t *testing.T, dir, boot string, sync sqlite.Sync, n int) uint64 {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %s", writerEnv, boot, sync, dir))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	last, reports := "", bufio.NewScanner(out)
	for reports.Scan() {
		last = reports.Text()
		if n--; n == 0 {
			if err := cmd.Process.Kill(); err != nil {
				t.Error(err)
			}
		}
	}
	_ = cmd.Wait() // it was killed
	seq, err := strconv.ParseUint(last, 10, 64)
	if err != nil {
		t.Fatalf("writer: %v: %s", err, &stderr)
	}
	return seq
}

func TestWhatWasReportedCommittedSurvivesKilling(t *testing.T) {
	dir := t.TempDir()
	withStore(t, dir, sqlite.Options{}, func(s *sqlite.Store) { commit(t, s, create("a")) })
	for _, n := range []int{1, 2, 150, 700} {
		reported := runWriterUntilKilled(t, dir, "1", sqlite.Normal, n)
		withStore(t, dir, sqlite.Options{BootID: "1"}, func(s *sqlite.Store) {
			record, err := s.Session(context.Background(), "a")
			if err != nil {
				t.Fatal(err)
			}
			if record.Epoch != "e-a" {
				t.Error("epoch renewed")
			}
			if record.Head < reported {
				t.Errorf("head %d, reported %d", record.Head, reported)
			}
			if got := read(t, s, "a", 0, record.Head); !bytes.Equal(got, lines(1, record.Head)) {
				t.Errorf("events up to %d differ", record.Head)
			}
			if _, err := s.Answer(context.Background(), fmt.Sprint(record.Head)); err != nil {
				t.Errorf("events without the answer of their commit: %v", err)
			}
			commit(t, s, events("a", record.Head+1, record.Head+2))
		})
	}
}
