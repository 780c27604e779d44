package pipeline

import (
	"context"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// aggregatorID is the id of the aggregator's conversation. Those of solvers end with a number.
const aggregatorID = "aggregate"

// aggregate answers the request from the results of the tasks: with the text of the aggregator.
func (r *run) aggregate(ctx context.Context, p *plan, tasks []*task) error {
	began, completed := time.Now(), 0
	for _, t := range tasks {
		if t.Status == protocol.StatusCompleted {
			completed++
		}
	}
	if err := r.startAggregate(completed, tasks); err != nil {
		return err
	}
	_, _, name := r.agent.options.Config.Roles()
	in, err := r.openInner(aggregatorRole, name, protocol.Task{}, aggregatorID, &Limits{}, r.stop)
	if err != nil {
		return err
	}
	defer in.close()
	text, err := in.prompt(ctx, aggregateMessage(p, tasks, r.changed.list()), true)
	if err != nil {
		return stageError(aggregatorRole, err)
	}
	spent := in.spending()
	d := protocol.AggregateData{
		Tasks: completed, Text: text, DurationMS: time.Since(began).Milliseconds(), Usage: spent.reported(),
	}
	if err := r.emit(protocol.AggregateCompleted, d); err != nil {
		return err
	}
	total := r.total()
	d.DurationMS, d.Usage = (r.used + time.Since(r.began)).Milliseconds(), total.reported()
	d.Conflicts = r.changed.list()
	return r.record(agent.Event{Type: protocol.PipelineCompleted, Data: d}, func(s *state) { s.Ended = true })
}

// startAggregate records the start of the aggregation, unless it was before a restart.
func (r *run) startAggregate(completed int, tasks []*task) error {
	r.agent.mu.Lock()
	started := r.continued && r.agent.state.conversation(aggregatorID) != nil
	r.agent.mu.Unlock()
	if started {
		return nil
	}
	if text := r.changed.summary(tasks); text != "" {
		d := protocol.NoticeData{Level: protocol.LevelWarning, Message: text}
		if err := r.emit(protocol.Notice, d); err != nil {
			return err
		}
	}
	return r.emit(protocol.AggregateStarted, protocol.AggregateData{Tasks: completed})
}
