// Package approval implements the panel that decides a pending approval: the card that shows the
// request, the form of options, questions, tasks and reason, and the guard that ignores keys meant
// for another place. It shows exactly what the server would run, marks the agent's text, and
// allows nothing that was not on the screen. It returns the decision and must not send it.
package approval
