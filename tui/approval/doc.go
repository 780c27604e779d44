// Package approval owns the decision about one pending approval: the panel, the forms for options,
// questions, tasks and reasons, and the guard that ignores keys typed before the request was seen.
// What it shows must be what the server runs. It returns the decision and must not send it.
package approval
