// Package pipeline is an agent that is composed of other agents. Its planner divides a request into
// tasks, the user confirms or edits them, its solvers carry them out concurrently, each after its
// dependencies, and its aggregator answers from their results.
//
// It owns the stages and their events, the schedule of the tasks, their results, which are saved,
// settings and limits. It runs its agents through the interface of sessions: each has a Host and an
// Output here (inner), which move its events, requests and usage to the session of the pipeline. It
// does not know which kinds of agents there are: the registry opens them by name.
package pipeline
