package schedule

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"agentctl/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A recorder is a Solver whose tasks take an hour. It records what happens to them.
type recorder struct {
	tasks    []*Task
	parallel int
	fail     string // the line that cannot be recorded
	stopped  []bool // of the latest work

	mu    sync.Mutex
	lines []string
}

var errRecord = errors.New("cannot record")

func (r *recorder) record(i int, text string) error {
	line := r.tasks[i].ID + " " + text
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, line)
	if line == r.fail {
		return errRecord
	}
	return nil
}

func (r *recorder) Parallel() int { return r.parallel }

func (r *recorder) Start(_ context.Context, i int) (func(ctx context.Context), error) {
	return func(ctx context.Context) {
		select {
		case <-time.After(time.Hour):
		case <-ctx.Done():
		}
		r.stopped[i] = errors.Is(context.Cause(ctx), ErrStopped)
	}, r.record(i, "starts")
}

func (r *recorder) End(ctx context.Context, i int) error {
	switch {
	case r.stopped[i]:
		return nil
	case ctx.Err() != nil:
		r.tasks[i].Status = protocol.StatusCancelled
		return r.record(i, "interrupted")
	}
	r.tasks[i].Status = protocol.StatusCompleted
	return r.record(i, "completed")
}

func (r *recorder) Cancel(_ context.Context, i int, reason string) error {
	return r.record(i, strings.TrimSpace("cancelled "+reason))
}

func (r *recorder) Restart(_ context.Context, i int) error { return r.record(i, "restarted") }

// run runs a schedule of tasks, each "ID" or "ID<DEPENDENCY,…", until the test has acted.
func run(
	t *testing.T, r *recorder, act func(ctx context.Context, s *Schedule), tasks ...string,
) error {
	t.Helper()
	for _, text := range tasks {
		id, after, _ := strings.Cut(text, "<")
		task := &Task{Task: protocol.Task{ID: id, Title: id, Status: protocol.StatusPending}}
		if after != "" {
			task.After = strings.Split(after, ",")
		}
		r.tasks = append(r.tasks, task)
	}
	r.stopped = make([]bool, len(tasks))
	s := New(r.tasks, r)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	synctest.Wait()
	act(ctx, s)
	err := <-ended
	for _, request := range []error{s.CancelTask(t.Context(), "a"), s.RestartTask(t.Context(), "a")} {
		if protocol.CodeOf(request) != protocol.CodeNotFound {
			t.Errorf("a request after the end: %v", request)
		}
	}
	return err
}

func (r *recorder) want(t *testing.T, lines ...string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Equal(r.lines, lines) {
		t.Errorf("%q, want %q", r.lines, lines)
	}
}

func TestTasksRunAfterTheirDependenciesAndNotMoreThanAllowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{parallel: 1}
		err := run(t, r, func(context.Context, *Schedule) {}, "c<b", "a", "b")
		r.want(t, "a starts", "a completed", "b starts", "b completed", "c starts", "c completed")
		if err != nil {
			t.Error(err)
		}
	})
}

func TestTasksInACycleAreCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{parallel: 2}
		err := run(t, r, func(context.Context, *Schedule) {}, "a<b", "b<a", "c")
		r.want(t, "c starts", "c completed", "a cancelled cyclic dependency", "b cancelled a was not completed")
		if err != nil {
			t.Error(err)
		}
	})
}

func TestATaskThatWasSkippedBeforeARestartOfTheServerComesBack(t *testing.T) {
	task := func(id, status string, after ...string) *Task {
		return &Task{Task: protocol.Task{ID: id, Title: id, Status: status, After: after}}
	}
	r := &recorder{parallel: 2, tasks: []*Task{
		task("a", protocol.StatusFailed), task("b", protocol.StatusCancelled, "a"), task("c", protocol.StatusCancelled),
	}}
	s := New(r.tasks, r)
	if err := s.restart(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	r.want(t, "a restarted", "b restarted")
}

func TestARestartedTaskBringsBackThoseThatWereCancelledBecauseOfIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{parallel: 2}
		err := run(t, r, func(ctx context.Context, s *Schedule) {
			time.Sleep(time.Minute) // c ends before a
			for _, f := range []func(context.Context, string) error{s.CancelTask, s.RestartTask} {
				if err := f(ctx, "a"); err != nil {
					t.Error(err)
				}
			}
			if err := s.CancelTask(ctx, "x"); protocol.CodeOf(err) != protocol.CodeNotFound {
				t.Errorf("an unknown task: %v", err)
			}
		}, "a", "b<a", "c")
		r.want(t, "a starts", "c starts", "a cancelled", "b cancelled a was not completed", "a restarted",
			"b restarted", "a starts", "c completed", "a completed", "b starts", "b completed")
		if err != nil {
			t.Error(err)
		}
	})
}

func TestAnErrorOfTheSolverEndsAllWork(t *testing.T) {
	for fail, want := range map[string][]string{
		"b starts":    {"a starts", "b starts", "a interrupted"},
		"a cancelled": {"a starts", "b starts", "a cancelled", "b interrupted"},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := &recorder{parallel: 2, fail: fail}
			err := run(t, r, func(ctx context.Context, s *Schedule) {
				if err := s.CancelTask(ctx, "a"); protocol.CodeOf(err) != protocol.CodeNotFound {
					t.Errorf("%s: cancel: %v", fail, err)
				}
			}, "a", "b")
			if r.want(t, want...); !errors.Is(err, errRecord) {
				t.Errorf("%s: %v", fail, err)
			}
		})
	}
}

func TestReconsiderStartsTasksThatAreNowAllowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{parallel: 1}
		_ = run(t, r, func(_ context.Context, s *Schedule) {
			r.parallel = 2
			s.Reconsider()
			synctest.Wait()
			r.want(t, "a starts", "b starts")
		}, "a", "b")
		var none *Schedule
		none.Reconsider()
		if err := none.CancelTask(t.Context(), "a"); protocol.CodeOf(err) != protocol.CodeNotFound {
			t.Errorf("without a plan: %v", err)
		}
	})
}
