// Package approval implements the panel that decides a pending approval: the panel, its form of
// options, questions, tasks and reason, and the guard that ignores keys pressed before the request
// was visible. It shows exactly what the server would run. It returns the decision and must not
// send it.
package approval
