package script

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"agentctl/protocol"
	"agentctl/server/session"
)

// parallel is how many tasks run at once unless a plan says otherwise.
const parallel = 3

// A crew solves the tasks of a plan. The goroutine in solve owns its jobs; each running job has a goroutine of its own.
type crew struct {
	*lane
	jobs     []*job
	parallel int
	running  int
	finished chan result
	orders   chan order
	gone     chan struct{} // closed when it takes no more orders
}

// A job is a task being solved. While it runs, its goroutine owns its lane.
type job struct {
	task
	attempt int
	result  string
	lane    *lane
	stop    context.CancelFunc // nil: not running
	want    wish               // of the newest order that stopped it
	waiting []chan<- error     // whom to tell when that is done
}

// A wish is what a person wants of a task.
type wish int

const (
	nothing wish = iota
	cancelled
	restarted
)

type order struct {
	task  string
	want  wish
	reply chan<- error // has room for one
}

// A result is how an attempt at a job went. An empty status means that it was stopped.
type result struct {
	*job
	status string
	err    error // the turn cannot go on
}

// crew makes a crew for tasks, as far as they had come before a restart.
func (l *lane) crew(tasks []task, limit int) *crew {
	c := &crew{
		lane: l, parallel: cmp.Or(limit, parallel),
		finished: make(chan result), orders: make(chan order), gone: make(chan struct{}),
	}
	for _, t := range tasks {
		n := l.before.Tasks[t.ID]
		t.Status = cmp.Or(n.Status, protocol.StatusPending)
		if t.Steps == nil {
			t.Steps = steps{&say{Text: t.Title + ": done."}}
		}
		j := &job{task: t, attempt: max(1, n.Attempt), result: n.Result}
		c.prepare(j)
		c.jobs = append(c.jobs, j)
	}
	return c
}

// prepare gives the job a lane for its attempt.
func (c *crew) prepare(j *job) {
	key := fmt.Sprintf("%s/%d", j.ID, j.attempt)
	j.lane = c.round.lane(key, j.ID, c.before.Lanes[key])
}

// solve runs the jobs, each after those it needs, until all are over. It returns when none of its goroutines is left.
func (c *crew) solve(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	c.agent.solvedBy(c)
	defer c.agent.solvedBy(nil)
	defer close(c.gone)
	var broken error
	for {
		if broken == nil {
			if broken = c.advance(ctx); broken != nil {
				stop()
			}
		}
		if c.running == 0 {
			return broken
		}
		select {
		case r := <-c.finished:
			if err := c.settle(ctx, r); err != nil && broken == nil {
				broken = err
				stop()
			}
		case o := <-c.orders:
			c.obey(ctx, o)
		}
	}
}

// advance starts what can start and gives up what never will.
func (c *crew) advance(ctx context.Context) error {
	for again := true; again; {
		again = false
		for _, j := range c.jobs {
			if j.Status != protocol.StatusPending {
				continue
			}
			ready, lost := c.needs(j)
			switch {
			case lost != "":
				if err := c.close(ctx, j, protocol.StatusCancelled, "it needs "+lost, ""); err != nil {
					return err
				}
				again = true
			case ready && c.running < c.parallel:
				c.start(ctx, j)
			}
		}
		if again || c.running > 0 {
			continue
		}
		for _, j := range c.jobs { // they wait for each other
			if j.Status != protocol.StatusPending {
				continue
			}
			if err := c.close(ctx, j, protocol.StatusFailed, "its tasks wait for each other", protocol.CodeAgentFailed); err != nil {
				return err
			}
		}
	}
	return nil
}

// needs tells whether all that j comes after is done, and which of it never will be.
func (c *crew) needs(j *job) (ready bool, lost string) {
	ready = true
	for _, other := range c.jobs {
		if !slices.Contains(j.After, other.ID) {
			continue
		}
		switch other.Status {
		case protocol.StatusCompleted:
		case protocol.StatusFailed, protocol.StatusCancelled:
			return false, other.Title
		default:
			ready = false
		}
	}
	return ready, ""
}

func (c *crew) start(ctx context.Context, j *job) {
	own, stop := context.WithCancel(ctx)
	j.stop, j.Status = stop, protocol.StatusRunning
	c.running++
	go func() {
		status, err := j.work(ctx, own)
		c.finished <- result{j, status, err}
	}()
}

// work makes one attempt. own is stopped by orders, ctx with the turn.
func (j *job) work(ctx, own context.Context) (status string, err error) {
	l := j.lane
	started := taskEvent(protocol.TaskStarted, protocol.TaskData{Task: j.ID, Title: j.Title, Attempt: j.attempt})
	if err := l.emit(ctx, started); err != nil {
		return "", err
	}
	err = j.Steps.run(own, l)
	var failure *protocol.Error
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case own.Err() != nil:
		return "", nil
	case err == nil:
		j.result = cmp.Or(l.fill(j.task.Result), "done")
		status = protocol.StatusCompleted
	case errors.As(err, &failure):
		status = protocol.StatusFailed
	default:
		return "", err
	}
	return status, j.tell(ctx, status, failure)
}

// tell emits how the job ended and keeps it for after a restart.
func (j *job) tell(ctx context.Context, status string, failure *protocol.Error) error {
	data := protocol.TaskData{Task: j.ID, Title: j.Title, Attempt: j.attempt}
	typ := protocol.TaskCompleted
	switch status {
	case protocol.StatusCompleted:
		data.Result = j.result
	case protocol.StatusFailed:
		typ = protocol.TaskFailed
	case protocol.StatusCancelled:
		typ = protocol.TaskCancelled
	}
	if failure != nil {
		data.Message, data.Code = failure.Message, failure.Code
	}
	n := note{Attempt: j.attempt, Status: status, Result: j.result}
	return j.lane.emit(ctx, taskEvent(typ, data), j.keep(n))
}

func (j *job) keep(n note) func(*memory) {
	return func(m *memory) {
		if m.Turn != nil {
			m.Turn.Tasks[j.ID] = n
		}
	}
}

// close ends a job that does not run.
func (c *crew) close(ctx context.Context, j *job, status, message string, code protocol.Code) error {
	j.Status = status
	return j.tell(ctx, status, &protocol.Error{Code: code, Message: message})
}

// settle takes note of a job that does not run any more and carries out what was ordered meanwhile.
func (c *crew) settle(ctx context.Context, r result) error {
	j := r.job
	c.running--
	j.stop()
	j.stop = nil
	j.Status = cmp.Or(r.status, protocol.StatusPending)
	err := r.err
	if err == nil && j.want != nothing {
		if j.want == restarted {
			err = c.again(ctx, j)
		} else if r.status == "" {
			err = c.close(ctx, j, protocol.StatusCancelled, "", "")
		}
	}
	for _, w := range j.waiting {
		switch {
		case err != nil:
			w <- errNoPlan
		case j.want == cancelled && r.status != "":
			w <- over(j)
		default:
			w <- nil
		}
	}
	j.want, j.waiting = nothing, nil
	return err
}

// again makes a job that does not run ready for its next attempt.
func (c *crew) again(ctx context.Context, j *job) error {
	j.attempt++
	j.result, j.Status = "", protocol.StatusPending
	c.prepare(j)
	data := protocol.TaskData{Task: j.ID, Title: j.Title, Attempt: j.attempt}
	return j.lane.emit(ctx, taskEvent(protocol.TaskRestarted, data), j.keep(note{Attempt: j.attempt}))
}

// obey carries out an order, or stops the job so that settle can.
func (c *crew) obey(ctx context.Context, o order) {
	i := slices.IndexFunc(c.jobs, func(j *job) bool { return j.ID == o.task })
	if i < 0 {
		o.reply <- protocol.Errorf(protocol.CodeNotFound, "the plan has no task %.80q", o.task)
		return
	}
	switch j := c.jobs[i]; {
	case j.stop != nil:
		j.want, j.waiting = o.want, append(j.waiting, o.reply)
		j.stop()
	case j.Status == protocol.StatusPending && o.want == cancelled:
		o.reply <- c.close(ctx, j, protocol.StatusCancelled, "", "")
	case j.Status == protocol.StatusPending:
		o.reply <- nil
	case o.want == cancelled:
		o.reply <- over(j)
	default:
		o.reply <- c.again(ctx, j)
	}
}

var errNoPlan = protocol.Errorf(protocol.CodeNotFound, "no plan is being solved")

func over(j *job) error {
	return protocol.Errorf(protocol.CodeNotFound, "the task %.80q is already %s", j.ID, j.Status)
}

func taskEvent(typ protocol.Type, data protocol.TaskData) session.Event {
	return session.Event{Type: typ, Task: data.Task, Data: data}
}

func (a *agent) solvedBy(c *crew) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.crew = c
}

// CancelTask stops a task of the plan being solved for good.
func (a *agent) CancelTask(ctx context.Context, task string) error {
	return a.order(ctx, task, cancelled)
}

// RestartTask has a task of the plan being solved done again from its beginning.
func (a *agent) RestartTask(ctx context.Context, task string) error {
	return a.order(ctx, task, restarted)
}

func (a *agent) order(ctx context.Context, task string, want wish) error {
	a.mu.Lock()
	c := a.crew
	a.mu.Unlock()
	if c == nil {
		return errNoPlan
	}
	reply := make(chan error, 1)
	select {
	case c.orders <- order{task, want, reply}:
	case <-c.gone:
		return errNoPlan
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-reply:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
