// Package panel says what a part and a panel of the session view are and which actions they have, and
// implements the simple ones: plan, connection, interrupt, liveness and the player of a recording. A
// part changes its own state and returns what the view should do as a [Result]; it knows neither the
// view nor the other parts.
package panel
