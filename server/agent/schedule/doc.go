// Package schedule runs the tasks of a plan: several concurrently, each after its dependencies.
// Users cancel and restart tasks while the plan runs.
//
// It owns the statuses of the tasks and the requests of users. It knows neither how a task is
// carried out nor the events of tasks: agents have a Solver for that.
package schedule
